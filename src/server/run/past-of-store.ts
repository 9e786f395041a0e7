/** Looking back without a hub: into a log by its URL, also beside a running hub, as its owner. */
import type { Refusal } from '../../core/law/decider.ts';
import type { Moment, PastAnswer } from '../desk/past.ts';
import { createPast } from '../record/past.ts';
import { openLog } from './open-log.ts';

const OWNER = { id: 'owner', kind: 'admin', tier: 'owner' } as const;

/** What an operation answered at a moment of the log; whoever can read the file may read all of it. */
export async function askPastOfStore(
  url: string,
  space: string,
  moment: Moment,
  asked: { readonly operation: string; readonly input: unknown },
): Promise<PastAnswer | Refusal> {
  const log = await openLog(url, { readOnly: true });
  try {
    const caller = { principal: OWNER, space, isOwner: true };
    return await createPast(log).at(
      { ...asked, caller, moment, length: log.length, now: Date.now() },
      { isCalledOff: () => false, screen: async (heads) => heads.map(() => true) },
    );
  } finally {
    await log.close();
  }
}
