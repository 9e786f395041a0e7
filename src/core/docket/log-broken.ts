/**
 * The record of a break: the log is not what it was, found by the hub. A person is told by one item of the
 * docket [RC8]. Where the log could not be read on, the hub has gone on in a new file with all that was
 * sound, and this is the first entry behind it: it names the file that was kept.
 */
import type { Asked, Decision } from '../law/decider.ts';
import { SERVER } from '../law/principal.ts';
import type { World, WorldView } from '../law/state.ts';
import { raiseItem } from './docket.ts';
import { placeOf } from './docket-state.ts';

/** Only the hub asks for this. */
export interface RecordBreak extends Asked, Break {
  readonly type: 'break.record';
}

export interface Break {
  /** How many entries are sound, and the chain head there where it is known. */
  readonly through: number;
  readonly head: string | null;
  /** What the broken log is called now; null when it goes on as it is. */
  readonly file: string | null;
  readonly reason: string;
}

export interface LogBroken extends Break {
  readonly type: 'log.broken';
  readonly at: number;
}

/** Names the item. */
const REASON = 'the log is not what it was';

export function decideBreak(
  world: WorldView,
  { at, through, head, file, reason }: RecordBreak,
): Decision<LogBroken, null> {
  // Found again, it is the same break, and a person knows of it.
  if (world.docket.subjects.has(placeOf('alert', subjectOf(through)))) {
    return { events: [], answer: null };
  }
  return { events: [{ type: 'log.broken', at, through, head, file, reason }], answer: null };
}

export function evolveBroken(world: World, event: LogBroken): void {
  raiseItem(world, event.at, {
    ...{ kind: 'alert', agent: SERVER.id, reason: REASON, thread: null },
    ...{ text: breakText(event), subject: subjectOf(event.through) },
  });
}

/** What a person has not put away yet; null when nothing is wrong. */
export function brokenLog({ docket }: WorldView): string | null {
  for (const id of docket.agents.get(SERVER.id)?.open ?? []) {
    const item = docket.items.get(id);
    if (item?.kind === 'alert' && item.reason === REASON) return item.text;
  }
  return null;
}

export function breakText({ through, file, reason }: Break): string {
  const what = `the log of this space is sound up to position ${through}: ${reason}`;
  if (file === null)
    return `${what}. Run "synod log verify", and restore it from a copy or an export`;
  return `${what}. The hub went on from there; what came behind it is not in force (look at tokens that were revoked) and is kept in ${file}`;
}

function subjectOf(through: number): string {
  return `log:${through}`;
}
