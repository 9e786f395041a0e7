/** Connections that misbehave: peers that stop reading, stop answering, or ask faster than they read. */
import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { queryObjects } from 'node:v8';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until, within } from '../../../test/e2e/deadline.ts';
import { openRawSocket } from '../../../test/e2e/raw-socket.ts';
import { openRpcSocket, type RpcSocket } from '../../../test/e2e/rpc-socket.ts';
import { openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';
import { CALLS_MAX } from './connection.ts';

let hub: RunningHub;
const open = (agent: string): Promise<RpcSocket> => openRpcSocket(hub.url, hub.as(agent));
/** The TCP socket below a client's WebSocket: pausing it is what a peer that stops reading does. */
const tcpOf = ({ ws }: RpcSocket): Socket => (ws as unknown as { _socket: Socket })._socket;
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/** A socket that does not read learns that the other side is gone by writing to it. */
async function letGo(client: RpcSocket): Promise<void> {
  const socket = tcpOf(client);
  const ended = new Promise((resolve) => socket.once('close', resolve));
  const nagging = setInterval(() => socket.write(PONG), 20);
  await within('the hub lets go of the socket', ended).finally(() => clearInterval(nagging));
}

beforeAll(async () => {
  hub = await openRunningHub({ hooks: { slowFarewellMs: 6_000 } });
});
afterAll(() => hub.close());

describe('a reader that stops reading', () => {
  test('[F3] is cut off with 4008, while nine others get everything', async () => {
    const readers = await Promise.all(
      Array.from({ length: 10 }, async (_, i) => {
        const reader = await open(`reader-${i}`);
        await reader.ask('stream.open', { channels: ['flood'] });
        return reader;
      }),
    );
    const [stalled, ...others] = readers as [RpcSocket, ...RpcSocket[]];
    const counts = others.map((reader) => {
      const seqs: number[] = [];
      reader.ws.on('message', (raw) => {
        const { method, params } = JSON.parse(raw.toString());
        if (method === 'message') seqs.push(params.seq);
      });
      return seqs;
    });
    tcpOf(stalled).pause();
    const bob = await open('bob');
    const text = 'x'.repeat(200_000);
    let sent = 0;
    // Until the stalled one is gone: the hub then has nine feeds.
    await until(
      'the stalled reader is cut off',
      async () => {
        await bob.ask('channels.send', { channel: 'flood', body: { n: ++sent, text } });
        return (await bob.ask('hub.status')).feeds;
      },
      (feeds) => feeds === 9,
    );
    tcpOf(stalled).resume();
    expect(await within('the farewell', stalled.closed)).toEqual({
      code: 4008,
      reason: 'slow_reader',
    });
    await bob.ask('channels.send', { channel: 'flood', body: { last: true } });
    await Promise.all(others.map((reader) => reader.next('message', ({ body }) => body.last)));
    const all = Array.from({ length: sent + 1 }, (_, i) => i + 1);
    for (const seqs of counts) expect(seqs).toEqual(all);
    await Promise.all([bob, ...others].map((one) => one.close()));
  });

  test('[F3] is cut off too when it only asks and never reads the answers', async () => {
    const ada = await open('asker');
    await ada.ask('channels.send', { channel: 'big', body: { text: 'x'.repeat(1_000_000) } });
    await ada.ask('channels.subscribe', { pattern: 'big' });
    tcpOf(ada).pause();
    const params = { channel: 'big', since: 0 };
    for (let id = 0; id < 40; id++) {
      ada.ws.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'channels.replay', params }));
    }
    await letGo(ada);
  });

  test('[F3] is let go even if it never reads again', async () => {
    const stalled = await open('never');
    await stalled.ask('stream.open', { channels: ['flood'] });
    tcpOf(stalled).pause();
    const bob = await open('bob');
    const text = 'x'.repeat(900_000);
    await until(
      'the feed is gone',
      async () => {
        await bob.ask('channels.send', { channel: 'flood', body: { text } });
        return (await bob.ask('hub.status')).feeds;
      },
      (feeds) => feeds === 0,
    );
    await letGo(stalled);
    await bob.close();
  });
});

describe('a caller that asks faster than it is served', () => {
  test('[F3] is read more slowly, and every call is answered', async () => {
    const ada = await open('hasty');
    const total = 3 * CALLS_MAX;
    const seqs: number[] = [];
    const all = new Promise<void>((resolve) => {
      ada.ws.on('message', (raw) => {
        seqs.push(JSON.parse(raw.toString()).result.seq);
        if (seqs.length === total) resolve();
      });
    });
    const params = { channel: 'hasty', body: {} };
    for (let id = 0; id < total; id++) {
      ada.ws.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'channels.send', params }));
    }
    await within('every answer', all);
    expect(seqs).toEqual(Array.from({ length: total }, (_, i) => i + 1));
    await ada.close();
  });
});

describe('a peer that is not there', () => {
  test('[W7] is pinged, and let go when it answers no ping; one that answers stays', async () => {
    const pinging = await openRunningHub({ hooks: { pingMs: 100 } });
    const there = await openRpcSocket(pinging.url, pinging.as('there'));
    // A half-open peer: the socket stands, nothing ever comes back.
    const silent = await openRpcSocket(pinging.url, pinging.as('silent'));
    silent.ws.pong = () => {};
    (silent.ws as unknown as { _autoPong: boolean })._autoPong = false;
    const pings: number[] = [];
    silent.ws.on('ping', () => pings.push(1));
    await within('the silent peer is let go', silent.closed);
    expect(pings.length).toBeGreaterThanOrEqual(2);
    expect((await there.ask('hub.whoami')).agent_id).toBe('there');
    await there.close();
    await pinging.close();
  });
});

describe('a peer that is idle', () => {
  test('[W10] costs the hub nothing of its request, headers included', async () => {
    const heldRequests = async (): Promise<number> =>
      queryObjects(IncomingMessage, { format: 'count' });
    const before = await heldRequests();
    const idle = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        // No client of this process, which would hold the answer to its own request.
        const raw = await openRawSocket(hub.port);
        const headers = Object.entries(hub.as(`idle-${i}`)).map(
          ([name, value]) => `${name}: ${value}`,
        );
        raw.write(
          `GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${headers.join('\r\n')}\r\n` +
            'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
        );
        await raw.until('101 Switching Protocols');
        return raw;
      }),
    );
    await until('no request is held', heldRequests, (held) => held <= before);
    for (const raw of idle) raw.close();
  });
});

describe('a hub that stops', () => {
  test('[W8] closes every connection with 1001 and ends every stream', async () => {
    const stopping = await openRunningHub();
    const ada = await openRpcSocket(stopping.url, stopping.as('ada'));
    await ada.ask('stream.open');
    await stopping.close();
    expect((await within('the close', ada.closed)).code).toBe(1001);
  });
});
