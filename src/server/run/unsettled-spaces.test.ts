/** A space at NATS that is new: whoever stored something there is answered, also where the others cannot be told at once. */
import { expect, test, vi } from 'vitest';
import type { Hub } from '../../hub/hub.ts';
import { createUnsettledSpaces } from './unsettled-spaces.ts';

test('[SP3] what is stored is not said to have failed when the others cannot be told; they are told later', async () => {
  vi.useFakeTimers();
  try {
    const hub = { stats: { entries: 1 } } as Hub;
    const troubles: string[] = [];
    let tries = 0;
    const spaces = createUnsettledSpaces({
      find: () => hub,
      unmake: () => Promise.reject(new Error('it is not to be unmade')),
      onTrouble: (what) => void troubles.push(what),
    });
    const settle = async (): Promise<void> => {
      if (++tries < 3) throw new Error('no leader');
    };
    const leave = spaces.enter('new');
    spaces.made('new', { entries: 0, making: { settle, unmake: async () => true } });
    await leave();
    expect([tries, spaces.has('new')]).toEqual([1, true]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([tries, spaces.has('new')]).toEqual([3, false]);
    expect(troubles).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});
