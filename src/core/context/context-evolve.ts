/** What the events of context do to the state, and when a namespace is looked at next. */
import { unreachable } from '../law/assert.ts';
import { makeRoom } from '../law/make-room.ts';
import type { World } from '../law/state.ts';
import { agentOf } from '../talk/agent.ts';
import type { ContextDeleted, ContextEvent, ContextWritten } from './context-events.ts';
import { EMPTY_NAMESPACES_MAX } from './context-limits.ts';
import { type ContextBook, countEntry, type Namespace } from './context-state.ts';

const KINDS: Readonly<Record<ContextEvent['type'], true>> = {
  'context.written': true,
  'context.deleted': true,
};

export function isContextEvent(event: { readonly type: string }): event is ContextEvent {
  return event.type in KINDS;
}

export function evolveContext(world: World, event: ContextEvent, position: number): void {
  switch (event.type) {
    case 'context.written':
      agentOf(world, event.by);
      return evolveWritten(world, event, position + 1);
    case 'context.deleted':
      return evolveDeleted(world.context, event, position + 1);
    default:
      return unreachable(event);
  }
}

function evolveWritten(world: World, event: ContextWritten, version: number): void {
  const { context: book } = world;
  const { ns, key, by, at, bytes, expiresAt } = event;
  const space = book.namespaces.get(ns) ?? create(book, ns, version);
  remove(book, space, key);
  const entry = { key, version, bytes, by, at, expiresAt };
  space.entries.set(key, entry);
  space.bytes += bytes;
  space.head = version;
  countEntry(book, entry, 1);
  book.empty.delete(ns);
  if (expiresAt !== null) world.deadlines.push({ at: expiresAt, kind: 'context', agent: ns });
}

function evolveDeleted(book: ContextBook, event: ContextDeleted, version: number): void {
  const space = book.namespaces.get(event.ns);
  if (space === undefined) return;
  remove(book, space, event.key);
  space.head = version;
  if (space.entries.size > 0) return;
  book.empty.set(space.name, event.by);
  const before = book.empty.size;
  makeRoom(book.empty, EMPTY_NAMESPACES_MAX, (_ns, by) => by);
  if (book.empty.size === before) return;
  for (const { name, entries, head } of book.namespaces.values()) {
    if (entries.size === 0 && !book.empty.has(name)) forgetNamespace(book, name, head);
  }
}

/** For evolve: nothing of it is found any more, at no snapshot before `through` [CX7]. */
export function forgetNamespace(book: ContextBook, ns: string, through: number): void {
  const space = book.namespaces.get(ns);
  if (space === undefined) return;
  for (const entry of space.entries.values()) countEntry(book, entry, -1);
  book.namespaces.delete(ns);
  book.empty.delete(ns);
  book.forgotten.delete(ns);
  book.forgotten.set(ns, through);
  const { oldest } = book.forgotten;
  if (book.forgotten.size <= EMPTY_NAMESPACES_MAX || oldest === undefined) return;
  book.forgottenThrough = Math.max(book.forgottenThrough, book.forgotten.get(oldest) ?? 0);
  book.forgotten.delete(oldest);
}

function create(book: ContextBook, name: string, version: number): Namespace {
  const space: Namespace = { name, entries: new Map(), from: version, head: version, bytes: 0 };
  book.namespaces.set(name, space);
  return space;
}

function remove(book: ContextBook, space: Namespace, key: string): void {
  const known = space.entries.get(key);
  if (known === undefined) return;
  // What is written again comes last: keys are listed by name, and lapse in the order they were written.
  space.entries.delete(key);
  space.bytes -= known.bytes;
  countEntry(book, known, -1);
}

/** Sees to it that a namespace is looked at when the first of its keys lapses. */
export function armContext(world: World, ns: string): void {
  let soonest: number | null = null;
  for (const { expiresAt } of world.context.namespaces.get(ns)?.entries.values() ?? []) {
    if (expiresAt !== null) soonest = Math.min(soonest ?? expiresAt, expiresAt);
  }
  if (soonest !== null) world.deadlines.push({ at: soonest, kind: 'context', agent: ns });
}
