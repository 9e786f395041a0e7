/**
 * Context: values under a namespace and a key, that agents share. A write may be bound to the version it
 * was made from, and is refused when somebody else was faster [CX1]; who may write is said by the name of
 * the namespace [CX2]; every bound is told when it is reached, with what makes room [CX3].
 */
import { type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import { readJson } from '../law/json.ts';
import { type Principal, SERVER } from '../law/principal.ts';
import { checkShare } from '../law/shares.ts';
import type { WorldView } from '../law/state.ts';
import { isSound, utf8Bytes } from '../law/text.ts';
import { checkAgentRoom } from '../talk/agent.ts';
import type {
  ContextDeleted,
  ContextWritten,
  DeleteContext,
  SetContext,
} from './context-events.ts';
import {
  BYTES_PER_NAMESPACE_MAX,
  CONTEXT_TTL_MS_MAX,
  CONTEXT_TTL_MS_MIN,
  CONTEXT_VALUE_BYTES_MAX,
  CONTEXT_VALUE_DEPTH_MAX,
  DELETED_AT_ONCE_MAX,
  KEYS_PER_NAMESPACE_MAX,
} from './context-limits.ts';
import type { ContextEntry, NamespaceView } from './context-state.ts';
import { checkContextWrite, checkNames, unfit } from './namespace.ts';

export interface SetAnswer {
  readonly version: number;
  readonly expiresAt: number | null;
}

export interface DeleteAnswer {
  readonly deleted: number;
  /** There is more under the prefix: ask again. */
  readonly hasMore: boolean;
}

export function decideSet(
  world: WorldView,
  command: SetContext,
): Decision<ContextWritten, SetAnswer> {
  const { by, at, ns, key, ttlMs } = command;
  const denied =
    checkNames(ns, key) ?? checkContextWrite(world, by, ns) ?? checkAgentRoom(world, by);
  if (denied !== null) return denied;
  const text = textOf(command.value);
  if (typeof text !== 'string') return text;
  const bytes = utf8Bytes(text);
  if (ttlMs !== null && !(ttlMs >= CONTEXT_TTL_MS_MIN && ttlMs <= CONTEXT_TTL_MS_MAX)) {
    const longest = CONTEXT_TTL_MS_MAX / 1000;
    return unfit('ttl', `is a number of seconds from ${CONTEXT_TTL_MS_MIN / 1000} to ${longest}`);
  }
  const space = world.context.namespaces.get(ns);
  const known = space?.entries.get(key);
  const full =
    checkVersion(ns, key, known, command.ifVersion) ?? checkRoom(world, space, known, by, bytes);
  if (full !== null) return full;
  const expiresAt = ttlMs === null ? null : at + ttlMs;
  const written: ContextWritten = {
    ...{ type: 'context.written', at, by: by.id, ns, key },
    // A copy: whoever asked in this process may go on changing what was handed over [CX4].
    ...{ value: readJson(text), bytes, expiresAt },
    ...{ was: known?.version ?? 0, prior: space?.head ?? 0 },
  };
  return { events: [written], answer: { version: world.length + 1, expiresAt } };
}

export function decideDelete(
  world: WorldView,
  command: DeleteContext,
): Decision<ContextDeleted, DeleteAnswer> {
  const { by, at, ns, key, prefix, ifVersion } = command;
  if ((key === null) === (prefix === null)) return unfit('key', 'or prefix is named, and not both');
  if (key === null && ifVersion !== null) return unfit('if_version', 'is of one key');
  const denied = checkNames(ns, key) ?? checkContextWrite(world, by, ns);
  if (denied !== null) return denied;
  const space = world.context.namespaces.get(ns);
  if (key !== null) {
    const known = space?.entries.get(key);
    const moved = checkVersion(ns, key, known, ifVersion);
    if (moved !== null) return moved;
    const gone = known === undefined ? [] : [{ ns, entry: known }];
    return {
      events: deletions(world, gone, by.id, at),
      answer: { deleted: gone.length, hasMore: false },
    };
  }
  const meant = [...(space?.entries.values() ?? [])].filter((one) =>
    one.key.startsWith(prefix ?? ''),
  );
  const gone = meant.slice(0, DELETED_AT_ONCE_MAX).map((entry) => ({ ns, entry }));
  return {
    events: deletions(world, gone, by.id, at),
    answer: { deleted: gone.length, hasMore: meant.length > gone.length },
  };
}

/** What of a namespace is over by `at`; so much at once [CX6]. */
export function lapsedContext(world: WorldView, ns: string, at: number): ContextDeleted[] {
  const space = world.context.namespaces.get(ns);
  const over = [...(space?.entries.values() ?? [])]
    .filter(({ expiresAt }) => expiresAt !== null && expiresAt <= at)
    .slice(0, DELETED_AT_ONCE_MAX)
    .map((entry) => ({ ns, entry }));
  return deletions(world, over, SERVER.id, at).map((one) => ({ ...one, isLapse: true }));
}

/** Everything in open namespaces that this agent wrote last: the way out after a flood. */
export function madeContext(
  world: WorldView,
  agent: string,
  by: string,
  at: number,
  max: number,
): ContextDeleted[] {
  const gone: Gone[] = [];
  if (!world.context.keysOf.has(agent)) return [];
  for (const { name: ns, entries } of world.context.namespaces.values()) {
    for (const entry of entries.values()) {
      if (gone.length >= max) break;
      if (entry.by === agent) gone.push({ ns, entry });
    }
  }
  return deletions(world, gone, by, at);
}

interface Gone {
  readonly ns: string;
  readonly entry: ContextEntry;
}

/** They must be the first events of their decision: each says the version of the one before. */
function deletions(
  world: WorldView,
  gone: readonly Gone[],
  by: string,
  at: number,
): ContextDeleted[] {
  const heads = new Map<string, number>();
  return gone.map(({ ns, entry: { key, version: was } }, i) => {
    const prior = heads.get(ns) ?? world.context.namespaces.get(ns)?.head ?? 0;
    heads.set(ns, world.length + i + 1);
    return { type: 'context.deleted', at, by, ns, key, was, prior };
  });
}

function checkVersion(
  ns: string,
  key: string,
  known: ContextEntry | undefined,
  ifVersion: number | null,
): Refusal | null {
  const version = known?.version ?? 0;
  if (ifVersion === null || ifVersion === version) return null;
  const now =
    known === undefined ? 'is not there' : `is at version ${version}, written by ${known.by}`;
  const message = `${key} of ${ns} ${now}, and you meant ${ifVersion}: read it with context.get and decide again`;
  return refuse('context.version', message, { ns, key, version, by: known?.by ?? null });
}

function checkRoom(
  world: WorldView,
  space: NamespaceView | undefined,
  known: ContextEntry | undefined,
  by: Principal,
  bytes: number,
): Refusal | null {
  const { keys, bytes: all, keysOf, bytesOf } = world.context;
  if (known === undefined && (space?.entries.size ?? 0) >= KEYS_PER_NAMESPACE_MAX) {
    return refuseFull('KEYS_PER_NAMESPACE_MAX', KEYS_PER_NAMESPACE_MAX);
  }
  const more = bytes - (known?.bytes ?? 0);
  if (more > 0 && (space?.bytes ?? 0) + more > BYTES_PER_NAMESPACE_MAX) {
    return refuseFull('BYTES_PER_NAMESPACE_MAX', BYTES_PER_NAMESPACE_MAX);
  }
  // What another wrote before is counted off there, and counts here from now on.
  const isMine = known?.by === by.id;
  const mine = { keys: keysOf.get(by.id) ?? 0, bytes: bytesOf.get(by.id) ?? 0 };
  return (
    checkShare(
      'CONTEXT_KEYS_MAX',
      by,
      keys - (known === undefined ? 0 : 1),
      mine.keys,
      isMine ? 0 : 1,
    ) ??
    checkShare(
      'CONTEXT_VOLUME_MAX',
      by,
      all - (known?.bytes ?? 0) + (isMine ? (known?.bytes ?? 0) : 0),
      mine.bytes,
      isMine ? more : bytes,
    )
  );
}

/** The value as JSON, or why it is none that is kept. */
function textOf(value: unknown): string | Refusal {
  const text = isSound(value, CONTEXT_VALUE_DEPTH_MAX) ? JSON.stringify(value) : undefined;
  if (text === undefined) {
    const issue = `is JSON, nested at most ${CONTEXT_VALUE_DEPTH_MAX} levels, with finite numbers`;
    return unfit('value', issue);
  }
  const bytes = utf8Bytes(text);
  if (bytes <= CONTEXT_VALUE_BYTES_MAX) return text;
  const issue = `has ${bytes} bytes of JSON; at most ${CONTEXT_VALUE_BYTES_MAX} are kept: store it elsewhere and say where`;
  return unfit('value', issue);
}
