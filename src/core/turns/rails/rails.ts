/**
 * The guard rails' memory: of a space its chains, pairs, vendors that would not serve, and what tasks
 * cost; of an agent its diary and triggers. Each is told by events alone, so all of it survives
 * a restart.
 */
import { type Codec, fieldsOf, fifoOf, listOf, mapOf, whole } from '../../law/fields.ts';
import { FifoMap } from '../../law/fifo-map.ts';
import { TASKS_KEPT } from './bounds.ts';
import { type Chain, type ChainBook, createChains, type Thread } from './chains.ts';
import { type Cost, createDiary, type Diary, type TurnSpan } from './diary.ts';
import type { Pair, PairBook } from './pairs.ts';
import type { TriggerBook } from './triggers.ts';

export interface RailBook {
  readonly chains: ChainBook;
  readonly pairs: PairBook;
  /** Until when the agents of each kind of runner wait for its vendor. */
  readonly quotas: Map<string, Quota>;
  readonly tasks: FifoMap<string, Cost>;
}

export interface Quota {
  readonly kind: 'exhausted' | 'overloaded';
  readonly until: number;
}

/** What is remembered of one managed agent. */
export interface AgentRails {
  readonly diary: Diary;
  readonly triggers: TriggerBook;
}

export function createRails(): RailBook {
  return { chains: createChains(), pairs: new FifoMap(), quotas: new Map(), tasks: new FifoMap() };
}

export function createAgentRails(): AgentRails {
  return {
    diary: createDiary(),
    triggers: { overMessage: new FifoMap(), overThread: new FifoMap(), fruitless: new FifoMap() },
  };
}

/** What a turn cost counts for every task that its agent held. */
export function chargeTasks({ tasks }: RailBook, ids: Iterable<string>, cost: Cost): void {
  if (cost.usd === 0 && cost.tokens === 0) return;
  for (const id of ids) {
    const known = tasks.get(id) ?? { usd: 0, tokens: 0 };
    if (!tasks.has(id) && tasks.size >= TASKS_KEPT && tasks.oldest !== undefined) {
      tasks.delete(tasks.oldest);
    }
    tasks.set(id, { usd: known.usd + cost.usd, tokens: known.tokens + cost.tokens });
  }
}

const CHAINS = fieldsOf<ChainBook>()({
  chains: fifoOf<number, Chain>(),
  threads: fifoOf<number, Thread>(),
});

export const RAILS: Codec<RailBook> = whole(
  fieldsOf<RailBook>()({
    chains: whole(CHAINS),
    pairs: fifoOf<string, Pair>(),
    quotas: mapOf<string, Quota>(),
    tasks: fifoOf<string, Cost>(),
  }),
);

const DIARY = fieldsOf<Diary>()({
  spans: listOf<TurnSpan>(),
  outputs: 'stored',
  waitedUntil: 'stored',
});

const TRIGGERS = fieldsOf<TriggerBook>()({
  overMessage: fifoOf<number, number>(),
  overThread: fifoOf<number, readonly number[]>(),
  fruitless: fifoOf<string, { readonly count: number; readonly at: number }>(),
});

export const AGENT_RAILS: Codec<AgentRails> = whole(
  fieldsOf<AgentRails>()({ diary: whole(DIARY), triggers: whole(TRIGGERS) }),
);
