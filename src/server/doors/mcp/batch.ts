/**
 * The calls of one batch, which has one answer: no part of it leaves before all are done. When what they were
 * answered is much together, who only reads is refused and whoever waits stops waiting, as if the caller had left:
 * nothing is taken out of an inbox for an answer that has no room [SV9].
 */
import { refuse } from '../../../core/law/decider.ts';
import type { Operation } from '../../../wire/operation.ts';
import { type Answer, refusalAnswer } from '../../desk/answer.ts';
import { outputText } from '../../desk/output-text.ts';

/** Of answers as text; each goes out twice, as structure as well [MC4]. */
const BATCH_CHARS_MAX: number = 8 * 1024 * 1024;

export interface Batch {
  /** The answer, or that there is no room for it. */
  call(
    operation: Operation,
    signal: AbortSignal,
    carryOut: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer>;
}

const FULL = refuse(
  'limit.reached',
  'the answers to this batch are very long together; ask for this one again, by itself',
  { limit: 'BATCH_CHARS_MAX' },
);

export function createBatch(): Batch {
  const full = new AbortController();
  let chars = 0;
  return {
    async call({ hints }, signal, carryOut) {
      const answer = await carryOut(AbortSignal.any([signal, full.signal]));
      if (!('ok' in answer)) return answer;
      if (full.signal.aborted && hints.readOnlyHint) return refusalAnswer(FULL);
      chars += outputText(answer.ok).length;
      if (chars > BATCH_CHARS_MAX) full.abort();
      return answer;
    },
  };
}
