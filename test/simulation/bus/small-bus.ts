/**
 * A bus small enough to follow by hand: workers and clients of the stage, a clock that stands still,
 * and what each side heard. Nothing moves unless a test moves it.
 */
import { expect } from 'vitest';
import { type ByteLine, lineOf, textOf } from '../../../src/bus/process/byte-line.ts';
import type { AuditRecord, Bus, BusLogLine } from '../../../src/bus/router/bus.ts';
import type { BusConfig, PolicyRule, PoolConfig } from '../../../src/bus/router/config.ts';
import { DEFAULT_LIMITS, type Limits } from '../../../src/bus/router/config-limits.ts';
import { createBus } from '../../../src/bus/router/create-bus.ts';
import type { Identity } from '../../../src/bus/router/peer.ts';
import {
  createStageClock,
  createStagePeer,
  createStageWorker,
  type StageClock,
  type StagePeer,
  type StageWorker,
} from './stage.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into messages by name.
export type Message = any;

export interface SmallConfig {
  readonly pools?: readonly (Partial<PoolConfig> & { readonly id: string })[];
  readonly limits?: Partial<Limits>;
  readonly policy?: readonly (Partial<PolicyRule> & Pick<PolicyRule, 'effect'>)[];
  readonly isPrivate?: boolean;
}

export interface SmallBus {
  readonly bus: Bus;
  readonly clock: StageClock;
  /** All that were ever opened, in order. */
  readonly workers: StageWorker[];
  readonly audits: AuditRecord[];
  readonly logs: BusLogLine[];
  /** The newest worker of this name. */
  worker(name: string): StageWorker;
  connect(label?: string, identity?: Identity | null): SmallClient;
  reload(config: SmallConfig): ReturnType<Bus['reload']>;
}

export interface SmallClient {
  readonly peer: StagePeer;
  /** Text goes as it is, anything else as JSON-RPC 2.0. */
  send(message: object | string): void;
  ask(id: unknown, method: string, more?: object): void;
  /** Reads all that waits for it; answers what came since the last time. */
  got(): Message[];
  gotText(): string[];
}

export function configOf({ pools = [{ id: 'a' }], limits, policy = [] }: SmallConfig): BusConfig {
  return {
    pools: pools.map((pool) => ({
      command: 'none',
      args: [],
      instances: 1,
      env: {},
      envAllow: [],
      cwd: null,
      restart: 'always',
      ready: null,
      ping: null,
      hangMs: null,
      inFlightMax: 100,
      agents: [],
      methods: [],
      ...pool,
    })),
    limits: { ...DEFAULT_LIMITS, ...limits },
    transport: { mode: null, framing: 'ndjson' },
    policy: policy.map((rule) => ({
      method: null,
      pool: null,
      subject: null,
      role: null,
      reason: null,
      ...rule,
    })),
    clients: [],
  };
}

export async function openSmallBus(config: SmallConfig = {}): Promise<SmallBus> {
  const clock = createStageClock();
  const workers: StageWorker[] = [];
  const audits: AuditRecord[] = [];
  const logs: BusLogLine[] = [];
  const bus = createBus({
    config: configOf(config),
    isPrivate: config.isPrivate ?? false,
    clock,
    onAudit: (record) => audits.push(record),
    onLog: (line) => logs.push(line),
    openWorker(pool, index, events) {
      const unwatched = { onRun() {}, onLost() {} };
      const worker = createStageWorker(`${pool.id}/${index}`, pool.id, events, unwatched);
      workers.push(worker);
      return worker;
    },
  });
  const comeUp = (): void => {
    for (const worker of workers) worker.comeUp();
  };
  const starting = bus.start();
  comeUp();
  await starting;
  let clients = 0;
  return {
    bus,
    clock,
    workers,
    audits,
    logs,
    worker(name) {
      const found = workers.findLast((worker) => worker.name === name);
      if (!found) throw new Error(`there is no worker ${name}`);
      return found;
    },
    connect(label, identity = null) {
      clients += 1;
      return joined(bus, label ?? `client-${clients}`, identity);
    },
    async reload(next) {
      const reloading = bus.reload(configOf(next));
      comeUp();
      return reloading;
    },
  };
}

function joined(bus: Bus, label: string, identity: Identity | null): SmallClient {
  let texts: string[] = [];
  const peer = createStagePeer(label, (text) => texts.push(text), identity);
  peer.attachment = bus.attach(peer);
  const gotText = (): string[] => {
    peer.read(Number.MAX_SAFE_INTEGER);
    const read = texts;
    texts = [];
    return read;
  };
  const client: SmallClient = {
    peer,
    send(message) {
      const text =
        typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message });
      peer.attachment?.receive(lineOf(text));
    },
    ask: (id, method, more) => client.send({ id, method, ...more }),
    got: () => gotText().map((text) => JSON.parse(text)),
    gotText,
  };
  return client;
}

/** The process takes all that was sent to it; answers what it had not heard before. */
export function hear(worker: StageWorker): Message[] {
  const before = worker.heard.length;
  while (worker.queuedBytes > 0) worker.take();
  return worker.heard.slice(before).map((line) => JSON.parse(textOf(line)));
}

/** The process says it, as JSON-RPC 2.0 unless it is text. */
export function say(worker: StageWorker, message: object | string): void {
  const text =
    typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message });
  worker.say(lineOf(text) as ByteLine);
}

/** Takes all and answers every request with the method it came for. */
export function serve(worker: StageWorker): Message[] {
  const heard = hear(worker);
  for (const { id, method } of heard) {
    if (method !== undefined && id !== undefined) say(worker, { id, result: { method } });
  }
  return heard;
}

/** An answer of the bus itself: this code, and whether it may have run. */
export function refused(id: unknown, code: string, mayHaveRun = false): Message {
  return {
    jsonrpc: '2.0',
    id,
    error: expect.objectContaining({
      message: expect.any(String),
      data: expect.objectContaining({ code, mayHaveRun, remedy: expect.any(String) }),
    }),
  };
}

export function answered(id: unknown, method: string): Message {
  return { jsonrpc: '2.0', id, result: { method } };
}
