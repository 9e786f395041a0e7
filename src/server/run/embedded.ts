/**
 * The hub inside another program, without a door: no socket, no data directory, nothing that listens. The
 * same spaces, desk and handlers as behind every door, so that nothing is decided twice. The program that
 * opened it is its owner. A store that another process writes is refused, as `synod up` would be [G10].
 */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isRefusal, type Refusal } from '../../core/law/decider.ts';
import type { Clock } from '../../hub/clock.ts';
import { findOperation } from '../../wire/operations/table.ts';
import { type Answer, refusalAnswer } from '../desk/answer.ts';
import type { Caller } from '../desk/caller.ts';
import { type CallOptions, createDesk } from '../desk/desk.ts';
import { createFailureReport } from '../desk/failure.ts';
import { DEFAULT_SPACE } from '../desk/spaces.ts';
import { realClock } from './clock.ts';
import { hasPath } from './open-log.ts';
import { MACHINE } from './platform.ts';
import { createSchemaCheck } from './schema-check.ts';
import { openSpaces } from './spaces.ts';
import { parseStoreUrl } from './store-url.ts';
import { packageVersion } from './version.ts';

export type { Clock };

export interface EmbeddedOptions {
  /** `memory:`, `sqlite:///path` or `file:///dir`. */
  readonly store: string;
  readonly clock?: Clock;
  onTrouble(what: string, cause: unknown): void;
}

/** Who asks: an agent of the program's owner by its name, or null for the owner. */
export interface EmbeddedHub {
  call(
    agent: string | null,
    name: string,
    input: unknown,
    options?: Pick<CallOptions, 'signal' | 'traceparent'>,
  ): Promise<Answer>;
  close(): Promise<void>;
}

export async function openEmbeddedHub(options: EmbeddedOptions): Promise<EmbeddedHub> {
  const { store, clock = realClock, onTrouble } = options;
  const parsed = parseStoreUrl(store);
  const dir = hasPath(parsed) ? dirname(parsed.path) : process.cwd();
  if (hasPath(parsed)) await mkdir(dir, { recursive: true });
  const spaces = await openSpaces({
    ...{ store, dir, clock, onTrouble },
    ...{ settings: {}, typedChannels: null, named: [] },
  });
  const startedAt = performance.now();
  const parts = createDesk({
    identity: { mode: 'local', ownerCredential: null, agents: null },
    spaces,
    about: {
      ...{ version: packageVersion(), startedAt, plugins: [], heartbeatTtl: null },
      pageUrl: () => '',
    },
    nodeId: randomUUID(),
    callsPerSecond: null,
    fault: null,
    isStoreOk: () => spaces.isStoreOk(),
    report: createFailureReport(onTrouble, randomUUID),
    platform: {
      ...MACHINE,
      now: () => clock.now(),
      after: (ms, run) => void clock.after(ms, run),
      schemas: createSchemaCheck(),
    },
  });
  spaces.onOpened(parts.attend);
  const callers = new Map<string | null, Promise<Caller | Refusal>>();
  const callerOf = (agent: string | null): Promise<Caller | Refusal> => {
    const known = callers.get(agent);
    if (known !== undefined) return known;
    const coming = parts.desk.authenticate({
      ...{ token: null, agent, space: DEFAULT_SPACE, clientVersion: null },
      ...{ isOwnerSocket: true, wantsOwner: agent === null, transport: 'http' as const },
      connectionId: randomUUID(),
    });
    callers.set(agent, coming);
    return coming;
  };
  return {
    async call(agent, name, input, options) {
      const caller = await callerOf(agent);
      if (isRefusal(caller)) return refusalAnswer(caller);
      const operation = findOperation(name);
      if (operation === undefined) throw new Error(`there is no operation ${name}`);
      return parts.desk.call(caller, operation, input, options);
    },
    async close() {
      spaces.endWaits();
      await spaces.close();
    },
  };
}
