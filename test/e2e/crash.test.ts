/**
 * Goal: whatever a hub has acknowledged is there after kill -9: once, in order, without gaps; and
 * what was drained does not come back.
 * Method: a real hub, several processes that send and drain, a kill in the middle, a restart on the
 * same directory; again and again. What the clients were told is compared with what the hub holds.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { within } from './deadline.ts';
import { type HubProcess, isRunning, startHubProcess } from './hub-process.ts';
import { fetchReply, type Json } from './running-hub.ts';

const CLIENT = fileURLToPath(new URL('crash-client.ts', import.meta.url));
const ROUNDS = 4;
const SENDERS = ['s1', 's2', 's3'];
const DRAINERS = ['d1', 'd2'];
/** So many acknowledgements in a round, from each sender, before the kill. */
const ACKED_MIN = 150;

interface Told {
  /** By sender: the message ids acknowledged, by the number the sender gave them. */
  readonly acked: Map<string, Map<number, { message_id: string; seq: number }>>;
  /** By drainer: every id it was handed, in order. */
  readonly drained: Map<string, string[]>;
}

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

async function start(dir: string): Promise<HubProcess> {
  const hub = await startHubProcess(dir);
  if (!isRunning(hub)) throw new Error(`the hub did not start: ${hub.stderr}`);
  return hub;
}

function startClient(args: string[], onLine: (line: Json) => void): Promise<unknown> {
  const child = spawn(process.execPath, [CLIENT, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  alive.add(child);
  createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }).on('line', (line) =>
    onLine(JSON.parse(line)),
  );
  return once(child, 'close').then(() => alive.delete(child));
}

/** Loads the hub until each sender was acknowledged enough, then kills it under them. */
async function loadAndKill(hub: HubProcess, credential: string, told: Told): Promise<void> {
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const counts = new Map(SENDERS.map((name) => [name, 0]));
  const idle = new Set(DRAINERS);
  const look = (): void => {
    if (idle.size === 0 && [...counts.values()].every((count) => count >= ACKED_MIN)) resolve();
  };
  const ended = [
    ...SENDERS.map((name) => {
      const mine = told.acked.get(name) ?? new Map();
      told.acked.set(name, mine);
      // Numbers under way when the hub died are never used again, so that each stands for one send.
      const from = Math.max(0, ...mine.keys()) + 1_000;
      return startClient(['sender', hub.url, credential, name, String(from)], (line) => {
        mine.set(line.n, line);
        counts.set(name, (counts.get(name) ?? 0) + 1);
        look();
      });
    }),
    ...DRAINERS.map((name) => {
      const mine = told.drained.get(name) ?? [];
      told.drained.set(name, mine);
      return startClient(['drainer', hub.url, credential, name], (line) => {
        mine.push(...line.drained);
        if (line.drained.length > 0) idle.delete(name);
        look();
      });
    }),
  ];
  await within('every sender was acknowledged enough, and who drains has some of it', enough);
  await hub.kill();
  await within('the clients noticed', Promise.all(ended));
}

test('[H1] what was acknowledged survives kill -9: once, in order, without gaps', {
  timeout: 60_000,
}, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'synod-crash-'));
  const told: Told = { acked: new Map(), drained: new Map() };
  let hub = await start(dir);
  const credential = (await readFile(join(dir, 'credential'), 'utf8')).trim();
  const ask = async (agent: string, operation: string, input: object): Promise<Json> => {
    const { status, text, body } = await fetchReply(`${hub.url}/v1/ops/${operation}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${credential}`, 'x-sox-agent-id': agent },
      body: JSON.stringify(input),
    });
    if (status !== 200) throw new Error(`${operation} was refused with ${status}: ${text}`);
    return body;
  };
  const replayAll = async (channel: string): Promise<Json[]> => {
    const all: Json[] = [];
    for (;;) {
      const since = all.length + 1;
      const page = await ask('d1', 'replay', { channel, since, limit: 1_000 });
      all.push(...page.messages);
      if (!page.has_more) return all;
    }
  };
  for (const name of DRAINERS) await ask(name, 'subscribe', { pattern: 'crash/*' });

  for (let round = 1; round <= ROUNDS; round++) {
    await loadAndKill(hub, credential, told);
    hub = await start(dir);
    for (const name of SENDERS) {
      const stored = await replayAll(`crash/${name}`);
      expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, i) => i + 1));
      const numbers = stored.map(({ body }) => body.n);
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      const byNumber = new Map(stored.map((one) => [one.body.n, one]));
      for (const [n, { message_id, seq }] of told.acked.get(name) ?? []) {
        expect(byNumber.get(n)).toMatchObject({ message_id, seq });
      }
    }
  }

  // What is still owed now was handed to nobody before, and nobody was handed anything twice.
  for (const name of DRAINERS) {
    const handed = told.drained.get(name) ?? [];
    expect(handed.length).toBeGreaterThan(0);
    for (;;) {
      const { messages } = await ask(name, 'recv', { max_messages: 1_000 });
      if (messages.length === 0) break;
      handed.push(...messages.map((one: Json) => one.message_id));
    }
    expect(new Set(handed).size).toBe(handed.length);
  }
  expect(await hub.stop()).toBe(0);
  await rm(dir, { recursive: true });
});
