import { expect, test } from 'vitest';
import { isTooLate, usedMs, within } from './call-off.ts';

test('[T5] what uses up its time is called off, and once is enough', () => {
  let calls = 0;
  const begun = process.threadCpuUsage();
  const outcome = () =>
    within(50, () => {
      calls++;
      for (;;);
    });
  expect(outcome).toThrow(expect.toSatisfy(isTooLate));
  // Each time that it is begun again, it had less of the processor than it may have.
  expect(usedMs(begun)).toBeLessThan(150);
  expect(calls).toBeGreaterThan(0);
});

test('[T5] one that was kept waiting by others begins again', () => {
  const never = new Int32Array(new SharedArrayBuffer(4));
  let calls = 0;
  const answer = within(50, () => {
    calls++;
    // Waits without the processor, as a thread does whose turn does not come.
    if (calls < 3) Atomics.wait(never, 0, 0, 1_000);
    return 'answered';
  });
  expect([answer, calls]).toEqual(['answered', 3]);
});

test('[T5] on a machine that stands still it is given up in the end', () => {
  const never = new Int32Array(new SharedArrayBuffer(4));
  expect(() => within(5, () => Atomics.wait(never, 0, 0, 60_000))).toThrow(
    expect.toSatisfy(isTooLate),
  );
});
