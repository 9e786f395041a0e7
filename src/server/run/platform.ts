/** The machine the hub runs on, as the desk sees it. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { placeScope } from '../../place/claim-scope.ts';
import type { Platform } from '../desk/platform.ts';
import { passkeyCheck } from './passkey.ts';
import { checkPassphrase, sealPassphrase } from './passphrase.ts';
import { createSchemaCheck } from './schema-check.ts';
import type { HubTurns } from './turns.ts';

/** What every desk needs of the machine, whoever listens. */
export const MACHINE: Omit<Platform, 'schemas'> = {
  now: Date.now,
  elapsedMs: () => performance.now(),
  after: (ms, run) => void setTimeout(run, ms).unref(),
  newId: randomUUID,
  newSecret: () => randomBytes(32).toString('base64url'),
  digest: (text) => createHash('sha256').update(text).digest('hex'),
  sealPassphrase,
  checkPassphrase,
  placeScope,
  passkeys: passkeyCheck,
};

/** Turns need the desk, and the desk the platform: they are asked for when they are needed. */
export function createPlatform(
  turnsOf: () => HubTurns,
  windows: Pick<Platform, 'vitals' | 'past' | 'record' | 'search' | 'phone' | 'cluster'>,
): Platform {
  return {
    ...MACHINE,
    ...windows,
    checkRunner: (choice) => turnsOf().check(choice),
    turns: {
      tail: (...of) => turnsOf().window.tail(...of),
      follow: (listener) => turnsOf().window.follow(listener),
    },
    schemas: createSchemaCheck(),
  };
}
