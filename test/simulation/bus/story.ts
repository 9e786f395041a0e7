/**
 * One story of a bus: a few hundred random steps, then everything is stopped. What is promised to
 * hold is checked at every step, and at the end every request must have had its one outcome.
 */

import { type ByteLine, messageOf } from '../../../src/bus/process/byte-line.ts';
import type { BusConfig, PoolConfig } from '../../../src/bus/router/config.ts';
import { DEFAULT_LIMITS } from '../../../src/bus/router/config-limits.ts';
import { createBus } from '../../../src/bus/router/create-bus.ts';
import type { Chance } from '../../../src/testing/chance.ts';
import {
  createStageClock,
  createStagePeer,
  createStageWorker,
  requestLine,
  type StagePeer,
  type StageWorker,
} from './stage.ts';

const QUEUE_BYTES_MAX = 3_000;
const LINE_BYTES_MAX = 400;
const SESSIONS_MAX = 6;
const PENDING_MAX = 60;
const REQUEST_MS = 4_000;
const BACKPRESSURE_MS = 3_000;
/** The bus looks at a twentieth of its shortest limit, and a story moves in steps of 1.5 s. */
const SLACK_MS = 1_800;

interface Told {
  readonly token: string;
  readonly peer: StagePeer;
  readonly id: number;
  readonly key: string | null;
  readonly session: string | null;
  readonly askedAt: number;
  answers: number;
  mayHaveRun: boolean | null;
  /** An error came while several were open under its id: it may have been for another of them. */
  isGuessed: boolean;
  /** Another was open under its id: of the two errors nobody can say which was whose. */
  hadTwin: boolean;
}

export interface StoryEnd {
  readonly asked: number;
  readonly answeredByWorkers: number;
  readonly answeredByBus: number;
}

function poolConfig(id: string, instances: number, inFlightMax: number): PoolConfig {
  return {
    id,
    command: 'none',
    args: [],
    instances,
    env: {},
    envAllow: [],
    cwd: null,
    restart: 'always',
    ready: null,
    ping: null,
    hangMs: null,
    inFlightMax,
    agents: [],
    methods: [],
  };
}

export async function playBusStory(chance: Chance, steps: number): Promise<StoryEnd> {
  const clock = createStageClock();
  const workers: StageWorker[] = [];
  const ran = new Map<string, string[]>();
  const told = new Map<string, Told>();
  const keyTokens = new Map<string, string>();
  const keyErrors = new Map<string, number>();
  const lost = new Map<string, number>();
  /** The last token of a session that a process took. */
  const newest = new Map<string, number>();
  const fullSince = new Map<StagePeer, number>();
  let peers: StagePeer[] = [];
  let lastToken = 0;
  let lastPeer = 0;
  let byWorkers = 0;
  let byBus = 0;

  const configOf = (instances: number): BusConfig => ({
    pools: [poolConfig('a', instances, chance.int(1, 8)), poolConfig('b', 1, 1_000)],
    limits: {
      ...DEFAULT_LIMITS,
      queueBytesMax: QUEUE_BYTES_MAX,
      sessionsMax: SESSIONS_MAX,
      pendingMax: PENDING_MAX,
      requestMs: REQUEST_MS,
      sessionIdleMs: 5_000,
      backpressureMs: BACKPRESSURE_MS,
      missedMax: 4,
    },
    transport: { mode: null, framing: 'ndjson' },
    policy: [],
    clients: [],
  });

  const bus = createBus({
    config: configOf(2),
    clock,
    openWorker(pool, index, events) {
      const number = workers.length;
      const worker = createStageWorker(`${pool.id}/${index}`, pool.id, events, {
        onRun(token, place) {
          // After a reload another worker may have the same name.
          const where = `${place} of ${number}`;
          ran.set(token, [...(ran.get(token) ?? []), where]);
          checkOrder(token, where);
        },
        onLost: (token) => lost.set(token, (lost.get(token) ?? 0) + 1),
      });
      workers.push(worker);
      return worker;
    },
  });

  const check = (isTrue: boolean, what: string): void => {
    if (!isTrue) throw new Error(what);
  };

  /** Within a session, a process gets the messages in the order they were sent [BU5]. */
  const checkOrder = (token: string, where: string): void => {
    const one = told.get(token);
    if (!one?.session || one.key !== null) return;
    const place = `${one.session} ${where}`;
    const number = Number(token.slice(1));
    check(number > (newest.get(place) ?? 0), `${token} of ${place} came after a later one`);
    newest.set(place, number);
  };

  const onMessage = (peer: StagePeer, text: string): void => {
    const message = JSON.parse(text);
    if (Array.isArray(message)) {
      for (const one of message) onMessage(peer, JSON.stringify(one));
      return;
    }
    if (message.method) {
      if (message.id !== undefined && chance.isLikely(0.7)) {
        peer.attachment?.receive(messageOf({ jsonrpc: '2.0', id: message.id, result: {} }));
      }
      return;
    }
    // Ids repeat on purpose: the oldest request of this client with it that is still open.
    const open = [...told.values()].filter(
      (one) => one.peer === peer && one.id === message.id && one.answers === 0,
    );
    check(
      open.length > 0,
      `an answer for id ${message.id} that ${peer.label} is not owed: ${text}`,
    );
    if (message.result) {
      byWorkers += 1;
      const { token } = message.result;
      const isMeant = (ask: Told): boolean =>
        ask.token === token || (ask.key !== null && keyTokens.get(ask.key) === token);
      let one = open.find(isMeant);
      if (!one) {
        // An earlier error was laid to this one, and was another's.
        one = [...told.values()].find(
          (ask) => ask.peer === peer && ask.id === message.id && ask.isGuessed && isMeant(ask),
        );
        check(one !== undefined, `${peer.label} got the answer of somebody else: ${text}`);
        const other = open[0] as Told;
        other.answers += 1;
        other.isGuessed = true;
        (one as Told).isGuessed = false;
        return;
      }
      one.answers += 1;
      one.mayHaveRun = true;
    } else {
      byBus += 1;
      const { code, mayHaveRun } = message.error.data;
      check(
        typeof code === 'string' && code.startsWith('bus.'),
        `an error without a code: ${text}`,
      );
      const one = open[0] as Told;
      one.answers += 1;
      for (const { key } of open) if (key) keyErrors.set(key, (keyErrors.get(key) ?? 0) + 1);
      one.isGuessed = open.length > 1;
      one.mayHaveRun = one.hadTwin ? null : mayHaveRun;
    }
  };

  const connect = (): void => {
    lastPeer += 1;
    const peer: StagePeer = createStagePeer(`p${lastPeer}`, (text) => onMessage(peer, text));
    peer.attachment = bus.attach(peer);
    if (peer.attachment) peers.push(peer);
  };

  const openPeers = (): StagePeer[] => peers.filter(({ isClosed }) => !isClosed);

  const askSomething = (): void => {
    const readable = openPeers().filter(({ isReadable }) => isReadable);
    if (readable.length === 0) return;
    const peer = chance.pick(readable);
    lastToken += 1;
    const token = `t${lastToken}`;
    const id = chance.int(1, 40);
    const idempotencyKey = chance.isLikely(0.15) ? `k${chance.int(1, 2)}` : null;
    const isOfPool = chance.isLikely(0.7);
    const session = chance.isLikely(0.5) ? `session-${chance.int(1, 9)}` : null;
    const pool = chance.isLikely(0.3) ? chance.pick(['a', 'b', 'nowhere']) : null;
    const key = idempotencyKey && `${idempotencyKey} ${pool} ${isOfPool ? null : session}`;
    const extra = {
      ...(session && { sessionId: session }),
      ...(pool && { pool }),
      ...((key || chance.isLikely(0.2)) && {
        _ext: {
          ...(key && { idempotencyKey, ...(isOfPool && { idempotencyScope: 'pool' }) }),
          timeoutMs: chance.int(1, 5_000),
        },
      }),
      pad: 'x'.repeat(chance.int(0, 200)),
    };
    // Params must be the same for the same key, so the token is the first one's.
    const sentToken = key ? (keyTokens.get(key) ?? token) : token;
    if (key && !keyTokens.has(key)) keyTokens.set(key, token);
    const twins = [...told.values()].filter(
      (one) => one.peer === peer && one.id === id && one.answers === 0,
    );
    for (const twin of twins) twin.hadTwin = true;
    const hadTwin = twins.length > 0;
    told.set(token, {
      token,
      peer,
      id,
      key,
      session,
      askedAt: clock.now(),
      answers: 0,
      mayHaveRun: null,
      isGuessed: false,
      hadTwin,
    });
    const line = requestLine(id, sentToken, extra);
    peer.attachment?.receive(chance.isLikely(0.1) ? (`[${line}]` as ByteLine) : line);
  };

  const step = async (): Promise<void> => {
    const worker = chance.pick(workers);
    const open = openPeers();
    const draw = chance.int(0, 99);
    if (draw < 22) askSomething();
    else if (draw < 42) worker.take();
    else if (draw < 62) {
      worker.answer((count) => chance.int(0, Math.max(0, count - 1)), chance.isLikely(0.1));
    } else if (draw < 64) worker.crash(chance.isLikely(0.9));
    else if (draw < 72) worker.comeUp();
    else if (draw < 80) open.length > 0 && chance.pick(open).read(chance.int(0, 20));
    else if (draw < 84 && open.length > 0) {
      const params = { id: chance.int(1, 40) };
      const line = messageOf({ jsonrpc: '2.0', method: '$/cancelRequest', params });
      const peer = chance.pick(open);
      if (peer.isReadable) peer.attachment?.receive(line);
    } else if (draw < 86) open.length > 1 && chance.pick(open).close('closed', false);
    else if (draw < 88) connect();
    else if (draw < 92) {
      const sessionId = `session-${chance.int(1, 9)}`;
      const id = chance.isLikely(0.3) ? { id: chance.int(1, 3) } : {};
      worker.say(messageOf({ jsonrpc: '2.0', ...id, method: 'update', sessionId, params: {} }));
    } else if (draw < 94) worker.say('not json at all' as ByteLine);
    else if (draw < 99) clock.advance(chance.int(1, 1_500));
    else if (bus.state === 'running' && chance.isLikely(0.3)) {
      const reloading = bus.reload(configOf(chance.int(1, 3))).catch(() => undefined);
      for (const one of workers) one.comeUp();
      await reloading;
    }
  };

  const checkBounds = (): void => {
    const { pending, sessions } = bus.counts();
    check(pending <= PENDING_MAX, `${pending} requests are pending`);
    // A session with a request in flight is never forgotten, so those come on top.
    check(sessions <= SESSIONS_MAX + PENDING_MAX, `${sessions} sessions are kept`);
    for (const { name, queuedBytes } of workers) {
      check(
        queuedBytes <= QUEUE_BYTES_MAX + LINE_BYTES_MAX * 30,
        `${name} has ${queuedBytes} queued`,
      );
    }
    // Nobody stands still for nothing.
    const isSomebodyFull = openPeers().some((one) => one.queuedBytes > QUEUE_BYTES_MAX / 2);
    for (const { name, state, isReading } of workers) {
      check(isReading || state !== 'ready' || isSomebodyFull, `${name} is not read from`);
    }
  };

  const checkTimes = (): void => {
    const now = clock.now();
    for (const peer of openPeers()) {
      if (peer.queuedBytes <= QUEUE_BYTES_MAX) fullSince.set(peer, now);
      const since = fullSince.get(peer) ?? now;
      check(now - since <= BACKPRESSURE_MS + SLACK_MS, `${peer.label} does not read and is kept`);
    }
    for (const { token, peer, answers, askedAt } of told.values()) {
      if (answers > 0 || peer.isClosed || peer.queuedBytes > 0) continue;
      check(now - askedAt <= REQUEST_MS + SLACK_MS, `${token} has waited for ${now - askedAt} ms`);
    }
  };

  const starting = bus.start();
  for (const worker of workers) worker.comeUp();
  await starting;
  connect();
  connect();
  for (let i = 0; i < steps; i += 1) {
    await step();
    checkBounds();
    checkTimes();
  }

  const stopping = bus.stop(2_000);
  for (let i = 0; i < 40; i += 1) {
    for (const worker of workers) {
      worker.take();
      if (chance.isLikely(0.5)) worker.answer(() => 0, false);
    }
    for (const peer of openPeers()) peer.read(10);
  }
  clock.advance(2_001);
  await stopping;

  // An error for somebody who is gone ends a key as well, and nobody sees it.
  const goneWith = (key: string): number =>
    [...told.values()].filter(
      (one) => one.key === key && one.answers === 0 && one.peer.closedBy !== 'draining',
    ).length;
  check(bus.counts().pending === 0, `${bus.counts().pending} requests are pending after the end`);
  for (const one of told.values()) {
    // Whoever left, or was cut off because it did not read, is owed nothing any more.
    const isOwed = one.peer.closedBy === 'draining' || one.answers > 0;
    if (isOwed) check(one.answers === 1, `${one.token} was answered ${one.answers} times`);
    const runs = ran.get(one.token) ?? [];
    const runsMax =
      one.key === null
        ? 1
        : 1 + (keyErrors.get(one.key) ?? 0) + (lost.get(one.token) ?? 0) + goneWith(one.key);
    check(runs.length <= runsMax, `${one.token} ran ${runs.length} times: ${runs.join(', ')}`);
    if (one.key === null) {
      check(
        one.mayHaveRun !== false || runs.length === 0,
        `${one.token} ran, and the bus denied it`,
      );
    }
  }
  peers = [];
  return { asked: told.size, answeredByWorkers: byWorkers, answeredByBus: byBus };
}
