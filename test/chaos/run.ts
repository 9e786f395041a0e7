/**
 * One run: three servers on three nodes, agents that act, faults by a seed; then everything is mended, all servers must come
 * to agree, what they hold is read back from each of them, and the history is judged.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type Chance, createChance } from '../../src/testing/chance.ts';
import type { Json } from '../e2e/running-hub.ts';
import { NAMESPACE, runActor, type Stage, type Things, thingsOf } from './actors.ts';
import { type Ask, ask } from './ask.ts';
import { check } from './check.ts';
import { drawFault, type Fault, type World } from './faults.ts';
import type { History, Reading, Told } from './history.ts';
import { type Nodes, openNodes } from './nodes.ts';
import { startDrainer, startFollower } from './readers.ts';
import { createRecorder, longestSilence, type Recorder } from './recorder.ts';
import { type ChaosServer, createServers } from './servers.ts';

/** Where runs take place. */
export interface Theatre {
  readonly nodes: Nodes;
  readonly servers: readonly ChaosServer[];
  close(): Promise<void>;
}

export interface RunOptions {
  /** Told apart from other runs on the same servers. */
  readonly name?: string;
  readonly seed: number;
  readonly seconds: number;
  readonly actors: number;
  readonly faults: readonly string[];
  /** In place of asking as it is done: to break it on purpose. */
  readonly ask?: (ask: Ask, chance: Chance) => Ask;
  /** It goes on until this is so, for a while at the most. */
  readonly isEnough?: () => boolean;
  tell(line: string): void;
}

export interface Run {
  readonly history: History;
  readonly broken: readonly string[];
  /** The longest time without an acknowledged act, in seconds. */
  readonly silenceS: number;
  /** What servers said of themselves. */
  readonly logs: Readonly<Record<string, string>>;
}

const NAMES = ['a', 'b', 'c'] as const;
const AGREE_MS = 30_000;
const SETUP_MS = 20_000;
const PAGE = 1_000;
const ENOUGH_S = 60;

export async function openTheatre(
  hasDisks: boolean,
  tell: (line: string) => void,
): Promise<Theatre> {
  const nodes = await openNodes(NAMES, hasDisks);
  const group = createServers(NAMES, nodes.storeFor, tell);
  const close = async (): Promise<void> => {
    await group.close();
    await nodes.close();
  };
  try {
    await Promise.all(group.all.map((server) => server.start()));
    return { nodes, servers: group.all, close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

export async function runChaos({ nodes, servers }: Theatre, options: RunOptions): Promise<Run> {
  const { name = '', seed, seconds, tell } = options;
  const chance = createChance(seed);
  const recorder = createRecorder(tell);
  const things = thingsOf(name);
  let isOver = false;
  const stage: Stage = {
    ...{ servers, recorder, things, ask: options.ask?.(ask, chance.fork()) ?? ask },
    pause: (ms) => wait(ms),
    get isOver() {
      return isOver;
    },
  };
  const readers = await startReaders(name, stage, chance);
  const world: World = { nodes, servers, sequencer: () => sequencerOf(servers) };
  const acting = Array.from({ length: options.actors }, (_, i) =>
    runActor(`agent-${i}${name}`, chance.fork(), stage),
  );
  await applyFaults(options, world, chance.fork(), recorder);
  while (!(options.isEnough?.() ?? true) && recorder.now() < seconds + ENOUGH_S) await wait(50);
  isOver = true;
  await Promise.all(acting);
  recorder.happened('all is mended');
  const broken: string[] = [];
  const split = await agree(servers, things);
  if (split === null) recorder.happened('all servers agree');
  else broken.push(split);
  const readings = split === null ? await readBack(servers, recorder, things) : [];
  const [first] = NAMES;
  const expected = new Map(
    readings.filter(({ server }) => server === first).map((one) => [one.channel, one.messages]),
  );
  if (split === null) for (const reader of readers) await reader.finish(expected);
  const { done, faults } = recorder;
  const history: History = { seed, faults, done, readings };
  broken.push(...check(history));
  const logs = Object.fromEntries(servers.map((one) => [one.name, one.stderr()]));
  return { history, broken, silenceS: longestSilence(done, seconds), logs };
}

/** They are owed everything, so they are there before anybody speaks. */
async function startReaders(name: string, stage: Stage, chance: Chance) {
  const [talk, more] = stage.things.channels;
  const [drainer, leaser, follower] = ['drainer', 'leaser', 'follower'].map(
    (one) => one + name,
  ) as [...[string, string, string]];
  for (const [agent, channel] of [
    [drainer, talk],
    [leaser, more],
    [follower, talk],
    ['auditor', talk],
    ['auditor', more],
  ] as const)
    await insist(stage.servers, agent, 'subscribe', { pattern: channel });
  return [
    startDrainer(drainer, talk, false, chance.fork(), stage),
    startDrainer(leaser, more, true, chance.fork(), stage),
    startFollower(follower, talk, chance.fork(), stage),
  ];
}

async function applyFaults(
  { seconds, faults }: RunOptions,
  world: World,
  chance: Chance,
  recorder: Recorder,
): Promise<void> {
  const open = new Map<string, Promise<void>>();
  const begin = async (fault: Fault, holdMs: number): Promise<void> => {
    recorder.happened(`${fault.what}, for ${(holdMs / 1000).toFixed(1)} s`);
    await fault.begin();
    await wait(holdMs);
    await fault.mend();
    open.delete(fault.whom);
  };
  while (recorder.now() < seconds && faults.length > 0) {
    await wait(chance.int(300, 2_000));
    const fault = await drawFault(chance.pick(faults), world, chance);
    if (fault === null || open.has(fault.whom)) continue;
    const holdMs = chance.isLikely(0.3) ? chance.int(3_000, 7_000) : chance.int(200, 2_500);
    const over = begin(fault, holdMs);
    open.set(fault.whom, over);
    // Now and then the next comes before this one is over.
    if (!chance.isLikely(0.25)) await over;
  }
  const leftMs = (seconds - recorder.now()) * 1000;
  if (leftMs > 0) await wait(leftMs);
  await Promise.all(open.values());
}

async function sequencerOf(servers: readonly ChaosServer[]): Promise<ChaosServer | null> {
  for (const server of servers) {
    const reply = await ask(server, 'auditor', 'status', {}, 1_000);
    const name = reply.kind === 'done' ? reply.body.cluster?.sequencer : null;
    const found = servers.find((one) => one.name === name);
    if (found !== undefined) return found;
  }
  return null;
}

/** Null when they do; else what each of them says. */
async function agree(
  servers: readonly ChaosServer[],
  { channels }: Things,
): Promise<string | null> {
  const stopAt = performance.now() + AGREE_MS;
  let last = '';
  while (performance.now() < stopAt) {
    // Something is decided, so that everybody who is behind hears of it.
    await ask(servers[0] as ChaosServer, 'auditor', 'subscribe', { pattern: channels[0] }, 15_000);
    const told = await Promise.all(
      servers.map((server) => ask(server, 'auditor', 'status', {}, 5_000)),
    );
    const marks = told.map((one) =>
      one.kind === 'done' && one.body.store_ok
        ? `${one.body.entries} ${one.body.head}`
        : JSON.stringify(one),
    );
    last = servers.map(({ name }, i) => `${name}: ${marks[i]}`).join('; ');
    if (told.every(({ kind }) => kind === 'done') && new Set(marks).size === 1) return null;
    await wait(250);
  }
  return `apart: ${AGREE_MS / 1000} s after all was mended the servers do not agree: ${last}`;
}

async function readBack(
  servers: readonly ChaosServer[],
  recorder: Recorder,
  things: Things,
): Promise<Reading[]> {
  const readings: Reading[] = [];
  for (const server of servers) {
    for (const channel of things.channels) {
      const messages: Told[] = [];
      for (let since = 1; ; ) {
        const input = { channel, since, limit: PAGE };
        const page = await insist([server], 'auditor', 'replay', input);
        for (const one of page.messages) messages.push({ text: one.body.text, seq: one.seq });
        if (!page.has_more || page.messages.length === 0) break;
        since = (messages.at(-1) as Told).seq + 1;
      }
      readings.push({ server: server.name, channel, messages });
    }
    for (const key of things.values) {
      const from = recorder.now();
      const { value, version } = await insist([server], 'auditor', 'context.get', {
        ...{ ns: NAMESPACE, key },
      });
      recorder.record('auditor', server.name, { op: 'get', key, value, version }, 'ok', from);
    }
    const { claims } = await insist([server], 'auditor', 'claims.list', {});
    for (const key of things.locks) {
      const from = recorder.now();
      const owner = claims.find((one: Json) => one.task_id === key)?.owner ?? null;
      recorder.record('auditor', server.name, { op: 'holder', key, owner }, 'ok', from);
    }
  }
  return readings;
}

/** When nothing is in the way it is done, at one of the servers. */
async function insist(
  servers: readonly ChaosServer[],
  agent: string,
  operation: string,
  input: object,
): Promise<Json> {
  let last = '';
  for (const stopAt = performance.now() + SETUP_MS; performance.now() < stopAt; ) {
    for (const server of servers) {
      const reply = await ask(server, agent, operation, input, SETUP_MS);
      if (reply.kind === 'done') return reply.body;
      last = `${server.name}: ${JSON.stringify(reply)}`;
    }
    await wait(200);
  }
  throw new Error(`${operation} by ${agent} is not done: ${last}`);
}
