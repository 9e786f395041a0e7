import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SynodError } from '../client/error.ts';
import type { Call } from './context.ts';
import { keepLease } from './lock.ts';

const TTL_S = 60;
const RENEWAL_MS = 20_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A hub that answers each renewal as told, and what was asked of it. */
function scene(answer: (renewal: number) => object) {
  const asked: [string, unknown][] = [];
  const killed: unknown[] = [];
  let renewals = 0;
  const call = (async (id: string, { epoch }: { epoch: unknown }) => {
    asked.push([id, epoch]);
    return id === 'claims.take' ? answer(++renewals) : {};
  }) as unknown as Call;
  const child = { kill: (signal: unknown) => killed.push(signal) > 0 };
  const lease = keepLease({ call, remark() {} }, 'deploy', { epoch: 7 }, TTL_S, child);
  return { asked, killed, lease };
}

const granted = (epoch: number, renewed = true) => ({
  renewed,
  claim: { epoch, lease_expires_at: Date.now() / 1000 + TTL_S },
});
const refusal = (code: string): SynodError => new SynodError(code, 'no');

test('[CL18] each renewal names the tenure before it, and the last one is given back', async () => {
  const { asked, killed, lease } = scene((renewal) => granted(7 + renewal));
  await vi.advanceTimersByTimeAsync(2 * RENEWAL_MS);
  await lease.end();
  await vi.advanceTimersByTimeAsync(2 * RENEWAL_MS);
  expect(asked).toEqual([
    ['claims.take', 7],
    ['claims.take', 8],
    ['claims.release', 9],
  ]);
  expect([killed, lease.lost]).toEqual([[], null]);
});

test.each([
  ['another has it', () => Promise.reject(refusal('claim.held'))],
  ['it had run out and was taken anew', () => granted(9, false)],
])('[CL18] a lease that is lost ends the command: %s', async (_, answer) => {
  const { killed, lease } = scene(answer);
  await vi.advanceTimersByTimeAsync(4 * RENEWAL_MS);
  expect(killed).toEqual(['SIGTERM']);
  expect(lease.lost).toMatchObject({ code: 'lock.lost' });
  await lease.end();
});

test('[CL18] a hub that is away costs nothing until the lease has run out', async () => {
  const { killed, lease } = scene(() => Promise.reject(refusal('hub.unreachable')));
  await vi.advanceTimersByTimeAsync(2 * RENEWAL_MS);
  expect(killed).toEqual([]);
  await vi.advanceTimersByTimeAsync(RENEWAL_MS);
  expect(killed).toEqual(['SIGTERM']);
  await lease.end();
});
