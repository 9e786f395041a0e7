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
import { type DurableEvent, decide, type Event, evolve, isEphemeral } from '../core/law/world.ts';
import type { CommandItem, Item, QuestionItem } from './queue.ts';

/** Much may fall due together, after a long sleep say; with this many events a batch has its fill. */
export const DUE_EVENTS_MAX = 1_024;

export interface Batch {
  /** What each command is answered once the entries are stored; questions are answered after them. */
  readonly commands: readonly CommandItem[];
  readonly outcomes: readonly unknown[];
  readonly questions: readonly QuestionItem[];
  readonly events: readonly DurableEvent[];
  readonly entries: readonly string[];
  /** What too much that is due stands before; nothing of it was decided. */
  readonly left: readonly Item[];
}

/** Changes the world; `now` is when questions are asked. */
export function decideBatch(world: World, items: readonly Item[], now: number): Batch {
  const commands: CommandItem[] = [];
  const outcomes: unknown[] = [];
  const questions: QuestionItem[] = [];
  const events: DurableEvent[] = [];
  const entries: string[] = [];
  let dueCount = 0;

  function record(happened: readonly Event[]): void {
    for (const event of happened) {
      evolve(world, event, world.length);
      if (isEphemeral(event)) continue;
      events.push(event);
      entries.push(encodeEvent(event));
    }
  }

  /** False when the batch has no room for all that is due. */
  function settle(at: number): boolean {
    while (isDue(world, at)) {
      if (dueCount >= DUE_EVENTS_MAX) return false;
      const happened = decideDue(world, at);
      dueCount += happened.length;
      record(happened);
    }
    return true;
  }

  function batch(left: readonly Item[]): Batch {
    return { commands, outcomes, questions, events, entries, left };
  }

  for (const [i, item] of items.entries()) {
    if ('question' in item) {
      questions.push(item);
      continue;
    }
    if (!settle(item.command.at)) return batch([...questions.splice(0), ...items.slice(i)]);
    const decision = decide(world, item.command);
    if (!isRefusal(decision)) record(decision.events);
    commands.push(item);
    outcomes.push(isRefusal(decision) ? decision : decision.answer);
  }
  return batch(questions.length > 0 && !settle(now) ? questions.splice(0) : []);
}
