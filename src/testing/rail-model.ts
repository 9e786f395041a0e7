/**
 * Two guard rails told a second time: a message that a chain or a pair keeps from waking an agent is
 * truly beyond the bound. Of a pair only what must be: so many messages of the two in that minute.
 */
import type { ThreadModel } from './thread-model.ts';

export interface Said {
  readonly channel: string;
  readonly by: string;
  readonly at: number;
}

interface Stilled {
  readonly agent: string;
  readonly sender: string;
  readonly position: number;
  readonly cause: string;
}

const HOPS = 6;
const PAIR_PER_MIN = 10;

/** Throws when it should have woken the agent. */
export function checkStilled(
  { agent, sender, position, cause }: Stilled,
  limits: Readonly<Record<string, number>>,
  said: ReadonlyMap<number, Said>,
  threads: ThreadModel,
): void {
  const { hops = HOPS, pair_per_min: pairs = PAIR_PER_MIN } = limits;
  const from = (said.get(position)?.at ?? 0) - 60_000;
  const isTheirs = ({ by, at }: Said): boolean => (by === agent || by === sender) && at > from;
  const isEarly =
    (cause === 'hops' && threads.hopsOf(position) < hops) ||
    (cause === 'pair' && [...said.values()].filter(isTheirs).length <= pairs);
  if (isEarly) throw new Error(`${position} wakes ${agent} not (${cause}), and is within bounds`);
}
