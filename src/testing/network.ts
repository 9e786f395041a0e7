/**
 * Messages between places under a seed: each takes a while, so that they overtake each other, and may be lost, or
 * told again where that does no harm. Between any two places the way may be cut, and is then cut both ways.
 */
import type { Chance } from './chance.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface NetworkFaults {
  /** Probability that a message is lost. */
  loses: number;
  /** Probability that a message that may be repeated is. */
  repeats: number;
  /** A message takes up to this long. */
  slowMs: number;
}

export interface Network {
  readonly faults: NetworkFaults;
  carry(from: string, to: string, deliver: () => void, mayRepeat?: 'may repeat'): void;
  isCut(a: string, b: string): boolean;
  cut(a: string, b: string): void;
  heal(): void;
}

export const NO_NETWORK_FAULTS: Readonly<NetworkFaults> = { loses: 0, repeats: 0, slowMs: 5 };

export function createNetwork(clock: VirtualClock, chance: Chance): Network {
  const faults = { ...NO_NETWORK_FAULTS };
  const cuts = new Set<string>();
  const wayOf = (a: string, b: string): string => [a, b].sort().join(' ');
  const isCut = (a: string, b: string): boolean => a !== b && cuts.has(wayOf(a, b));

  return {
    faults,
    isCut,
    carry(from, to, deliver, mayRepeat) {
      const isRepeated = mayRepeat !== undefined && chance.isLikely(faults.repeats);
      for (let count = isRepeated ? 2 : 1; count > 0; count--) {
        if (chance.isLikely(faults.loses)) continue;
        const ms = chance.int(0, faults.slowMs);
        // What is on its way when the way is cut is lost with it.
        if (!isCut(from, to)) clock.after(ms, () => isCut(from, to) || deliver());
      }
    },
    cut: (a, b) => void cuts.add(wayOf(a, b)),
    heal() {
      Object.assign(faults, NO_NETWORK_FAULTS);
      cuts.clear();
    },
  };
}
