/**
 * Full text search in a long log: how long a search takes, how large the index is beside the text, and what
 * it costs those who only send. The log is written beforehand, with words as often as people use
 * them; the index is the hub's own work. `--messages N` makes the log shorter.
 */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeEvent } from '../../src/core/law/entry.ts';
import { openSqliteLog } from '../../src/log/sqlite.ts';
import { createChance } from '../../src/testing/chance.ts';
import { runLoad } from '../load.ts';
import { percentiles } from '../percentiles.ts';
import { type Measure, type Scenario, takeTurns } from '../scenario.ts';
import { createScratch, openServer } from '../server.ts';

/** As a hub stores them that is busy. */
const BATCH = 50;
const CHANNELS = 20;
const AGENTS = 50;
const VOCABULARY = 30_000;
const SEARCHES = 500;
const START = 1_700_000_000_000;
const SYLLABLES = 'ka lo mi ter an pro se ru on gra ven sti co de ful ing er tion pa sta'.split(
  ' ',
);

const chance = createChance(7);
const vocabulary: readonly string[] = Array.from({ length: VOCABULARY }, (_, i) =>
  Array.from({ length: 1 + Math.ceil(Math.log10(i + 2) / 2 + chance.next()) }, () =>
    chance.pick(SYLLABLES),
  ).join(''),
);

/** By Zipf's law: the n-th word is n times as rare as the first. */
function word(): string {
  return vocabulary[Math.floor(VOCABULARY ** chance.next()) - 1] ?? 'ka';
}

function text(): string {
  return Array.from({ length: chance.int(8, 60) }, word).join(' ');
}

/** Answers with how many bytes of text there are. */
async function writeLog(path: string, messages: number): Promise<number> {
  const log = await openSqliteLog(path);
  let bytes = 0;
  const seqs = new Map<string, number>();
  for (let at = 0; at < messages; at += BATCH) {
    const entries = Array.from({ length: Math.min(BATCH, messages - at) }, (_, i) => {
      const [by, other] = [chance.int(0, AGENTS - 1), chance.int(0, AGENTS - 1)].sort(
        (a, b) => a - b,
      );
      const isDm = by !== other && chance.isLikely(0.1);
      const name = (n = 0): string => `agent${String(n).padStart(2, '0')}`;
      const channel = isDm ? `dm/${name(by)}~${name(other)}` : `channel${chance.int(1, CHANNELS)}`;
      const seq = (seqs.get(channel) ?? 0) + 1;
      seqs.set(channel, seq);
      const said = text();
      bytes += Buffer.byteLength(said);
      const body = JSON.stringify({ text: said });
      return encodeEvent({
        type: 'message.sent',
        at: START + at + i,
        by: name(by),
        channel,
        seq,
        body,
      });
    });
    await log.append(at, entries);
  }
  await log.close();
  return bytes;
}

async function ask(url: string, query: string): Promise<{ complete: boolean }> {
  const response = await fetch(`${url}/v1/ops/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-sox-agent-id': 'agent07' },
    body: JSON.stringify({ query }),
  });
  const answer = (await response.json()) as { complete: boolean };
  if (!response.ok) throw new Error(`search ${query}: ${JSON.stringify(answer)}`);
  return answer;
}

const QUERIES: readonly (() => string)[] = [
  word,
  () => `${word()} ${word()}`,
  () => `${word()} ${word()} ${word()}`,
  () => `"${word()} ${word()}"`,
  () => `${word()} -${word()}`,
  () => `${word().slice(0, 4)}* ${word()}`,
  () => `${word()} in:channel${chance.int(1, CHANNELS)}`,
  () => `${word()} from:agent${String(chance.int(0, AGENTS - 1)).padStart(2, '0')}`,
];

export const search: Scenario = {
  name: 'search',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const messages = setting.messages ?? (setting.isQuick ? 5_000 : 1_000_000);
    const dir = await createScratch();
    try {
      const path = join(dir, 'log.sqlite');
      const bytes = await writeLog(path, messages);
      const server = await openServer('hub', { dir });
      const from = performance.now();
      while (!(await ask(server.url, 'ka')).complete);
      const builtMs = performance.now() - from;
      const times: number[] = [];
      for (let i = 0; i < SEARCHES; i++) {
        const query = (QUERIES[i % QUERIES.length] as () => string)();
        const begun = performance.now();
        await ask(server.url, query);
        times.push(performance.now() - begun);
      }
      await server.close();
      const { size } = await stat(`${path}.SEARCH`);
      const { p50, p99 } = percentiles(times);
      const among = `among ${messages.toLocaleString('en')} messages`;
      return [
        { what: `search ${among}, p50`, unit: 'ms', sides: { hub: [p50] } },
        { what: 'the same, p99', unit: 'ms', sides: { hub: [p99] }, goal: { atMost: 50 } },
        {
          what: 'the index, by the text it is of',
          unit: '×',
          sides: { hub: [size / bytes] },
          goal: { atMost: 1 },
        },
        { what: 'messages indexed', unit: '/s', sides: { hub: [messages / (builtMs / 1000)] } },
      ];
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  },
};

/** The index is begun by the first search: before it there is none. */
export const searchSends: Scenario = {
  name: 'search-sends',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const { window, measureMs } = setting;
    const flood = async (isIndexed: boolean): Promise<Record<string, number>> => {
      const server = await openServer('hub');
      if (isIndexed) await ask(server.url, 'ka');
      const shape = { senders: 10, listeners: 0, window, warmMs: 500, measureMs };
      const figures = await runLoad({ kind: 'flood', url: server.url, ...shape });
      await server.close();
      return { ...figures };
    };
    const figures = await takeTurns(setting.rounds, {
      hub: () => flood(true),
      unindexed: () => flood(false),
    });
    return [
      {
        what: 'durable sends while the index follows',
        unit: '/s',
        sides: figures('sendsPerSecond'),
        goal: { against: 'unindexed', atLeast: 0.95 },
      },
    ];
  },
};
