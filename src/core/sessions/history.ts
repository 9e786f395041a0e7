/**
 * Forking, rewinding and compacting: each points into a history and deletes nothing [SN5]. None of them
 * splits a call from its result [SN4]; what a rewind or a compaction took away is named by its event, and
 * can be read as long as the log is kept.
 */
import { type Decision, type Refusal, refuse } from '../law/decider.ts';
import type { WorldView } from '../law/state.ts';
import { checkCut, unfit, wholeLength } from './items.ts';
import {
  checkKey,
  checkLength,
  checkMaker,
  checkRoom,
  keyed,
  parseTtl,
  type SessionAnswer,
} from './session.ts';
import { findSession, mayReadEnded } from './session-access.ts';
import type {
  CompactSession,
  ForkSession,
  RewindSession,
  SessionCompacted,
  SessionDecided,
  SessionForked,
  SessionRewound,
} from './session-events.ts';

type Decided = Decision<SessionDecided, SessionAnswer>;

export function decideFork(world: WorldView, command: ForkSession): Decided {
  const { by, at, id: from, key } = command;
  const source = findSource(world, command);
  if ('refused' in source) return source;
  const ttlMs = parseTtl(command.ttlMs ?? source.ttlMs);
  if (typeof ttlMs !== 'number') return ttlMs;
  const refused = checkMaker(world, by) ?? checkKey(key);
  if (refused !== null) return refused;
  const known = keyed(world, by, key);
  if (known !== undefined) return knownFork(world, known, from);
  const { places } = source;
  const length = command.length ?? wholeLength(places, places.length);
  const cut =
    checkReach(places, length) ?? checkCut(places, length) ?? checkRoom(world, by, length);
  if (cut !== null) return cut;
  const id = `s${world.sessions.next}`;
  const event: SessionForked = {
    ...{ type: 'session.forked', at, by: by.id, id, key, ttlMs, from, length },
    ...(source.isOver && { places: places.slice(0, length) }),
  };
  return { events: [event], answer: { id, isNew: true } };
}

interface Source {
  readonly places: readonly number[];
  readonly ttlMs: number | null;
  readonly isOver: boolean;
}

/** Also one that is over: nothing of it was deleted, and who may read it may go on from it [SN5]. */
function findSource(world: WorldView, { by, id, places }: ForkSession): Source | Refusal {
  const ended = world.sessions.ended.get(id);
  if (ended !== undefined && places != null && mayReadEnded(ended, by)) {
    return { places, ttlMs: null, isOver: true };
  }
  const session = findSession(world, by, id, 'read');
  return 'refused' in session ? session : { ...session, isOver: false };
}

export function decideRewind(world: WorldView, command: RewindSession): Decided {
  const { by, at, id, length } = command;
  const session = findSession(world, by, id, 'work');
  if ('refused' in session) return session;
  const { places, lastCut } = session;
  const answer = { id };
  const refused = checkLength(session, command.expectedLength) ?? checkReach(places, length);
  if (refused !== null) return refused;
  if (length === places.length) return { events: [], answer };
  const split = checkCut(places, length);
  if (split !== null) return split;
  const cut = places.slice(length);
  const event: SessionRewound = {
    ...{ type: 'session.rewound', at, by: by.id, id, length, cut, previousCut: lastCut },
  };
  return { events: [event], answer };
}

export function decideCompact(world: WorldView, command: CompactSession): Decided {
  const { by, at, id, keep, summary } = command;
  const session = findSession(world, by, id, 'work');
  if ('refused' in session) return session;
  const { places, lastCut } = session;
  const refused = checkLength(session, command.expectedLength);
  if (refused !== null) return refused;
  if (summary.kind !== 'note') return unfit('summary', 'is a note');
  const count = wholeLength(places, Math.max(0, places.length - keep));
  if (count === 0) {
    return refuse(
      'input.invalid',
      `there is nothing to compact: ${id} has ${places.length} items, and keep ${keep} of them with their calls whole`,
      { violations: [{ field: 'keep', issue: 'leaves nothing to compact' }] },
    );
  }
  const event: SessionCompacted = {
    ...{ type: 'session.compacted', at, by: by.id, id, count, items: [summary] },
    ...{ cut: places.slice(0, count), previousCut: lastCut },
  };
  return { events: [event], answer: { id } };
}

function knownFork(world: WorldView, id: string, from: string): Decided {
  const isFork = world.sessions.live.get(id)?.forkedFrom?.id === from;
  if (isFork) return { events: [], answer: { id, isNew: false } };
  return unfit('key', `is the key of ${id}, which is no fork of ${from}: use another`);
}

function checkReach(places: readonly number[], length: number): Refusal | null {
  if (Number.isSafeInteger(length) && length >= 0 && length <= places.length) return null;
  return unfit('length', `is a whole number from 0 to ${places.length}, which is how long it is`);
}
