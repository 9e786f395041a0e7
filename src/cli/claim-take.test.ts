import { expect, test } from 'vitest';
import { envelopeError } from '../client/error.ts';
import { takeClaim } from './claim-take.ts';

const held = envelopeError(
  { error_code: 'validation_error', message: 'not free', detail: { reason: 'claim.held' } },
  null,
  '',
);

test('[CL10] a signal is listened for before the queue is joined, and no longer after it', async () => {
  const before = process.listenerCount('SIGINT');
  const listening: number[] = [];
  const note = () => listening.push(process.listenerCount('SIGINT') - before);
  const answers = [
    () => Promise.reject(held),
    async () => {
      // A call leaves the process a turn later: a signal may arrive from then on.
      await Promise.resolve();
      note();
      return { wait: 1, ahead: 0 };
    },
    async () => ({ claim: {} }),
  ];
  const call = () => answers.shift()?.();
  await takeClaim({ call: call as never, remark: note }, { task_id: 'T' }, 60_000);
  expect(listening).toEqual([1, 1, 1]);
  expect(process.listenerCount('SIGINT')).toBe(before);
});
