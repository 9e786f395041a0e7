/**
 * The past of one log: an operation answered at a moment of it, and the log in slices of time. One
 * question after the other; nothing of the log is changed.
 */
import { createHash } from 'node:crypto';
import { type Refusal, refuse } from '../../core/law/decider.ts';
import type { MessageHead } from '../../hub/message-store.ts';
import type { PastLog } from '../../hub/past-hub.ts';
import type { Moment, PastAnswer, PastCaller, Span, SpanAsked } from '../desk/past.ts';
import { answerThen } from '../desk/past-answer.ts';
import { createPastTimes } from './past-times.ts';
import { createPastWorlds } from './past-worlds.ts';

export interface PastQuestion {
  readonly caller: PastCaller;
  readonly moment: Moment;
  readonly operation: string;
  readonly input: unknown;
  /** How many entries there are to look at. */
  readonly length: number;
  /** What the clock shows now: no moment is later. */
  readonly now: number;
}

export interface PastHelp {
  isCalledOff(): boolean;
  /** Which of these messages the caller may still be shown. */
  screen(heads: readonly MessageHead[]): Promise<readonly boolean[]>;
}

export interface PastOfLog {
  at(question: PastQuestion, help: PastHelp): Promise<PastAnswer | Refusal>;
  span(asked: SpanAsked, length: number): Promise<Span>;
}

export function createPast(log: PastLog): PastOfLog {
  const worlds = createPastWorlds(log);
  const times = createPastTimes(log);
  /** An opening beside the writer's learns of new entries when it reads. */
  const lookTo = async (length: number): Promise<void> => {
    await log.read(length)[Symbol.asyncIterator]().next();
  };
  return {
    async at({ caller, moment, operation, input, length, now }, { isCalledOff, screen }) {
      await lookTo(length);
      const { time } = moment;
      const position =
        moment.position ?? (time === null ? length : await times.positionAt(time, length));
      if (position > length) return beyond(position, length);
      const world = await worlds.at(position, isCalledOff);
      if (world === null) return tookTooLong();
      const at = position === 0 ? 0 : Math.max(world.at, Math.min(time ?? 0, now));
      const answer = await answerThen({ world, log, at, digest, screen }, caller, operation, input);
      return typeof answer === 'string' ? { position, at, text: answer } : answer;
    },
    async span(asked, length) {
      await lookTo(length);
      return times.span(asked, length);
    },
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function tookTooLong(): Refusal {
  return refuse(
    'record.busy',
    'replaying the log took too long; ask again: it goes on from where it came to',
  );
}

function beyond(position: number, length: number): Refusal {
  const message = `there is no position ${position}: the log has ${length} entries, so 0 to ${length} can be asked for`;
  return refuse('record.position', message, { position, length });
}
