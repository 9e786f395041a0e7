/** Sessions of an agent that is forgotten: they go back to who created them, or go with it [SN8]. */
import { settleItem } from '../docket/docket.ts';
import type { World, WorldView } from '../law/state.ts';
import { changeParties, leaveSession, subjectOf } from './session-state.ts';

/** Whether it created or holds one that is not over. */
export function hasSessions(world: WorldView, agent: string): boolean {
  const { live, byAgent } = world.sessions;
  for (const id of byAgent.get(agent) ?? []) {
    const session = live.get(id);
    if (session?.createdBy === agent || session?.holder === agent) return true;
  }
  return false;
}

/** For evolve: another of that name is given nothing of them. What was appended stays in the log. */
export function forgetHolder(world: World, agent: string, at: number, by: string): void {
  const book = world.sessions;
  for (const id of [...(book.byAgent.get(agent) ?? [])]) {
    const session = book.live.get(id);
    if (session === undefined) continue;
    const { createdBy, holder } = session;
    const heir = holder === agent ? createdBy : holder;
    if (createdBy === agent || heir === agent || !world.agents.has(heir)) {
      leaveSession(book, session);
      settleItem(world, at, 'alert', subjectOf(id), 'the agent is gone', by);
    } else {
      changeParties(book, session, () => {
        session.holder = heir;
        session.shared.delete(agent);
        // Who was asked about it is asked no more, so nobody could set it free.
        if (holder === agent) Object.assign(session, { parkedAt: null, trail: [heir] });
      });
    }
  }
  for (const [id, { createdBy, holder }] of [...book.ended]) {
    if (createdBy === agent || holder === agent) book.ended.delete(id);
  }
}
