/**
 * Threads in a long log: how long one takes to be read, whatever its size, and what a stored message
 * costs in memory where nine of ten are replies. The log is written beforehand: threads of a few
 * replies, some of hundreds, one of 10,000, and a mark on one root in ten. Memory is a slope: what
 * the second half of the log adds to the first, of everything that is kept, and so also of who replied
 * to what. It is measured when the hub has nothing else to do, and once more before that. `--messages N`
 * makes the log shorter.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeEvent } from '../../src/core/law/entry.ts';
import type { DurableEvent } from '../../src/core/law/world.ts';
import { openSqliteLog } from '../../src/log/sqlite.ts';
import { createChance } from '../../src/testing/chance.ts';
import { percentiles } from '../percentiles.ts';
import type { Measure, Scenario } from '../scenario.ts';
import { createScratch, openServer } from '../server.ts';

/** As a hub stores them that is busy. */
const BATCH = 50;
const CHANNELS = 20;
const AGENTS = 50;
/** Threads of a channel that are talked in side by side. */
const OPEN_MAX = 50;
const LONGEST = 10_000;
const WARM_READS = 200;
const READS = 2_000;
const START = 1_700_000_000_000;
const TEXT = 'A reply as agents write it: src/core/law/world.ts has a reason. '.repeat(6);

interface Thread {
  readonly channel: string;
  readonly root: number;
  left: number;
}

interface Talk {
  readonly events: Iterator<DurableEvent, never>;
  /** Positions of messages in threads of every size. */
  readonly various: readonly number[];
  /** The same in the longest. */
  readonly longest: readonly number[];
}

function createTalk(messages: number): Talk {
  const chance = createChance(11);
  const various: number[] = [];
  const longest: number[] = [];
  const size = Math.min(LONGEST, Math.floor(messages / 4));
  return { events: talk(), various, longest };

  function* talk(): Generator<DurableEvent, never> {
    const seqs = new Map<string, number>();
    const open = new Map<string, Thread[]>();
    let long: Thread | null = null;
    for (let position = 0; ; position++) {
      const isLong: boolean =
        long !== null && long.left > 0 && chance.isLikely((2 * size) / messages);
      const channel: string = isLong && long !== null ? long.channel : aChannel();
      const here = open.get(channel) ?? [];
      open.set(channel, here);
      const isReply = here.length > 0 && (here.length >= OPEN_MAX || chance.isLikely(0.9));
      const thread: Thread | null = isLong ? long : isReply ? chance.pick(here) : null;
      const seq = (seqs.get(channel) ?? 0) + 1;
      seqs.set(channel, seq);
      const by = `agent${chance.int(0, AGENTS - 1)}`;
      const said = { at: START + position, by, as: 'agent/trusted', channel, seq } as const;
      yield {
        ...{ type: 'message.sent', ...said },
        body: JSON.stringify({ text: TEXT.slice(0, chance.int(20, TEXT.length)) }),
        ...(thread !== null && { replyTo: thread.root, root: thread.root }),
      };
      (thread !== null && thread === long ? longest : various).push(position);
      if (thread !== null) {
        if (--thread.left === 0 && thread !== long) here.splice(here.indexOf(thread), 1);
        continue;
      }
      const root = position;
      const left = chance.isLikely(0.02) ? chance.int(50, 500) : chance.int(1, 20);
      if (long === null) long = { channel, root, left: size };
      else here.push({ channel, root, left });
      if (!chance.isLikely(0.1)) continue;
      position++;
      const about = { mark: 'resolve', note: null, version: 1, previous: null } as const;
      yield { type: 'thread.marked', ...said, position: root, ...about };
    }
  }

  function aChannel(): string {
    return `channel${chance.int(1, CHANNELS)}`;
  }
}

/** A log of the first `length` entries of the talk, in a directory of its own. */
async function writeLog(dir: string, { events }: Talk, length: number): Promise<void> {
  const log = await openSqliteLog(join(dir, 'log.sqlite'));
  for (let at = 0; at < length; at += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, length - at) }, () => events.next().value);
    await log.append(at, batch.map(encodeEvent));
  }
  await log.close();
}

interface Page {
  readonly next: string | null;
  readonly thread: { readonly reply_count: number };
}

async function ask(url: string, position: number, after?: string | null): Promise<Page> {
  const response = await fetch(`${url}/v1/ops/threads.get`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-sox-agent-id': 'agent7' },
    body: JSON.stringify({ message_id: `m${position}`, ...(after != null && { after }) }),
  });
  const answer = (await response.json()) as Page;
  if (!response.ok) throw new Error(`threads.get m${position}: ${JSON.stringify(answer)}`);
  return answer;
}

/** Reads of any message's thread, a page of a hundred. */
async function readVarious(url: string, positions: readonly number[]): Promise<number[]> {
  const chance = createChance(5);
  const times: number[] = [];
  for (let i = 0; i < WARM_READS + READS; i++) {
    const begun = performance.now();
    await ask(url, chance.pick(positions));
    if (i >= WARM_READS) times.push(performance.now() - begun);
  }
  return times;
}

/** The longest, asked for by one of its messages, from its first page to its last, twice. */
async function readLongest(url: string, positions: readonly number[]): Promise<number[]> {
  const times: number[] = [];
  for (const position of [positions[0] ?? 0, positions.at(-1) ?? 0]) {
    let next: string | null = null;
    do {
      const begun = performance.now();
      ({ next } = await ask(url, position, next));
      times.push(performance.now() - begun);
    } while (next !== null);
  }
  return times;
}

interface Figures {
  readonly heap: number;
  /** While the hub is busy with having begun. */
  readonly early: number[];
  readonly various: number[];
  readonly longest: number[];
}

async function measure(messages: number, length: number): Promise<Figures> {
  const dir = await createScratch();
  try {
    const talk = createTalk(messages);
    await writeLog(dir, talk, length);
    const server = await openServer('hub', { dir, isInspected: true });
    // A hub that opens a million entries for the first time walks their chain and writes its index meanwhile.
    const early = await readVarious(server.url, talk.various);
    await server.settled();
    const various = await readVarious(server.url, talk.various);
    const longest = await readLongest(server.url, talk.longest);
    // Last: what is made once by reading is made by both logs.
    const { heap } = await server.readMemory();
    await server.close();
    return { heap, early, various, longest };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

export const threads: Scenario = {
  name: 'threads',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const messages = setting.messages ?? (setting.isQuick ? 5_000 : 1_000_000);
    const half = Math.floor(messages / 2);
    const before = await measure(messages, half);
    const after = await measure(messages, messages);
    const { p50, p99 } = percentiles(after.various);
    const longest = percentiles(after.longest).p99;
    const slope = (after.heap - before.heap) / (messages - half);
    const among = `among ${messages.toLocaleString('en')} messages`;
    const goal = { atMost: 5 };
    return [
      { what: `threads.get ${among}, p50`, unit: 'ms', sides: { hub: [p50] } },
      { what: 'the same, p99', unit: 'ms', sides: { hub: [p99] }, goal },
      {
        what: 'the same, p99, of a hub that has just opened that log for the first time',
        ...{ unit: 'ms', sides: { hub: [percentiles(after.early).p99] } },
      },
      { what: 'pages of the longest thread, p99', unit: 'ms', sides: { hub: [longest] }, goal },
      {
        what: 'memory per stored message with threads (heap)',
        ...{ unit: 'B', sides: { hub: [slope] }, goal: { atMost: 40 } },
      },
    ];
  },
};
