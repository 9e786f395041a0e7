/** Context: set, read now or at a snapshot, compared, waited for. Who may is the law's [CX2]. */
import { checkContextRead, checkNames } from '../../../core/context/namespace.ts';
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import { readJson } from '../../../core/law/json.ts';
import { takePage } from '../../../core/law/page.ts';
import type { OutputOf, ParsedInputOf } from '../../../wire/operation.ts';
import type { contextGet, contextList, contextWatch } from '../../../wire/operations/context.ts';
import {
  changesBetween,
  type Look,
  lookAt,
  type Past,
  versionAt,
  versionsAt,
  writtenAt,
} from '../context-past.ts';
import {
  changeRows,
  type EntryRow,
  readRow,
  rowOf,
  toSeconds,
  VALUES_BYTES,
} from '../context-rows.ts';
import { idempotencyOf } from '../idempotency.ts';
import { checkStanding } from '../identity.ts';
import type { Handlers, Room } from '../room.ts';

type GetOutput = OutputOf<typeof contextGet>;
type ListInput = ParsedInputOf<typeof contextList>;
type ListOutput = OutputOf<typeof contextList>;
type WatchInput = ParsedInputOf<typeof contextWatch>;
type WatchOutput = OutputOf<typeof contextWatch>;

export const contextHandlers: Handlers<
  | 'context.set'
  | 'context.get'
  | 'context.delete'
  | 'context.list'
  | 'context.snapshot'
  | 'context.diff'
  | 'context.watch'
> = {
  async 'context.set'({ hub, by, platform }, input) {
    const { ns, key, value, ttl } = input;
    const answer = await hub.submit({
      ...{ type: 'context.set', by, at: hub.stamp(), ns, key, value },
      ...{ ifVersion: input.if_version ?? null, ttlMs: ttl == null ? null : ttl * 1000 },
      idempotency: idempotencyOf(platform, input),
    });
    if (isRefusal(answer)) return answer;
    return { ns, key, version: answer.version, expires_at: toSeconds(answer.expiresAt) };
  },

  async 'context.delete'({ hub, by, platform }, input) {
    const { ns, key = null, prefix = null } = input;
    const answer = await hub.submit({
      ...{ type: 'context.delete', by, at: hub.stamp(), ns, key, prefix },
      ifVersion: input.if_version ?? null,
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : { deleted: answer.deleted, more: answer.hasMore };
  },

  async 'context.get'(room, { ns, key, at }) {
    const { hub } = room;
    if (at !== undefined) await hub.reach(at - 1);
    const look = await see(room, ns, { key });
    if (isRefusal(look)) return look;
    const version = await versionAt(pastOf(room), look, key, at ?? look.now);
    if (isRefusal(version)) {
      const wish = { operation: 'context.get', input: { ns, key } };
      return orLookBack(room, version, at ?? look.now, wish);
    }
    if (version === 0) {
      return { ns, key, version, value: null, by: null, set_at: null, expires_at: null };
    }
    const event = await writtenAt(pastOf(room), version);
    return {
      ...{ ns, key, version, value: event.value ?? null, by: event.by },
      ...{ set_at: event.at / 1000, expires_at: toSeconds(event.expiresAt) },
      ...(event.dropped && { dropped: true as const }),
    } satisfies GetOutput;
  },

  'context.list': (room, input) =>
    input.ns === undefined ? listNamespaces(room, input) : listKeys(room, input.ns, input),

  async 'context.snapshot'(room, { ns }) {
    const look = ns === undefined ? null : await see(room, ns, 'all');
    if (isRefusal(look)) return look;
    if (look === null) {
      const now = await room.hub.ask(({ length }) => ({ length }));
      return isRefusal(now) ? now : { snapshot: now.length, keys: null, bytes: null };
    }
    let bytes = 0;
    for (const entry of look.entries.values()) bytes += entry.bytes;
    return { snapshot: look.now, keys: look.entries.size, bytes };
  },

  async 'context.diff'(room, { ns, from, to, prefix = '', values, after, limit }) {
    await room.hub.reach(Math.max(from, to ?? 0) - 1);
    const look = await see(room, ns, { key: null });
    if (isRefusal(look)) return look;
    const until = to ?? look.now;
    if (from > until) {
      const issue = 'is after to; ask for the other order';
      return refuse('input.invalid', `from ${issue}`, { violations: [{ field: 'from', issue }] });
    }
    const changed = await changesBetween(pastOf(room), look, from, until);
    if (isRefusal(changed)) return changed;
    const meant = changed.filter(({ key }) => key.startsWith(prefix) && key > (after ?? ''));
    return { from, to: until, ...(await changeRows(pastOf(room), meant, values, limit)) };
  },

  'context.watch': watchContext,
};

function pastOf({ hub, by }: Room): Past {
  return { hub, agent: by.id };
}

/** The namespace as it is now, if the caller may read it. */
async function see(
  { hub, by }: Room,
  ns: string,
  which: Parameters<typeof lookAt>[2],
): Promise<Look | Refusal> {
  const key = which === 'all' ? null : which.key;
  return hub.ask(
    (world) => checkNames(ns, key) ?? checkContextRead(world, by, ns) ?? lookAt(world, ns, which),
  );
}

async function listNamespaces(room: Room, input: ListInput): Promise<ListOutput | Refusal> {
  const { hub, by } = room;
  const { prefix = '', after = '', limit, at } = input;
  if (at !== undefined) {
    const issue = 'is of one namespace: say which';
    return refuse('input.invalid', `at ${issue}`, { violations: [{ field: 'at', issue }] });
  }
  return hub.ask((world) => {
    const found = [...world.context.namespaces.values()]
      .filter(({ name, entries }) => entries.size > 0 && name.startsWith(prefix) && name > after)
      .filter(({ name }) => checkContextRead(world, by, name) === null)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const { rows, next } = takePage(
      found.map(({ name, entries, bytes, head }) => ({
        ...{ ns: name, keys: entries.size, bytes, version: head },
      })),
      ({ ns }) => ns,
      { limit },
    );
    return { snapshot: world.length, entries: [], namespaces: [...rows], next };
  });
}

async function listKeys(room: Room, ns: string, input: ListInput): Promise<ListOutput | Refusal> {
  const { hub } = room;
  const { prefix = '', at, values, after = '', limit } = input;
  if (at !== undefined) await hub.reach(at - 1);
  const look = await see(room, ns, 'all');
  if (isRefusal(look)) return look;
  const snapshot = at ?? look.now;
  const past = pastOf(room);
  const versions = await versionsAt(past, look, snapshot);
  if (isRefusal(versions)) {
    const wish = { ns, prefix, values, limit, ...(after !== '' && { after }) };
    return orLookBack(room, versions, snapshot, { operation: 'context.list', input: wish });
  }
  const meant = [...versions]
    .filter(([key]) => key.startsWith(prefix) && key > after)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const entries: EntryRow[] = [];
  let left = VALUES_BYTES;
  for (const [key, version] of meant) {
    if (entries.length >= limit || left < 0) break;
    const known = look.entries.get(key);
    const row =
      !values && known?.version === version
        ? rowOf(known)
        : await readRow(past, key, version, values);
    left -= values ? row.bytes : 0;
    entries.push(row);
  }
  const next = entries.length < meant.length ? (entries.at(-1)?.key ?? null) : null;
  return { snapshot, entries, namespaces: [], next };
}

/** What changed since, or as soon as something does. A caller whose token falls meanwhile hears nothing. */
async function watchContext(room: Room, input: WatchInput): Promise<WatchOutput | Refusal> {
  const { hub, by, platform, signal } = room;
  const { ns, prefix = '', values, limit, wait_ms: waitMs = 0 } = input;
  const until = platform.elapsedMs() + waitMs;
  await hub.reach(input.since - 1);
  for (let { since } = input; ; ) {
    const leftMs = Math.ceil(until - platform.elapsedMs());
    // Looked at and listened for in one go: a change that came between would wake nobody.
    const seen = await hub.ask((world) => {
      const fallen =
        checkStanding(world, room.caller, hub.stamp()) ?? checkContextRead(world, by, ns);
      if (fallen !== null) return fallen;
      const look = lookAt(world, ns, { key: null });
      const isOver = leftMs <= 0 || signal?.aborted === true || hub.watch.isEnding;
      const mayWait = !isOver && look.head <= since && since <= look.now;
      return { look, isOver, come: mayWait ? hub.watch.context(ns, by.id, leftMs, signal) : null };
    });
    if (isRefusal(seen)) return seen;
    if (seen.come === null) {
      const { now } = seen.look;
      const changed = await changesBetween(pastOf(room), seen.look, since, now);
      if (isRefusal(changed)) return changed;
      const meant = changed.filter(({ key }) => key.startsWith(prefix));
      const page = await changeRows(pastOf(room), meant, values, limit);
      if (meant.length > 0 || seen.isOver) return { snapshot: now, ...page };
      // What changed was not meant: what is meant is as it was, and waited for from here on.
      since = now;
    } else if ((await seen.come) === null) {
      return refuse('limit.reached', 'too many callers wait already; ask without wait_ms');
    }
  }
}

/**
 * What lies too far back to be walked to is looked up as people look back: the same operation, on the
 * world as it was then. Any other refusal stands.
 */
async function orLookBack<O extends object>(
  { platform, caller, signal }: Room,
  refusal: Refusal,
  position: number,
  asked: { readonly operation: string; readonly input: object },
): Promise<O | Refusal> {
  if (refusal.refused !== 'context.too-far' || platform.past === undefined) return refusal;
  const { principal, space, isOwner } = caller;
  const who = { principal, space, isOwner };
  const then = await platform.past.at(who, { position, time: null }, asked, signal);
  return isRefusal(then) ? then : (readJson(then.text) as O);
}
