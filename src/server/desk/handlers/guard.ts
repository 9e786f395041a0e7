/** What guards of programs decided. */
import { isRefusal } from '../../../core/law/decider.ts';
import type { Handlers } from '../room.ts';

export const guardHandlers: Handlers<'guard.record'> = {
  async 'guard.record'({ hub, by }, { decisions, missed }) {
    const answer = await hub.submit({
      type: 'guard.record',
      by,
      at: hub.stamp(),
      decisions: decisions.map((one) => ({ ...one, as: one.as ?? null })),
      missed,
    });
    return isRefusal(answer) ? answer : { recorded: decisions.length };
  },
};
