/**
 * What a namespace held at a snapshot, found by walking back from now over the changes since [CX5]. A walk
 * is bounded by changes and by bytes, and whoever else asks is served between two pieces of it [CX11]; values
 * are not kept on the way, they are read for what is shown.
 */
import type { ContextEvent, ContextWritten } from '../../core/context/context-events.ts';
import { isContextEvent } from '../../core/context/context-evolve.ts';
import { CHANGES_WALKED_AT_ONCE_MAX, WALKED_BYTES_MAX } from '../../core/context/context-limits.ts';
import type { ContextEntry } from '../../core/context/context-state.ts';
import { assert } from '../../core/law/assert.ts';
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import type { WorldView } from '../../core/law/state.ts';
import type { Hub } from '../../hub/hub.ts';
import { LOOKUP_COST } from '../../hub/turns.ts';

/** Where changes are read, and who waits for its turn there. */
export interface Past {
  readonly hub: Pick<Hub, 'eventsAt' | 'turns'>;
  readonly agent: string;
}

/** A namespace as memory has it at one moment. */
export interface Look {
  readonly ns: string;
  /** The length of the log: the snapshot of this moment. */
  readonly now: number;
  readonly entries: ReadonlyMap<string, ContextEntry>;
  /** The versions of its first change and of its newest; 0: it was never written. */
  readonly from: number;
  readonly head: number;
  /** Up to here something of that name was forgotten. */
  readonly forgotten: number;
}

export interface Step {
  readonly version: number;
  readonly key: string;
  readonly was: number;
  readonly by: string;
  readonly at: number;
  readonly isDeleted: boolean;
}

/** With the entries that are meant: all, one, or none. */
export function lookAt(
  world: WorldView,
  ns: string,
  which: 'all' | { readonly key: string | null },
): Look {
  const { namespaces, forgotten, forgottenThrough } = world.context;
  const space = namespaces.get(ns);
  const one = which === 'all' || which.key === null ? undefined : space?.entries.get(which.key);
  const entries =
    which === 'all' ? new Map(space?.entries) : new Map(one === undefined ? [] : [[one.key, one]]);
  return {
    ...{ ns, now: world.length, entries },
    ...{ from: space?.from ?? 0, head: space?.head ?? 0 },
    forgotten: Math.max(forgotten.get(ns) ?? 0, forgottenThrough),
  };
}

/** Whether the snapshot is one, and what the namespace held then is not forgotten [CX7]. */
export function checkSnapshot(look: Look, at: number): Refusal | null {
  const { ns, now, from, forgotten } = look;
  if (at > now) {
    const message = `there is no snapshot ${at} yet: the newest is ${now}`;
    return refuse('record.position', message, { position: at, length: now });
  }
  const isBefore = from === 0 || at < from;
  if (at === 0 || !isBefore || at >= forgotten) return null;
  return refuse(
    'context.forgotten',
    `what ${ns} held at ${at} is forgotten: that namespace is gone, and this one is another`,
    { ns, at },
  );
}

/** The changes of a namespace that came after a snapshot, the newest first. */
export async function walkBack(past: Past, look: Look, since: number): Promise<Step[] | Refusal> {
  const flaw = checkSnapshot(look, since);
  if (flaw !== null) return flaw;
  const steps: Step[] = [];
  let version = look.head;
  let bytes = 0;
  while (version > since) {
    if (steps.length >= CHANGES_WALKED_AT_ONCE_MAX || bytes > WALKED_BYTES_MAX) {
      return tooFar(look.ns, since);
    }
    const event = await changeAt(past, version);
    const { key, was, by, at } = event;
    steps.push({ version, key, was, by, at, isDeleted: event.type === 'context.deleted' });
    bytes += bytesOf(event);
    version = event.prior;
  }
  return steps;
}

/** The version of each key at a snapshot. */
export async function versionsAt(
  past: Past,
  look: Look,
  at: number,
): Promise<Map<string, number> | Refusal> {
  const versions = new Map(Array.from(look.entries.values(), ({ key, version }) => [key, version]));
  const steps = await walkBack(past, look, at);
  if (isRefusal(steps)) return steps;
  for (const { key, was } of steps) {
    if (was === 0) versions.delete(key);
    else versions.set(key, was);
  }
  return versions;
}

/** Of one key; a key that was not deleted since is found by its own changes alone. */
export async function versionAt(
  past: Past,
  look: Look,
  key: string,
  at: number,
): Promise<number | Refusal> {
  const flaw = checkSnapshot(look, at);
  if (flaw !== null) return flaw;
  let version = look.entries.get(key)?.version ?? 0;
  for (let steps = 0, bytes = 0; version > at; steps++) {
    if (steps >= CHANGES_WALKED_AT_ONCE_MAX || bytes > WALKED_BYTES_MAX) return tooFar(look.ns, at);
    const event = await changeAt(past, version);
    bytes += bytesOf(event);
    version = event.was;
  }
  if (version > 0 || at >= look.head) return version;
  const versions = await versionsAt(past, look, at);
  return isRefusal(versions) ? versions : (versions.get(key) ?? 0);
}

export interface Changed {
  readonly key: string;
  readonly before: number;
  readonly after: number;
  /** The change that made it what it is after. */
  readonly by: string | null;
  readonly at: number | null;
}

/** What differs between two snapshots, by key. */
export async function changesBetween(
  past: Past,
  look: Look,
  from: number,
  to: number,
): Promise<Changed[] | Refusal> {
  const flaw = checkSnapshot(look, to);
  if (flaw !== null) return flaw;
  const steps = await walkBack(past, look, from);
  if (isRefusal(steps)) return steps;
  const before = new Map<string, number>();
  const after = new Map<string, Pick<Changed, 'after' | 'by' | 'at'>>();
  for (const { version, key, was, by, at, isDeleted } of steps) {
    before.set(key, was);
    if (version > to || after.has(key)) continue;
    after.set(key, { after: isDeleted ? 0 : version, by, at });
  }
  return [...after]
    .map(([key, made]) => ({ key, before: before.get(key) ?? 0, ...made }))
    .filter((one) => one.before !== one.after)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

export async function writtenAt(past: Past, version: number): Promise<ContextWritten> {
  const event = await changeAt(past, version);
  assert(event.type === 'context.written', 'a version that a key is at was written');
  return event;
}

async function changeAt({ hub, agent }: Past, version: number): Promise<ContextEvent> {
  // A log may answer at once, and then a walk alone would let nobody in.
  const turn = hub.turns.giveWay(agent);
  if (turn !== null) await turn;
  const [event] = await hub.eventsAt([version - 1]);
  assert(event !== undefined && isContextEvent(event), 'a version of context is a change of it');
  hub.turns.spend(bytesOf(event) + LOOKUP_COST);
  return event;
}

function bytesOf(event: ContextEvent): number {
  return event.type === 'context.written' ? event.bytes : 0;
}

function tooFar(ns: string, at: number): Refusal {
  const message = `${ns} changed more than ${CHANGES_WALKED_AT_ONCE_MAX} times, or too much, since ${at}: use a newer snapshot`;
  return refuse('context.too-far', message, { ns, at });
}
