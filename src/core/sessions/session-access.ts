/**
 * Who may do what with a session [SN2]: its holder works with it; who created it reads and closes it; whom
 * it was shared with reads, or appends too; people do all of it. For anybody else it is not there.
 */
import { isPerson } from '../docket/docket-commands.ts';
import { type Refusal, refuse } from '../law/decider.ts';
import type { Principal } from '../law/principal.ts';
import type { WorldView } from '../law/state.ts';
import { checkWriter } from '../law/writer.ts';
import type { EndedSession, SessionView } from './session-state.ts';

/** What is wanted of it: to work with it is everything but to close it. */
export type Deed = 'read' | 'append' | 'work' | 'close';

/** The session, if it is not over and the caller may do that. */
export function findSession(
  world: WorldView,
  by: Principal,
  id: string,
  deed: Deed,
): SessionView | Refusal {
  const session = world.sessions.live.get(id);
  if (session === undefined) {
    const ended = world.sessions.ended.get(id);
    return ended === undefined || !mayReadEnded(ended, by) ? notFound(id) : over(ended);
  }
  if (!mayRead(session, by)) return notFound(id);
  if (deed === 'read') return session;
  const denied = checkWrites(world, by, session);
  if (denied !== null) return denied;
  if (!may(session, by, deed)) {
    return refuse('access.denied', `${id} is held by ${session.holder}: ${WAYS[deed]}`, {
      session_id: id,
      holder: session.holder,
    });
  }
  if (session.parkedAt === null || isPerson(by) || deed === 'close') return session;
  return refuse(
    'session.parked',
    `${id} went round too often and waits for a person, who closes the docket item or hands it on`,
    { session_id: id, parked_at: session.parkedAt / 1000 },
  );
}

export function mayRead({ createdBy, holder, shared }: SessionView, by: Principal): boolean {
  return isPerson(by) || by.id === createdBy || by.id === holder || shared.has(by.id);
}

export function mayReadEnded({ createdBy, holder }: EndedSession, by: Principal): boolean {
  return isPerson(by) || by.id === createdBy || by.id === holder;
}

/** What a cut took away is for its creator, for people, and for who cut: a filter hides from the next holder [HO3]. */
export function mayReadCut(
  { createdBy }: { readonly createdBy: string },
  by: Principal,
  cutBy: string,
): boolean {
  return isPerson(by) || by.id === createdBy || by.id === cutBy;
}

function may({ createdBy, holder, shared }: SessionView, by: Principal, deed: Deed): boolean {
  if (isPerson(by) || by.id === holder) return true;
  if (deed === 'append') return shared.get(by.id) === 'append';
  return deed === 'close' && by.id === createdBy;
}

const WAYS: Readonly<Record<Deed, string>> = {
  read: 'it may share it',
  append: 'it may share it with sessions.share, access append',
  work: 'fork it with sessions.fork, or ask its holder for a hand-off',
  close: 'it, the creator or a person closes it',
};

/** What an untrusted agent writes reaches nobody else unreviewed [R13]: it has sessions to itself. */
function checkWrites(world: WorldView, by: Principal, session: SessionView): Refusal | null {
  const isAlone =
    by.id === session.createdBy && by.id === session.holder && session.shared.size === 0;
  if (isAlone && by.kind !== 'observer') return null;
  return checkWriter(by, world.settings);
}

function notFound(id: string): Refusal {
  return refuse(
    'session.not-found',
    `there is no session ${id.slice(0, 64)} that you may read; sessions.list shows yours`,
  );
}

function over({ id, how, endedAt, endedBy }: EndedSession): Refusal {
  const who = how === 'lapsed' ? 'nobody changed it in time' : `${endedBy} closed it`;
  return refuse(
    'session.over',
    `${id} is over, ${who}: sessions.get still reads it, sessions.fork goes on from it`,
    { session_id: id, how, ended_at: endedAt / 1000 },
  );
}
