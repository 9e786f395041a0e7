/**
 * One search: each part of what the caller may read is asked by itself, shard by shard from the newest,
 * and the answers are merged by position. What is in no part is never met [FT1].
 */
import type { FindPlan } from '../desk/search-port.ts';
import {
  authorWord,
  channelKey,
  channelWord,
  ftsExpression,
  OPEN_KEY,
  partyKey,
} from './fts-query.ts';
import type { Names } from './names.ts';
import type { Shard, Shards } from './shards.ts';

const TOGETHER = 64;

interface Where {
  readonly shards: Shards;
  readonly names: Names;
  isLate(): boolean;
}

/** A part, as the index asks for it. */
interface Asked {
  /** The channel whose number is the key; null under any other key. */
  readonly channel: number | null;
  readonly expression: string;
  readonly above: number;
}

/** The newest first; null when there is no more time. */
export function findIn(where: Where, plan: FindPlan): readonly number[] | null {
  const { shards, names, isLate } = where;
  const asked = partsOf(names, plan);
  const own = [...new Set(asked.flatMap(({ channel }) => channel ?? []))];
  const found: number[] = [];
  let next = Number.MAX_SAFE_INTEGER;
  for (const shard of shards.list()) {
    const isBeyond = shard.first >= plan.below;
    const isBefore = next <= plan.above + 1;
    next = shard.first;
    if (isBeyond) continue;
    if (isBefore || found.length >= plan.limit) break;
    const there = names.within(shard.id, own);
    const here: number[] = [];
    const inHere = asked.filter(({ channel }) => channel === null || there.has(channel));
    for (const part of together(inHere)) {
      if (isLate()) return null;
      here.push(...askShard(shards, shard, part, plan));
    }
    found.push(...new Set(here.sort((a, b) => b - a)));
  }
  return found.slice(0, plan.limit);
}

/** Many channels, each whole, are asked for at once: most have nothing, and asking costs more than that. */
function together(parts: readonly Asked[]): Asked[] {
  const whole = parts.filter(({ channel, above }) => channel !== null && above < 0);
  const asked = parts.filter(({ channel, above }) => channel === null || above >= 0);
  for (let i = 0; i < whole.length; i += TOGETHER) {
    const some = whole.slice(i, i + TOGETHER).map(({ expression }) => `(${expression})`);
    asked.push({ channel: null, expression: some.join(' OR '), above: -1 });
  }
  return asked;
}

function askShard(shards: Shards, shard: Shard, part: Asked, plan: FindPlan): number[] {
  const { below, limit } = plan;
  const above = Math.max(plan.above, part.above);
  return shards.find(shard, part.expression, { above, below, limit });
}

function partsOf(names: Names, { query, scope }: FindPlan): Asked[] {
  const said = wordsBy(names, query.author);
  if (said === null || isContradiction(query)) return [];
  const asked: Asked[] = [];
  const except = scope.except.flatMap((name) => {
    const channel = names.findChannel(name);
    return channel === null
      ? []
      : names.keysOf(name, channel).map((key) => ({ id: channel.id, key }));
  });
  const askAll = (key: string): void => {
    if (said.length === 0 && query.wanted.length === 0) return;
    const without = [
      ...except.filter((one) => one.key === key).map(({ id }) => id),
      ...names
        .leaving()
        .filter((one) => one.key === key)
        .map(({ channel }) => channel),
    ];
    const words = { with: said, without: without.map(channelWord) };
    asked.push({
      channel: null,
      expression: ftsExpression({ ...query, ...words }, key),
      above: -1,
    });
  };
  if (scope.hasOpen) askAll(OPEN_KEY);
  const party = scope.partyOf === null ? null : names.findAuthor(scope.partyOf);
  if (party !== null) askAll(partyKey(party));
  for (const { channel: name, after: above, author } of scope.parts) {
    const channel = names.findChannel(name);
    const only = wordsBy(names, author);
    if (channel === null || only === null) continue;
    const by = [...said, ...only];
    const { id } = channel;
    const [key = OPEN_KEY] = names.keysOf(name, channel);
    // Where the key is of this channel alone, every word says where it is; a search still needs one.
    const isOwn = key === channelKey(id);
    const words = isOwn && query.wanted.length + by.length > 0 ? by : [channelWord(id), ...by];
    const expression = ftsExpression({ ...query, with: words, without: [] }, key);
    asked.push({ channel: isOwn ? id : null, expression, above });
  }
  return asked;
}

/** What is wanted is unwanted too: nothing is that, and to look at everything for it takes long. */
function isContradiction({ wanted, unwanted }: FindPlan['query']): boolean {
  return unwanted.some(
    ({ words: [word = '', ...more], isBeginning }) =>
      more.length === 0 &&
      wanted.some((term) =>
        term.words.some((one, i) => {
          const isWhole = !term.isBeginning || i < term.words.length - 1;
          return isBeginning ? one.startsWith(word) : isWhole && one === word;
        }),
      ),
  );
}

/** Null for somebody who never said anything. */
function wordsBy(names: Names, author: string | null): string[] | null {
  if (author === null) return [];
  const number = names.findAuthor(author);
  return number === null ? null : [authorWord(number)];
}
