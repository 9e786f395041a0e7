/**
 * One search: each part of what the caller may read is asked by itself, shard by shard from the newest,
 * and the answers are merged by position. What is in no part is never met [FT1].
 */
import type { FindPlan } from '../desk/search-port.ts';
import { authorWord, channelWord, ftsExpression } from './fts-query.ts';
import type { ChannelNumber, Names } from './names.ts';
import type { Shard, Shards } from './shards.ts';

const TOGETHER = 64;

interface Where {
  readonly shards: Shards;
  readonly names: Names;
  isLate(): boolean;
}

/** A part, as the index asks for it. */
interface Asked {
  /** The channel whose words are meant; null for open channels. */
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
  if (said === null) return [];
  const except = new Set(scope.except);
  const asked: Asked[] = [];
  const askOne = ({ id, isOpen }: ChannelNumber, by: readonly string[], above: number): void => {
    // In a private channel every word says where it is; a search without words still needs one.
    const isNeeded = isOpen || (query.wanted.length === 0 && by.length === 0);
    const words = isNeeded ? [channelWord(id), ...by] : by;
    const channel = isOpen ? null : id;
    const expression = ftsExpression({ ...query, with: words, without: [] }, channel);
    asked.push({ channel, expression, above });
  };
  if (scope.hasOpen && (said.length > 0 || query.wanted.length > 0)) {
    const without = [...except].flatMap((name) => names.findChannel(name) ?? []);
    const numbers = [
      ...without.filter(({ isOpen }) => isOpen).map(({ id }) => id),
      ...names.leaving(),
    ];
    const all = { ...query, with: said, without: numbers.map(channelWord) };
    asked.push({ channel: null, expression: ftsExpression(all, null), above: -1 });
  }
  if (scope.partyOf !== null) {
    for (const { id, name } of names.dmsOf(scope.partyOf)) {
      if (!except.has(name)) askOne({ id, isOpen: false }, said, -1);
    }
  }
  for (const { channel: name, after, author } of scope.parts) {
    const channel = names.findChannel(name);
    const only = wordsBy(names, author);
    if (channel !== null && only !== null) askOne(channel, [...said, ...only], after);
  }
  return asked;
}

/** Null for somebody who never said anything. */
function wordsBy(names: Names, author: string | null): string[] | null {
  if (author === null) return [];
  const number = names.findAuthor(author);
  return number === null ? null : [authorWord(number)];
}
