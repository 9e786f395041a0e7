import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runAttempt } from './attempt.ts';
import { DefinitionError, RetryLaterError, StepTimeoutError } from './errors.ts';
import { toJson } from './plain-json.ts';
import { checkRetry, nextDelayMs } from './retry.ts';
import { TerminalError } from './terminal-error.ts';
import { createVirtualTime } from './virtual-time.ts';

const policy = (more = {}) => checkRetry('x', { attempts: 10, delayMs: 100, jitter: 0, ...more });
const boom = new Error('boom');

test('[FW11] delays grow by the factor up to the limit, and the last attempt is the last', () => {
  const full = policy({ attempts: 6, limitMs: 1_000 });
  const delays = [1, 2, 3, 4, 5, 6].map((attempt) => nextDelayMs(full, attempt, boom, 0, 0));
  expect(delays).toEqual([100, 200, 400, 800, 1_000, null]);
});

test('[FW11] chance only ever shortens a delay, and by no more than the jitter', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(share, share, fc.integer({ min: 1, max: 9 }), (jitter, chance, attempt) => {
      const whole = nextDelayMs(policy(), attempt, boom, 0, 0) ?? 0;
      const spread = nextDelayMs(policy({ jitter }), attempt, boom, 0, chance) ?? 0;
      expect(spread).toBeLessThanOrEqual(Math.ceil(whole));
      expect(spread).toBeGreaterThanOrEqual(Math.floor(whole * (1 - jitter)));
    }),
  );
});

test('[FW11] a terminal error and one the filter turns down are not tried again', () => {
  expect(nextDelayMs(policy(), 1, new TerminalError('no'), 0, 0)).toBeNull();
  const picky = policy({ when: (error: Error) => error.message === 'busy' });
  expect(nextDelayMs(picky, 1, boom, 0, 0)).toBeNull();
  expect(nextDelayMs(picky, 1, new Error('busy'), 0, 0)).toBe(100);
});

test('[FW11] a filter that throws says nothing about the error', () => {
  const broken = policy({
    when: () => {
      throw new Error('the filter');
    },
  });
  expect(nextDelayMs(broken, 1, boom, 0, 0)).toBe(100);
});

test('[FW11] an error may ask for more time, and none begins after the deadline', () => {
  expect(nextDelayMs(policy(), 1, new RetryLaterError('busy', 5_000), 0, 0)).toBe(5_000);
  expect(nextDelayMs(policy({ deadlineMs: 1_000 }), 1, boom, 950, 0)).toBeNull();
  expect(nextDelayMs(policy({ deadlineMs: 1_000 }), 1, boom, 900, 0)).toBe(100);
});

test('[FW11] a policy that cannot be is refused by field', () => {
  for (const [field, value] of Object.entries({
    ...{ attempts: 0, delayMs: -1, factor: 0.5, jitter: 2, limitMs: Number.NaN, deadlineMs: -1 },
  })) {
    expect(() => checkRetry('ship', { [field]: value })).toThrow(
      `ship: retry.${field} is ${value}`,
    );
  }
});

test('[FW11] an attempt that takes too long is over, its signal aborted, and its late end is told', async () => {
  const clock = createVirtualTime();
  const late: unknown[] = [];
  const finish = Promise.withResolvers<number>();
  let signal: AbortSignal | undefined;
  const attempt = runAttempt<number>({
    ...{ clock, limits: { timeoutMs: 1_000 }, signal: new AbortController().signal },
    run(given) {
      signal = given;
      return finish.promise;
    },
    onLate: (outcome) => late.push(outcome),
  });
  const ended = expect(attempt).rejects.toThrow('it took longer than 1000 ms');
  await clock.pass(1_000);
  await ended;
  expect(signal?.reason).toBeInstanceOf(StepTimeoutError);
  finish.resolve(7);
  await clock.pass(0);
  expect(late).toEqual([{ value: 7 }]);
});

test('[FW11] heartbeats keep an attempt alive, and silence ends it', async () => {
  const clock = createVirtualTime();
  let beat = (): void => {};
  const attempt = runAttempt<void>({
    ...{ clock, limits: { heartbeatMs: 100 }, signal: new AbortController().signal },
    run(_, heartbeat) {
      beat = heartbeat;
      return new Promise(() => {});
    },
  });
  const ended = expect(attempt).rejects.toThrow('no heartbeat for 100 ms');
  for (let i = 0; i < 5; i++) {
    await clock.pass(90);
    beat();
  }
  await clock.pass(100);
  await ended;
});

test('[FW3] what JSON cannot say is refused with where it stands', () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const bad: [unknown, string][] = [
    [() => {}, 'x is a function'],
    [{ a: [1, { b: new Date(0) }] }, 'x at .a[1].b is of the class Date'],
    [{ n: Number.NaN }, 'x at .n is NaN'],
    [{ n: 1n }, 'x at .n is a bigint'],
    [new Map(), 'x is of the class Map'],
    [[undefined], 'x at [0] is a undefined'],
    [cycle, 'x at .self is a part of itself'],
  ];
  for (const [value, message] of bad) expect(() => toJson(value, 'x')).toThrow(message);
});

test('[FW3] what is kept is what comes back, and a result over 1 MiB is refused', () => {
  expect(toJson(undefined, 'x')).toBeNull();
  expect(toJson({ a: 1, b: undefined }, 'x')).toStrictEqual({ a: 1 });
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const kept = toJson(value, 'x');
      expect(JSON.parse(JSON.stringify(kept))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
  const code = (run: () => unknown): unknown => {
    try {
      return run();
    } catch (error) {
      return error instanceof DefinitionError ? error.code : error;
    }
  };
  expect(code(() => toJson('é'.repeat(600_000), 'x'))).toBe('workflow.result-too-large');
  expect(code(() => toJson('e'.repeat(1_000_000), 'x'))).toHaveLength(1_000_000);
});
