/** What can be asked of the past, and which of its messages a caller may still be shown. */
import { checkContextRead } from '../../core/context/namespace.ts';
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { channelKind } from '../../core/law/name.ts';
import type { Principal } from '../../core/law/principal.ts';
import type { WorldView } from '../../core/law/state.ts';
import { channelWith } from '../../core/talk/channel.ts';
import type { MessageHead } from '../../hub/message-store.ts';
import type { Operation } from '../../wire/operation.ts';
import { findOperation } from '../../wire/operations/table.ts';
import { mayRead, mayRecall } from './handlers/message-lookup.ts';

/**
 * They read, and need more than the world and the log: the disk, an index, the hub that runs; or what
 * they show is for those who may read it now, and not for those who might then.
 */
const OF_NOW: ReadonlySet<string> = new Set([
  'claims.check',
  'context.watch',
  'hub.status',
  'hub.vitals',
  'record.at',
  'record.head',
  'record.span',
  'search.messages',
  'sessions.get',
  'sessions.list',
]);

/** The operation that is meant, if it can be asked of the past [PA3]. */
export function findPastOperation(name: string): Operation | Refusal {
  const operation = findOperation(name);
  if (operation === undefined) return notOfPast(`there is no operation ${name}`);
  const { id, hints, isStreaming, isAboutSpaces } = operation;
  if (!hints.readOnlyHint) return notOfPast(`${id} does not only read, and the past is read only`);
  const isOfNow = isStreaming || isAboutSpaces || OF_NOW.has(id);
  return isOfNow
    ? notOfPast(`${id} asks about now, and the log alone cannot answer it`)
    : operation;
}

/**
 * Whether the caller may still be shown a message: what the rules of then showed and those of now
 * withhold is withheld [PA4]. A dm or group that is gone has no rules any more, and nobody reads it.
 */
export function mayStillRead(world: WorldView, by: Principal, message: MessageHead): boolean {
  const kind = channelKind(message.channel);
  const isGone = channelWith(world, message) === undefined && (kind === 'dm' || kind === 'group');
  return !isGone && mayRead(world, by, message) && mayRecall(world, by, message);
}

/** Whether the caller may still ask this: a namespace is as open as it is now, also to who looks back [PA4]. */
export function checkStillOpen(
  world: WorldView,
  by: Principal,
  operation: string,
  input: unknown,
): Refusal | null {
  if (!operation.startsWith('context.')) return null;
  const { ns } = input as { readonly ns?: string };
  return ns === undefined
    ? notOfPast(`${operation} needs an ns there`)
    : checkContextRead(world, by, ns);
}

export function notOfPast(why: string): Refusal {
  return refuse('record.operation', `${why}; operations that read can be asked of the past`);
}
