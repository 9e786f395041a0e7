/**
 * One batch, decided: each command against the state that the one before it left, and before it
 * whatever is due by its stamp, so that no command and no question meets a claim, a lease, an
 * offer or a presence that has lapsed [H10]. However much is due, a batch stays a bounded piece of
 * work: what it cannot reach is left for the next one.
 */
import { isRefusal } from '../core/law/decider.ts';
import { encodeEvent } from '../core/law/entry.ts';
import type { World } from '../core/law/state.ts';
import { decideDue, isDue } from '../core/law/tick.ts';
import {
  type DurableEvent,
  decide,
  type EphemeralEvent,
  type Event,
  evolve,
  isEphemeral,
} from '../core/law/world.ts';
import type { CommandItem, Item, QuestionItem } from './queue.ts';

/**
 * Much may fall due together, after a long sleep say, or when a message wakes a thousand agents; with
 * this many events a batch has its fill, before others have waited for long.
 */
export const DUE_EVENTS_MAX = 256;

export interface Batch {
  /** What each command is answered once the entries are stored; questions are answered after them. */
  readonly commands: readonly CommandItem[];
  readonly outcomes: readonly unknown[];
  readonly questions: readonly QuestionItem[];
  readonly events: readonly DurableEvent[];
  readonly entries: readonly string[];
  /** What happened and is kept in memory alone. */
  readonly passing: readonly EphemeralEvent[];
  /** What too much that is due stands before; nothing of it was decided. */
  readonly left: readonly Item[];
}

/** A batch in the making. The functions below stand alone and not in `decideBatch`: they are hot. */
interface Draft {
  readonly commands: CommandItem[];
  readonly outcomes: unknown[];
  readonly questions: QuestionItem[];
  readonly events: DurableEvent[];
  readonly entries: string[];
  readonly passing: EphemeralEvent[];
  left: readonly Item[];
  dueCount: number;
}

/** Changes the world; `now` is when questions are asked. */
export function decideBatch(world: World, items: readonly Item[], now: number): Batch {
  const draft: Draft = {
    ...{ commands: [], outcomes: [], questions: [], events: [], entries: [], passing: [] },
    ...{ left: [], dueCount: 0 },
  };
  for (let i = 0; i < items.length; i++) {
    if (decideItem(world, draft, items[i] as Item)) continue;
    draft.left = [...draft.questions.splice(0), ...items.slice(i)];
    return draft;
  }
  if (draft.questions.length > 0 && !settle(world, draft, now)) {
    draft.left = draft.questions.splice(0);
  }
  return draft;
}

/** False when so much is due before the command that the batch has no room for it. */
function decideItem(world: World, draft: Draft, item: Item): boolean {
  if ('question' in item) {
    draft.questions.push(item);
    return true;
  }
  if (!settle(world, draft, item.command.at)) return false;
  const decision = decide(world, item.command);
  draft.commands.push(item);
  if (isRefusal(decision)) {
    draft.outcomes.push(decision);
  } else {
    record(world, draft, decision.events);
    draft.outcomes.push(decision.answer);
  }
  return true;
}

/** False when the batch has no room for all that is due. */
function settle(world: World, draft: Draft, at: number): boolean {
  while (isDue(world, at)) {
    if (draft.dueCount >= DUE_EVENTS_MAX) return false;
    const happened = decideDue(world, at);
    draft.dueCount += happened.length;
    record(world, draft, happened);
  }
  return true;
}

function record(world: World, draft: Draft, happened: readonly Event[]): void {
  for (const event of happened) {
    evolve(world, event, world.length);
    if (isEphemeral(event)) {
      draft.passing.push(event);
      continue;
    }
    draft.events.push(event);
    draft.entries.push(encodeEvent(event));
  }
}
