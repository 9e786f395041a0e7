/** Server-sent events over real sockets: resuming, keeping alive, refusing, and readers that do not read. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until, within } from '../../../test/e2e/deadline.ts';
import { openEventStream } from '../../../test/e2e/event-stream.ts';
import { openRawSocket } from '../../../test/e2e/raw-socket.ts';
import { openRpcSocket } from '../../../test/e2e/rpc-socket.ts';
import { openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';

let hub: RunningHub;
const open = (agent: string, query = '', headers: Record<string, string> = {}) =>
  openEventStream(hub.url, { ...hub.as(agent), ...headers }, query);

beforeAll(async () => {
  hub = await openRunningHub({ hooks: { keepaliveMs: 50, slowFarewellMs: 3_000 } });
});
afterAll(() => hub.close());

describe('a stream', () => {
  test('[F1] carries the envelope, under the id that resumes behind it', async () => {
    await hub.ask('ada', 'subscribe', { pattern: 'sse/*' });
    const stream = await open('ada');
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
    });
    expect(stream.headers['cache-control']).toContain('no-cache');
    const sent = await hub.ask('bob', 'send', { channel: 'sse/a', body: { text: 'a\n\nb' } });
    const { id, event, body } = await stream.next();
    expect([event, `m${id}`]).toEqual(['message', sent.message_id]);
    expect(body).toEqual({
      channel: 'sse/a',
      sender: 'bob',
      body: { text: 'a\n\nb' },
      standing: 'agent/trusted',
      sent_at: sent.sent_at,
      message_id: sent.message_id,
      seq: 1,
      correlation_id: null,
      ts: expect.any(Number),
      reply_to: null,
      position: Number(id),
    });
    stream.close();
  });

  test('[F2] resumes from Last-Event-ID without a loss or a repeat, broken off under load', async () => {
    await hub.ask('resumer', 'subscribe', { pattern: 'load/*' });
    const total = 600;
    let stream = await open('resumer');
    const sending = (async () => {
      for (let n = 1; n <= total; n += 20) {
        const some = Array.from({ length: 20 }, (_, i) => n + i);
        // One after the other: the order of the test is the order of the log.
        for (const each of some)
          await hub.ask('bob', 'send', { channel: `load/${each % 4}`, body: { n: each } });
      }
    })();
    const seen: number[] = [];
    while (seen.length < total) {
      const { id, body } = await stream.next('message');
      seen.push(body.body.n);
      if (seen.length % 90 !== 0) continue;
      // Whatever is on its way beyond this event is lost with the socket.
      stream.close();
      stream = await open('resumer', '', { 'last-event-id': String(id) });
    }
    await sending;
    expect(seen).toEqual(Array.from({ length: total }, (_, i) => i + 1));
    stream.close();
  });

  test('[F2] from the inbox gives what is owed first, and takes nothing', async () => {
    await hub.ask('owed', 'subscribe', { pattern: 'owed' });
    for (const n of [1, 2]) await hub.ask('bob', 'send', { channel: 'owed', body: { n } });
    const stream = await open('owed', '?from=inbox');
    const seen = [(await stream.next()).body.body.n, (await stream.next()).body.body.n];
    await hub.ask('bob', 'send', { channel: 'owed', body: { n: 3 } });
    seen.push((await stream.next()).body.body.n);
    expect(seen).toEqual([1, 2, 3]);
    expect((await hub.ask('owed', 'recv')).messages).toHaveLength(3);
    stream.close();
  });

  test('[F2] names channels without a subscription, and goes back to the start of the log on demand', async () => {
    for (const n of [1, 2, 3]) await hub.ask('bob', 'send', { channel: 'named', body: { n } });
    for (const from of ['-1', '0']) {
      const stream = await open('watcher', `?channels=named,other&from=${from}`);
      for (const n of [1, 2, 3]) expect((await stream.next()).body.body.n).toBe(n);
      stream.close();
    }
  });

  test('[F5] says that it is there while there is nothing to say', async () => {
    const stream = await open('idle');
    await stream.comment((text) => text.includes('here'));
    expect(stream.events).toEqual([]);
    stream.close();
  });

  test('[R3] carries receipts when asked, to the sender and to the recipient', async () => {
    await hub.ask('rec', 'subscribe', { pattern: 'receipts' });
    const bySender = await open('bob', '?receipts=1');
    const byRecipient = await open('rec', '?receipts=1');
    const byOther = await open('other', '?receipts=1');
    const { message_id } = await hub.ask('bob', 'send', { channel: 'receipts', body: {} });
    await hub.ask('rec', 'recv');
    await hub.ask('rec', 'channels_ack', { message_id, status: 'nack', reason: 'no time' });
    for (const stream of [bySender, byRecipient]) {
      const states: string[] = [];
      while (states.at(-1) !== 'refused') {
        const { body } = await stream.next('receipt');
        expect(body).toMatchObject({ message_id, channel: 'receipts', agent_id: 'rec' });
        states.push(body.state);
      }
      expect(states).toContain('consumed');
      stream.close();
    }
    await byOther.comment((text) => text.includes('here'));
    expect(byOther.events).toEqual([]);
    byOther.close();
  });
});

describe('a stream is refused', () => {
  test.each([
    ['a position that is no number', '?from=yesterday', {}, 400, 'validation_error'],
    ['a position beyond the log', '?from=999999999', {}, 400, 'validation_error'],
    ['an id that is no position', '', { 'last-event-id': 'x1' }, 400, 'validation_error'],
    ['an empty channel', '?channels=', {}, 400, 'validation_error'],
    ['a channel name too long', `?channels=${'x'.repeat(257)}`, {}, 400, 'validation_error'],
    ['a glob over dms', '?channels=dm/*', {}, 400, 'validation_error'],
    ['a dm of others', '?channels=dm/ada~bob', {}, 403, 'identity_failure'],
    ['a group of others', '?channels=group/secret', {}, 403, 'identity_failure'],
    ['a wrong token', '', { authorization: 'Bearer wrong' }, 401, 'identity_failure'],
  ] as const)('[O1] with %s', async (_, query, headers, status, code) => {
    const stream = await open('eve', query, headers);
    expect(stream.status).toBe(status);
    expect(await stream.refusal()).toMatchObject({
      error_code: code,
      message: expect.any(String),
      detail: { reason: expect.any(String) },
    });
  });
});

describe('how streams end', () => {
  test('[I5] a revoked token ends its stream with the reason', async () => {
    const { token, token_id } = await hub.admin('tokens_create', { agent_id: 'eve' });
    const stream = await openEventStream(hub.url, { authorization: `Bearer ${token}` });
    await hub.admin('tokens_revoke', { token_id });
    expect((await stream.next('end')).body).toEqual({ reason: 'revoked' });
    await within('the end of the response', stream.ended);
  });

  test('[I5] an expired token ends its stream at its deadline', async () => {
    const { token } = await hub.admin('tokens_create', { agent_id: 'brief', ttl: 3 });
    const stream = await openEventStream(hub.url, { authorization: `Bearer ${token}` });
    expect((await stream.next('end')).body).toEqual({ reason: 'expired' });
    await within('the end of the response', stream.ended);
  });

  test('[F3] a reader that does not read is cut off, and its socket with it', async () => {
    const stalled = await open('stalled', '?channels=sse-flood');
    const reader = await open('reader', '?channels=sse-flood');
    stalled.pause();
    const before = (await hub.ask('watcher', 'status')).feeds;
    const text = 'x'.repeat(500_000);
    let sent = 0;
    await until(
      'one feed is gone',
      async () => {
        sent++;
        await hub.ask('bob', 'send', { channel: 'sse-flood', body: { text } });
        await reader.next('message');
        return (await hub.ask('watcher', 'status')).feeds;
      },
      (feeds) => feeds === before - 1,
    );
    expect(reader.events.map(({ body }) => body.seq)).toEqual(
      Array.from({ length: sent }, (_, i) => i + 1),
    );
    stalled.resume();
    await within('the stalled response ends', stalled.ended);
    reader.close();
  });

  test('[F3] a reader that never reads again cannot keep the socket', async () => {
    const raw = await openRawSocket(hub.port);
    const lines = Object.entries(hub.as('never')).map(([name, value]) => `${name}: ${value}\r\n`);
    raw.write(
      `GET /v1/stream?channels=sse-flood HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`,
    );
    await raw.until(': synod');
    raw.socket.pause();
    const before = (await hub.ask('watcher', 'status')).feeds;
    const text = 'x'.repeat(900_000);
    await until(
      'its feed is gone',
      async () => {
        await hub.ask('bob', 'send', { channel: 'sse-flood', body: { text } });
        return (await hub.ask('watcher', 'status')).feeds;
      },
      (feeds) => feeds === before - 1,
    );
    // A socket that is not read learns by writing that the other side is gone.
    const nagging = setInterval(() => raw.write('\r\n'), 20);
    await within('the hub lets go', raw.ended).finally(() => clearInterval(nagging));
  });

  test('[F3] a reader that does not read is cut off over receipts alone', async () => {
    const agents = Array.from({ length: 90 }, (_, i) => `many-${i}`);
    // A long name makes large receipts: the socket's own buffers take tens of megabytes before ours fills.
    const channel = '漢'.repeat(250);
    for (const agent of agents) await hub.ask(agent, 'subscribe', { pattern: channel });
    const sender = await openRpcSocket(hub.url, hub.as('sender'));
    const request = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'channels.send',
      params: { channel, body: {} },
    });
    sender.ws.send(JSON.stringify(Array.from({ length: 1_000 }, (_, i) => request(i))));
    expect(await sender.frame()).toHaveLength(1_000);
    const before = (await hub.ask('watcher', 'status')).feeds;
    const stalled = await open('sender', '?receipts=1');
    stalled.pause();
    // Each drain is a thousand receipts for the sender.
    for (const agent of agents) {
      await hub.ask(agent, 'recv', { max_messages: 1_000, include_meta: false });
      if ((await hub.ask('watcher', 'status')).feeds === before) break;
    }
    expect((await hub.ask('watcher', 'status')).feeds).toBe(before);
    stalled.resume();
    await within('the stalled response ends', stalled.ended);
    await sender.close();
  });

  test('[F3] what is owed in large messages reaches a reader that reads, however much it is', async () => {
    await hub.ask('much', 'subscribe', { pattern: 'sse-large' });
    const text = 'x'.repeat(900_000);
    for (let n = 1; n <= 25; n++)
      await hub.ask('bob', 'send', { channel: 'sse-large', body: { n, text } });
    const stream = await open('much', '?from=inbox');
    for (let n = 1; n <= 25; n++) expect((await stream.next('message')).body.body.n).toBe(n);
    await hub.ask('bob', 'send', { channel: 'sse-large', body: { n: 26 } });
    expect((await stream.next()).body.body.n).toBe(26);
    stream.close();
  });

  test('[W8] a hub that stops ends its streams with the reason', async () => {
    const stopping = await openRunningHub();
    const stream = await openEventStream(stopping.url, stopping.as('ada'));
    await stopping.close();
    expect((await stream.next('end')).body).toEqual({ reason: 'shutting_down' });
    await within('the end of the response', stream.ended);
  });
});
