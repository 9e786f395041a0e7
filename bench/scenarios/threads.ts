/**
 * Threads in a long log: how long one takes to be read, whatever its size, and what a stored message
 * costs in memory where nine of ten are replies. The log is written beforehand: threads of a few
 * replies, some of hundreds, one of 10,000, and a mark on one root in ten. Memory is a slope: what
 * the second half of the log adds to the first, of everything that is kept, and so also of who replied
 * to what. It is measured when the hub has nothing else to do, and once more before that, by a process of
 * its own. `--messages N` makes the log shorter.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeEvent } from '../../src/core/law/entry.ts';
import type { DurableEvent } from '../../src/core/law/world.ts';
import { openSqliteLog } from '../../src/log/sqlite.ts';
import { createChance } from '../../src/testing/chance.ts';
import type { ReadFigures } from '../load/threads.ts';
import { runLoad } from '../load.ts';
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
/** Times that the longest is read from its first page to its last. */
const LONGEST_READS = 10;
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

interface Figures {
  readonly heap: number;
  /** While the hub is busy with having begun. */
  readonly early: ReadFigures;
  readonly various: ReadFigures;
  readonly longest: ReadFigures;
}

async function measure(messages: number, length: number): Promise<Figures> {
  const dir = await createScratch();
  try {
    const talk = createTalk(messages);
    await writeLog(dir, talk, length);
    const chance = createChance(5);
    const picked = Array.from({ length: WARM_READS + READS }, () => chance.pick(talk.various));
    const server = await openServer('hub', { dir, isInspected: true });
    const { url, pid } = server;
    const job = { kind: 'threads', url, pid, messages: picked, warm: WARM_READS } as const;
    // A hub that opens a million entries for the first time walks their chain and writes its index meanwhile.
    const { various: early } = await runLoad({ ...job, whole: [] });
    await server.settled();
    // From its first page to its last, asked for by one of its messages.
    const whole = Array.from({ length: LONGEST_READS }, () => chance.pick(talk.longest));
    const { various, whole: longest } = await runLoad({ ...job, whole });
    // Last: what is made once by reading is made by both logs.
    const { heap } = await server.readMemory();
    await server.close();
    return { heap, early, various, longest };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The answer of a page that says next to nothing stands beside: of the same hub, in turns. */
function besidePing(what: string, { wall, ping }: ReadFigures, figure: 'p50' | 'p99'): Measure {
  return { what, unit: 'ms', sides: { hub: [wall[figure]], ping: [ping[figure]] } };
}

export const threads: Scenario = {
  name: 'threads',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const messages = setting.messages ?? (setting.isQuick ? 5_000 : 1_000_000);
    const half = Math.floor(messages / 2);
    const before = await measure(messages, half);
    const after = await measure(messages, messages);
    const slope = (after.heap - before.heap) / (messages - half);
    const among = `among ${messages.toLocaleString('en')} messages`;
    const ours = (one: ReadFigures) => ({ unit: 'ms', sides: { hub: [one.processor.p99] } });
    const goal = { atMost: 5 };
    return [
      besidePing(`threads.get ${among}, p50`, after.various, 'p50'),
      { ...besidePing('the same, p99', after.various, 'p99'), goal },
      { what: 'threads.get, p99 by processor time of the hub', ...ours(after.various) },
      besidePing(
        'the same, p99, of a hub that has just opened that log for the first time',
        after.early,
        'p99',
      ),
      { ...besidePing('pages of the longest thread, p99', after.longest, 'p99'), goal },
      { what: 'pages of the longest, p99 by processor time of the hub', ...ours(after.longest) },
      {
        what: 'memory per stored message with threads (heap)',
        ...{ unit: 'B', sides: { hub: [slope] }, goal: { atMost: 40 } },
      },
    ];
  },
};
