/**
 * Readers, each of its own kind: one drains its inbox and has what it is handed, once; one leases and acknowledges, and gets
 * again what it did not; one follows a live stream through the client, at another server after every break.
 */
import { WebSocket } from 'ws';
import { createClient } from '../../src/client/client.ts';
import type { Socket } from '../../src/client/socket.ts';
import type { Chance } from '../../src/testing/chance.ts';
import type { Json } from '../e2e/running-hub.ts';
import type { Told } from './history.ts';
import type { Stage } from './stage.ts';

export interface Reader {
  /** Reads on when all is mended, until it has everything or nothing comes any more. */
  finish(expected: ReadonlyMap<string, readonly Told[]>): Promise<void>;
}

const MAX = 20;
const RECV_MS = 15_000;
const FINISH_MS = 30_000;

export function startDrainer(
  name: string,
  channel: string,
  isLeased: boolean,
  chance: Chance,
  stage: Stage,
): Reader {
  const { recorder, servers } = stage;

  /** What came, or null where there was no answer. */
  async function read(): Promise<Told[] | null> {
    const from = recorder.now();
    const server = chance.pick(servers);
    const lease = isLeased ? { lease_ms: stage.leaseMs } : {};
    const input = { channels: [channel], max_messages: MAX, wait_ms: 200, ...lease };
    const reply = await stage.ask(server, name, 'recv', input, RECV_MS);
    if (reply.kind === 'refused') return null;
    const messages: Json[] = reply.kind === 'done' ? reply.body.messages : [];
    const got = messages.map((one): Told => ({ text: one.body.text, seq: one.seq }));
    const act = { op: 'recv', channel, got, max: MAX, ...(isLeased && { isLeased }) } as const;
    const outcome = reply.kind === 'done' ? 'ok' : 'unknown';
    if (got.length > 0 || outcome === 'unknown')
      recorder.record(name, server.name, act, outcome, from);
    if (isLeased) await Promise.all(messages.map(({ message_id }) => acknowledge(message_id)));
    return reply.kind === 'done' ? got : null;
  }

  async function acknowledge(message_id: string): Promise<void> {
    const input = { message_id, status: 'done' };
    await stage.ask(chance.pick(servers), name, 'channels.ack', input, RECV_MS);
  }

  const running = (async () => {
    while (!stage.isOver) {
      await read();
      await stage.pause(chance.int(20, 200));
    }
  })();
  return {
    async finish(expected) {
      await running;
      const wanted = new Set((expected.get(channel) ?? []).map(({ text }) => text));
      for (const { act, by } of recorder.done)
        if (by === name && act.op === 'recv') for (const { text } of act.got) wanted.delete(text);
      const stopAt = performance.now() + FINISH_MS;
      for (let empty = 0; wanted.size > 0 && performance.now() < stopAt; ) {
        const got = await read();
        for (const { text } of got ?? []) wanted.delete(text);
        // What is leased comes back when its time is over; what is not would have come at once.
        if (got?.length === 0) empty++;
        if (!isLeased && empty > 2 * servers.length) return;
      }
    },
  };
}

export function startFollower(name: string, channel: string, chance: Chance, stage: Stage): Reader {
  const { recorder, servers } = stage;
  const got: Told[] = [];
  const client = createClient({
    url: 'http://127.0.0.1:1',
    agent: name,
    space: stage.space,
    reconnect: { minMs: 50, maxMs: 500, random: () => chance.next() },
    livenessMs: 3_000,
    openSocket(url, protocols) {
      const server = chance.pick(servers);
      const path = new URL(url);
      const host = server.url === null ? '127.0.0.1:1' : new URL(server.url).host;
      const whole = `ws://${host}${path.pathname}${path.search}`;
      return new WebSocket(whole, [...protocols]) as unknown as Socket;
    },
  });
  const from = recorder.now();
  const stop = new AbortController();
  let trouble: unknown = null;
  const following = (async () => {
    const options = { channels: [channel], from: 0, signal: stop.signal } as const;
    for await (const one of client.messages(options))
      got.push({ text: String((one.body as Json).text), seq: one.seq as number });
  })().catch((cause: unknown) => {
    trouble = cause;
  });
  return {
    async finish(expected) {
      const wanted = expected.get(channel)?.length ?? 0;
      const stopAt = performance.now() + FINISH_MS;
      while (got.length < wanted && performance.now() < stopAt && trouble === null)
        await stage.pause(50);
      stop.abort();
      await client.close();
      await following;
      if (trouble !== null) recorder.happened(`${name} was ended: ${String(trouble)}`);
      recorder.record(name, 'any', { op: 'feed', channel, got }, 'ok', from);
    },
  };
}
