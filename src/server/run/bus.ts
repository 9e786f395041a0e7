/**
 * The bus inside the hub: `--bus FILE` runs the pools of that config behind a Unix socket in the
 * data directory, and every request that passes goes on the record: who asked which worker for
 * what, and how it ended [BU23]. When the hub cannot take a record, the next one says how many are
 * missing; the bus itself never waits for the log.
 */
import { join } from 'node:path';
import { openWorker } from '../../bus/process/open-worker.ts';
import { createGate } from '../../bus/router/auth.ts';
import type { AuditRecord, Bus, BusLogLine } from '../../bus/router/bus.ts';
import { createBus } from '../../bus/router/create-bus.ts';
import { openListener } from '../../bus/router/listen.ts';
import { createBusMetrics } from '../../bus/router/metrics.ts';
import { readBusConfig } from '../../bus/router/read-config.ts';
import { reloadFrom } from '../../bus/router/reload-config.ts';
import { workerSpecOf } from '../../bus/router/worker-spec.ts';
import { isRefusal } from '../../core/law/decider.ts';
import type { Principal } from '../../core/law/principal.ts';
import type { BusCall } from '../../core/work/bus-call.ts';
import type { Hub } from '../../hub/hub.ts';
import type { ServerLog } from './server-log.ts';

const BUS: Principal = { id: '__bus__', kind: 'agent', tier: 'trusted' };
const SOCKET_NAME = 'bus.sock';

export interface HubBusOptions {
  /** The bus's config file. Absolute. */
  readonly path: string;
  /** The data directory. */
  readonly dir: string;
  readonly hub: Hub;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: ServerLog;
}

export interface HubBus {
  readonly socketPath: string;
  readonly bus: Bus;
  /** Reads the config file again; one that cannot be used changes nothing, and the log says why. */
  reload(): Promise<void>;
  /** For Prometheus, when somebody scrapes. */
  readMetrics(): Promise<string>;
  close(): Promise<void>;
}

export async function openHubBus(options: HubBusOptions): Promise<HubBus> {
  const { path, dir, hub, env, log } = options;
  const config = await readBusConfig({ path });
  for (const warning of config.warnings) log('warn', `${path}: ${warning}`);
  const say = (level: BusLogLine['level'], text: string): void => log(level, `bus: ${text}`);
  const bus: Bus = createBus({
    config,
    openWorker: (pool, index, events, limits) =>
      openWorker(workerSpecOf(pool, limits, env), index, events),
    onLog: ({ level, text }) => say(level, text),
    onAudit: createRecorder(hub),
  });
  const listener = await openListener({
    bus,
    address: { path: join(dir, SOCKET_NAME) },
    framing: config.transport.framing,
    gate: createGate(() => bus.config.clients, null),
    onLog: ({ level, text }) => say(level, text),
  });
  try {
    await bus.start();
  } catch (error) {
    await listener.close();
    throw error;
  }
  let running: Promise<void> = Promise.resolve();
  /** Several in a row are one: while a reload runs at most one more waits. */
  let waiting: Promise<void> | null = null;
  let metrics: ReturnType<typeof createBusMetrics> | null = null;
  return {
    socketPath: listener.address,
    bus,
    reload() {
      waiting ??= running.then(() => {
        waiting = null;
        running = reloadFrom({ bus, door: listener, source: { path }, log: say });
        return running;
      });
      return waiting;
    },
    async readMetrics() {
      metrics ??= createBusMetrics(bus);
      return (await metrics).read();
    },
    async close() {
      listener.stopAccepting();
      await bus.stop();
      await listener.close();
    },
  };
}

function createRecorder(hub: Hub): (record: AuditRecord) => void {
  let missed = 0;
  return (record) => {
    const { timestamp: _, ...call } = record;
    const told = missed;
    missed = 0;
    hub.submitThen(
      { type: 'bus.record', by: BUS, at: hub.stamp(), call: call satisfies BusCall, missed: told },
      (outcome) => {
        if (isRefusal(outcome)) missed += told + 1;
      },
    );
  };
}
