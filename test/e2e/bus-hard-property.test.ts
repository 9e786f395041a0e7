/**
 * Goal: over real processes and a real socket, too, every request has exactly one outcome, and its own.
 * Method: random requests, cancels, deadlines, kills of workers and slow readers, from a seed; a
 * failure names it.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Chance, createChance } from '../../src/testing/chance.ts';
import { type HardClient, openHardClient } from './bus-hard-client.ts';
import { type BusHome, type BusProcess, openBusHome } from './bus-process.ts';

const WORKER = fileURLToPath(new URL('bus-hard-worker.ts', import.meta.url));
const STEPS = 2_000;
const CLIENTS = 3;

let home: BusHome;
beforeEach(() => {
  home = openBusHome();
});
afterEach(() => home.close());

/** The workers that run now: children of the bus, so that nobody else is ever killed. */
function workersOf(bus: BusProcess): number[] {
  const pids = [...bus.log.matchAll(/started as process (\d+)/g)].map(([, pid]) => Number(pid));
  return pids.filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return state !== 'Z' && Number(parent) === bus.child.pid;
    } catch {
      return false;
    }
  });
}

interface Told {
  readonly client: HardClient;
  readonly id: number;
  readonly token: string;
}

async function play(chance: Chance): Promise<Map<string, number>> {
  const pool = {
    id: 'steps',
    command: process.execPath,
    args: [WORKER, 'steps'],
    instances: 3,
    max_in_flight: 8,
  };
  const limits = {
    restart_delay_ms: 0,
    max_restarts: 10_000,
    max_output_queue: 100_000,
    max_sessions: 5,
  };
  const bus = home.start([
    '--config',
    home.config({ pools: [pool], limits }),
    '--unix',
    home.path('s'),
  ]);
  await bus.logged(/ready on/);
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, () => openHardClient(home.path('s'))),
  );
  const told: Told[] = [];
  const ask = (client: HardClient): void => {
    const id = told.length;
    const token = `t${id}-${chance.int(0, 1_000_000)}`;
    told.push({ client, id, token });
    const params = {
      token,
      delayMs: chance.int(0, 15),
      text: 'x'.repeat(chance.int(0, 2_000)),
      ...(chance.isLikely(0.003) && { isFatal: true }),
    };
    const sessionId = chance.isLikely(0.5) ? `s${chance.int(1, 9)}` : undefined;
    const _ext = chance.isLikely(0.1) ? { timeoutMs: chance.int(1, 30) } : undefined;
    client.send({ id, method: 'm', params, sessionId, _ext });
  };
  for (let step = 0; step < STEPS; step += 1) {
    const client = chance.pick(clients);
    const draw = chance.int(0, 999);
    if (draw < 600) ask(client);
    else if (draw < 680) {
      const id = chance.int(Math.max(0, told.length - 40), told.length);
      client.send({ method: '$/cancelRequest', params: { id } });
    } else if (draw < 684) {
      const running = workersOf(bus);
      if (running.length > 0) process.kill(chance.pick(running), 'SIGKILL');
    } else if (draw < 700) client.socket.pause();
    else if (draw < 740) client.socket.resume();
    // Time for something to happen, or all would be one burst.
    else await pause(chance.int(0, 5));
  }
  for (const client of clients) client.socket.resume();
  for (const [at, client] of clients.entries()) {
    const count = told.filter((one) => one.client === client).length;
    await client.until(`all outcomes of client ${at}`, () => client.outcomes.size === count);
  }
  const kinds = new Map<string, number>();
  for (const { client, id, token } of told) {
    const { result, error } = client.outcomes.get(id);
    if (result) expect(result.token).toBe(token);
    const kind = result ? 'ok' : error.data.code;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  clients[0]?.send({ id: -1, method: 'stdio_bus/stats' });
  await clients[0]?.until('the counts', () => clients[0]?.outcomes.has(-1) ?? false);
  expect(clients[0]?.outcomes.get(-1).result.pending).toBe(0);
  for (const { socket } of clients) socket.destroy();
  bus.child.kill('SIGTERM');
  expect(await bus.exited()).toBe(0);
  return kinds;
}

test.each([1, 2, 3])(
  '[BU1] one outcome for every request, over real processes (seed %i)',
  async (seed) => {
    const kinds = await play(createChance(seed));
    // It proves nothing if everything went well, or nothing did.
    expect(kinds.get('ok') ?? 0).toBeGreaterThan(200);
    expect(kinds.get('bus.worker-died') ?? 0).toBeGreaterThan(0);
    expect(kinds.get('bus.cancelled') ?? 0).toBeGreaterThan(0);
  },
);
