/** The machine the hub runs on, as the desk sees it. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { placeScope } from '../../place/claim-scope.ts';
import type { Platform } from '../desk/platform.ts';
import { checkPassphrase, sealPassphrase } from './passphrase.ts';
import { createSchemaCheck } from './schema-check.ts';

export function createPlatform(): Platform {
  return {
    now: Date.now,
    elapsedMs: () => performance.now(),
    after: (ms, run) => void setTimeout(run, ms).unref(),
    newId: randomUUID,
    newSecret: () => randomBytes(32).toString('base64url'),
    digest: (text) => createHash('sha256').update(text).digest('hex'),
    sealPassphrase,
    checkPassphrase,
    placeScope,
    schemas: createSchemaCheck(),
  };
}
