/**
 * What Prometheus reads of a bus: the eight counters and what it holds now, read when Prometheus
 * scrapes. Only this machine is listened to, and only under a name of this machine: a web page that
 * rebinds its own name to loopback is turned away [BD9].
 */
import type { Counter, Gauge } from 'prom-client';
import type { Bus, BusStats } from './bus.ts';
import {
  addressText,
  isLoopbackAddress,
  ListenError,
  portOf,
  resolveHost,
  type TcpAddress,
  untilListening,
} from './listen-address.ts';

const HEADERS_MS = 5_000;
const CONNECTIONS_MAX = 32;

const HELP: Readonly<Record<keyof BusStats, string>> = {
  messages_in: 'Messages toward workers',
  messages_out: 'Messages toward clients',
  bytes_in: 'Bytes toward workers',
  bytes_out: 'Bytes toward clients',
  worker_restarts: 'Workers started again',
  routing_errors: 'Messages that could not be routed',
  client_connects: 'Clients that came',
  client_disconnects: 'Clients that went',
};

const WORKER_STATES = ['starting', 'ready', 'waiting', 'failed', 'stopping', 'stopped'] as const;

export interface BusMetrics {
  readonly contentType: string;
  read(): Promise<string>;
}

export async function createBusMetrics(bus: Bus): Promise<BusMetrics> {
  const prom = await import('prom-client');
  const register = new prom.Registry();
  const registers = [register];
  const stats = new Map<keyof BusStats, Counter>();
  for (const [name, help] of Object.entries(HELP) as [keyof BusStats, string][]) {
    stats.set(name, new prom.Counter({ name: `synod_bus_${name}_total`, help, registers }));
  }
  const gauge = (name: string, help: string, labelNames: string[] = []): Gauge =>
    new prom.Gauge({ name: `synod_bus_${name}`, help, labelNames, registers });
  const held = {
    clients: gauge('clients', 'Clients attached'),
    sessions: gauge('sessions', 'Sessions remembered'),
    pending: gauge('pending', 'Requests without an answer'),
  };
  const workers = gauge('workers', 'Places for workers, by what they are doing', ['pool', 'state']);
  const queued = gauge('worker_queued_bytes', 'Bytes that workers have not taken', ['pool']);

  return {
    contentType: register.contentType,
    read() {
      const now = bus.stats();
      for (const [name, counter] of stats) {
        counter.reset();
        counter.inc(now[name]);
      }
      const counts = bus.counts();
      held.clients.set(counts.clients);
      held.sessions.set(counts.sessions);
      held.pending.set(counts.pending);
      workers.reset();
      queued.reset();
      for (const { id } of bus.config.pools) {
        for (const state of WORKER_STATES) workers.set({ pool: id, state }, 0);
        queued.set({ pool: id }, 0);
      }
      for (const { pool, state, queuedBytes } of bus.workers()) {
        workers.inc({ pool, state });
        queued.inc({ pool }, queuedBytes);
      }
      return register.metrics();
    },
  };
}

export interface MetricsDoor {
  readonly url: string;
  close(): Promise<void>;
}

export async function openMetrics(bus: Bus, asked: TcpAddress): Promise<MetricsDoor> {
  const { address, isLoopback } = await resolveHost(asked.host);
  if (!isLoopback) {
    throw new ListenError(
      'bus.open-not-loopback',
      `metrics are for this machine only, and ${asked.host} can be reached from others; use 127.0.0.1`,
    );
  }
  const metrics = await createBusMetrics(bus);
  const names = new Set([asked.host.toLowerCase(), 'localhost']);
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer({ headersTimeout: HEADERS_MS }, async (request, response) => {
    const answer = (status: number, text: string, type = 'text/plain; charset=utf-8'): void => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
      response.end(text);
    };
    if (!isOurName(request.headers.host, names)) {
      return answer(421, 'host.foreign: the Host header does not name this machine\n');
    }
    const path = request.url?.split('?')[0];
    if (path !== '/metrics') return answer(404, 'ask for /metrics\n');
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(405, 'use GET\n');
    answer(200, await metrics.read(), metrics.contentType);
  });
  server.maxConnections = CONNECTIONS_MAX;
  await untilListening(
    server,
    (onListening) => server.listen({ host: address, port: asked.port }, onListening),
    (code) => `metrics cannot be served on ${addressText(address, asked.port)} (${code})`,
  );
  return {
    url: `http://${addressText(address, portOf(server))}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isOurName(header: string | undefined, names: ReadonlySet<string>): boolean {
  const host = (header ?? '')
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[(.+)\]$/, '$1');
  return names.has(host) || isLoopbackAddress(host);
}
