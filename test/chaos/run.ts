/**
 * One run: three servers on three nodes, agents that act, faults by a seed; then everything is mended, all servers must come
 * to agree, what they hold is read back from each of them, and the history is judged.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type Chance, createChance } from '../../src/testing/chance.ts';
import type { Json } from '../e2e/running-hub.ts';
import { runActor } from './actors.ts';
import { type Ask, askIn, OWNER } from './ask.ts';
import { check } from './check.ts';
import { drawFault, type Fault, upgrade, type World } from './faults.ts';
import type { Done, History, Reading, Told } from './history.ts';
import { type Nodes, openNodes } from './nodes.ts';
import { type Reader, startDrainer, startFollower } from './readers.ts';
import { createRecorder, longestSilence, type Recorder } from './recorder.ts';
import { auditRuns, startExecutor } from './run-acts.ts';
import { type ChaosServer, createServers } from './servers.ts';
import { NAMESPACE, type Stage, thingsOf } from './stage.ts';
import { startSupervisor, WORKER_LIMITS } from './turn-acts.ts';

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
  /** So many; each has actors and readers of its own. */
  readonly spaces?: number;
  /** The first of them: runs side by side have spaces of their own. */
  readonly space?: string;
  /** For how long who takes something has it. */
  readonly leaseMs?: number;
  /** In place of asking as it is done: to break it on purpose. */
  readonly ask?: (ask: Ask, chance: Chance) => Ask;
  /** It goes on until this is so, for a while at the most. */
  readonly isEnough?: (done: readonly Done[]) => boolean;
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
/** What ended longest ago is forgotten by the law. */
const GATES_READ = 30;
const LEASE_MS = 3_000;
const UPGRADE_MS = 1_000;

export async function openTheatre(
  hasDisks: boolean,
  tell: (line: string) => void,
  /** What servers run until they are upgraded; else what is tested. */
  oldBin?: string,
): Promise<Theatre> {
  const nodes = await openNodes(NAMES, hasDisks);
  const group = createServers(NAMES, nodes.storeFor, tell, oldBin);
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
  const { name = '', seed, seconds, tell, space: first = 'default' } = options;
  const chance = createChance(seed);
  const recorder = createRecorder(tell);
  let isOver = false;
  const stages = Array.from({ length: options.spaces ?? 1 }, (_, i): Stage => {
    const space = i === 0 ? first : `space-${i}`;
    const asked = askIn(space);
    return {
      ...{
        servers,
        recorder,
        space,
        leaseMs: options.leaseMs ?? LEASE_MS,
        gates: [],
        runs: [],
        things: thingsOf(i === 0 ? name : `${name}-s${i}`),
      },
      ask: options.ask?.(asked, chance.fork()) ?? asked,
      pause: (ms) => wait(ms),
      get isOver() {
        return isOver;
      },
    };
  });
  const casts: (readonly Reader[])[] = [];
  for (const stage of stages) casts.push(await startReaders(stage, chance));
  const sequencer = (): Promise<ChaosServer | null> =>
    sequencerOf(servers, chance.pick(stages).space);
  const acting = Array.from({ length: options.actors }, (_, i) =>
    runActor(`agent-${i}${name}`, chance.fork(), stages[i % stages.length] as Stage),
  );
  // From now on: on a busy machine it takes longer to set the stage than many a run lasts.
  const endAt = recorder.now() + seconds;
  await applyFaults(options.faults, endAt, { nodes, servers, sequencer }, chance.fork(), recorder);
  const isEnough = (): boolean => options.isEnough?.(recorder.done) ?? true;
  while (!isEnough() && recorder.now() < endAt + ENOUGH_S) await wait(50);
  isOver = true;
  await Promise.all(acting);
  recorder.happened('all is mended');
  const ends = await Promise.all(stages.map((stage, i) => finish(stage, casts[i] ?? [])));
  recorder.happened('all is read');
  const { done, faults } = recorder;
  const readings = ends.flatMap((end) => ('readings' in end ? end.readings : []));
  const splits = ends.flatMap((end) => ('split' in end ? [end.split] : []));
  const history: History = { seed, faults, done, readings };
  const broken = [...splits, ...check(history)];
  const logs = Object.fromEntries(servers.map((one) => [one.name, one.stderr()]));
  return { history, broken, silenceS: longestSilence(done, endAt), logs };
}

/** What all servers hold of a space, when they agree on it and its readers have it all. */
async function finish(
  stage: Stage,
  readers: readonly Reader[],
): Promise<{ readonly split: string } | { readonly readings: readonly Reading[] }> {
  const split = await agree(stage);
  if (split !== null) return { split };
  stage.recorder.happened(`all servers agree on ${stage.space}`);
  const readings = await readBack(stage);
  const expected = new Map(
    readings.filter(({ server }) => server === NAMES[0]).map((one) => [one.channel, one.messages]),
  );
  await Promise.all(readers.map((reader) => reader.finish(expected)));
  // Journals are read when whoever writes them has finished.
  await auditRuns(stage);
  return { readings };
}

/** They are owed everything, so they are there before anybody speaks. */
async function startReaders(stage: Stage, chance: Chance): Promise<Reader[]> {
  const { channels } = stage.things;
  const [talk, more, jobs] = channels;
  const [drainer, leaser, follower, worker] = ['drainer', 'leaser', 'follower', 'worker'].map(
    (one) => `${one}-${talk}`,
  ) as [string, string, string, string];
  for (const [agent, channel] of [
    [drainer, talk],
    [leaser, more],
    [follower, talk],
    [worker, jobs],
    ...channels.map((one) => ['auditor', one] as const),
  ] as const)
    await insist(stage, stage.servers, agent, 'subscribe', { pattern: channel });
  await insist(stage, stage.servers, OWNER, 'agents.manage', {
    ...{ agent_id: worker, runner: { kind: 'outside' }, limits: WORKER_LIMITS },
  });
  await letOwnerDecide(stage);
  return [
    startDrainer(drainer, talk, false, chance.fork(), stage),
    startDrainer(leaser, more, true, chance.fork(), stage),
    startFollower(follower, talk, chance.fork(), stage),
    startSupervisor(`first-${worker}`, worker, chance.fork(), stage),
    startSupervisor(`second-${worker}`, worker, chance.fork(), stage),
    startExecutor(`first-${talk}`, chance.fork(), stage),
    startExecutor(`second-${talk}`, chance.fork(), stage),
  ];
}

/** By its credential alone: a proof is known to the server that it was shown to. */
async function letOwnerDecide(stage: Stage): Promise<void> {
  const known = { name: 'mia', passphrase: 'correct horse battery' };
  const owner = (operation: string, input: object): Promise<Json> =>
    insist(stage, stage.servers.slice(0, 1), OWNER, operation, input);
  const { people } = await owner('people.list', {});
  if (people.length === 0) await owner('people.add', known);
  const { proof } = await owner('people.prove', known);
  await owner('spaces.configure', { gates_proof: 'none', proof });
}

async function applyFaults(
  faults: readonly string[],
  endAt: number,
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
  while (recorder.now() < endAt && faults.length > 0) {
    await wait(chance.int(300, 2_000));
    const fault = await drawFault(chance.pick(faults), world, chance);
    if (fault === null || open.has(fault.whom)) continue;
    const holdMs = chance.isLikely(0.3) ? chance.int(3_000, 7_000) : chance.int(200, 2_500);
    const over = begin(fault, holdMs);
    open.set(fault.whom, over);
    // Now and then the next comes before this one is over.
    if (!chance.isLikely(0.25)) await over;
  }
  const leftMs = (endAt - recorder.now()) * 1000;
  if (leftMs > 0) await wait(leftMs);
  await Promise.all(open.values());
  // Whom chance has passed over, while the agents go on.
  for (const server of world.servers) if (server.isOld) await begin(upgrade(server), UPGRADE_MS);
}

async function sequencerOf(
  servers: readonly ChaosServer[],
  space: string,
): Promise<ChaosServer | null> {
  for (const server of servers) {
    const reply = await askIn(space)(server, 'auditor', 'status', {}, 1_000);
    const name = reply.kind === 'done' ? reply.body.cluster?.sequencer : null;
    const found = servers.find((one) => one.name === name);
    if (found !== undefined) return found;
  }
  return null;
}

/** Null when they do; else what each of them says. */
async function agree({ servers, space, things }: Stage): Promise<string | null> {
  const ask = askIn(space);
  const stopAt = performance.now() + AGREE_MS;
  let last = '';
  while (performance.now() < stopAt) {
    // Something is decided, so that everybody who is behind hears of it.
    await ask(
      servers[0] as ChaosServer,
      'auditor',
      'subscribe',
      { pattern: things.channels[0] },
      15_000,
    );
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
  return `apart: ${AGREE_MS / 1000} s after all was mended the servers do not agree on ${space}: ${last}`;
}

async function readBack(stage: Stage): Promise<Reading[]> {
  const { servers, recorder, things } = stage;
  const readings: Reading[] = [];
  for (const server of servers) {
    for (const channel of things.channels) {
      const messages: Told[] = [];
      for (let since = 1; ; ) {
        const input = { channel, since, limit: PAGE };
        const page = await insist(stage, [server], 'auditor', 'replay', input);
        for (const one of page.messages) messages.push({ text: one.body.text, seq: one.seq });
        if (!page.has_more || page.messages.length === 0) break;
        since = (messages.at(-1) as Told).seq + 1;
      }
      readings.push({ server: server.name, channel, messages });
    }
    for (const key of things.values) {
      const from = recorder.now();
      const { value, version } = await insist(stage, [server], 'auditor', 'context.get', {
        ...{ ns: NAMESPACE, key },
      });
      recorder.record('auditor', server.name, { op: 'get', key, value, version }, 'ok', from);
    }
    const { claims } = await insist(stage, [server], 'auditor', 'claims.list', {});
    for (const key of things.locks) {
      const from = recorder.now();
      const owner = claims.find((one: Json) => one.task_id === key)?.owner ?? null;
      recorder.record('auditor', server.name, { op: 'holder', key, owner }, 'ok', from);
    }
    for (const { id, key } of stage.gates.slice(-GATES_READ)) {
      const from = recorder.now();
      const { state } = await insist(stage, [server], OWNER, 'gates.get', { gate_id: id });
      recorder.record('auditor', server.name, { op: 'gate', key, state }, 'ok', from);
    }
  }
  return readings;
}

/** When nothing is in the way it is done, at one of the servers. */
async function insist(
  { space }: Stage,
  servers: readonly ChaosServer[],
  agent: string,
  operation: string,
  input: object,
): Promise<Json> {
  let last = '';
  for (const stopAt = performance.now() + SETUP_MS; performance.now() < stopAt; ) {
    for (const server of servers) {
      const reply = await askIn(space)(server, agent, operation, input, SETUP_MS);
      if (reply.kind === 'done') return reply.body;
      last = `${server.name}: ${JSON.stringify(reply)}`;
    }
    await wait(200);
  }
  throw new Error(`${operation} by ${agent} is not done: ${last}`);
}
