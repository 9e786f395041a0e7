/** The WebSocket door over real sockets: JSON-RPC 2.0 to the letter, streams, and how connections end. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until, within } from '../../../test/e2e/deadline.ts';
import { openRawSocket } from '../../../test/e2e/raw-socket.ts';
import { openRpcSocket, type RpcSocket, turnedAway } from '../../../test/e2e/rpc-socket.ts';
import { openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';

let hub: RunningHub;
const open = (agent: string): Promise<RpcSocket> => openRpcSocket(hub.url, hub.as(agent));

beforeAll(async () => {
  hub = await openRunningHub();
});
afterAll(() => hub.close());

describe('JSON-RPC', () => {
  test('[W1] a frame that is not JSON is answered with -32700 and id null, and the connection goes on', async () => {
    const ada = await open('ada');
    for (const bad of ['', '{', 'nope', '{"jsonrpc":']) {
      ada.ws.send(bad);
      const { id, error } = await ada.frame();
      expect([id, error.code, error.data.error_code]).toEqual([null, -32_700, 'validation_error']);
    }
    ada.ws.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"hub.whoami"}'), { binary: true });
    expect((await ada.frame()).error.code).toBe(-32_700);
    expect((await ada.ask('hub.whoami')).agent_id).toBe('ada');
    await ada.close();
  });

  test('[W1] what is JSON but no request is answered with -32600', async () => {
    const ada = await open('ada');
    const method = 'hub.whoami';
    for (const bad of [
      1,
      'text',
      null,
      {},
      { jsonrpc: '1.0', id: 1, method },
      { jsonrpc: '2.0', id: 1 },
      { jsonrpc: '2.0', id: 1, method: 7 },
      { jsonrpc: '2.0', id: {}, method },
      { jsonrpc: '2.0', id: [1], method },
    ]) {
      ada.ws.send(JSON.stringify(bad));
      const { id, error } = await ada.frame();
      expect([id, error.code]).toEqual([null, -32_600]);
    }
    await ada.close();
  });

  test('[W1] an unknown method is -32601, wrong params are -32602 with every violation named', async () => {
    const ada = await open('ada');
    const unknown = await ada.call('channels.shout');
    expect([unknown.error.code, unknown.error.data.detail.reason]).toEqual([
      -32_601,
      'operation.unknown',
    ]);
    for (const method of ['constructor', '__proto__', 'toString', '']) {
      expect((await ada.call(method)).error.code).toBe(-32_601);
    }
    const wrong = await ada.call('channels.send', { channel: 7, colour: 'red' });
    expect(wrong.error.code).toBe(-32_602);
    const fields = wrong.error.data.detail.violations.map((one: { field: string }) => one.field);
    expect(fields.sort()).toEqual(['body', 'channel', 'colour']);
    expect((await ada.call('hub.whoami', ['by position'])).error.code).toBe(-32_602);
    expect((await ada.call('stream.close', { stream: 7 })).error.code).toBe(-32_602);
    expect((await ada.call('stream.close', { stream: 's1', now: true })).error.code).toBe(-32_602);
    await ada.close();
  });

  test('[W1] ids come back as they were given: number, text, empty text, null', async () => {
    const ada = await open('ada');
    for (const id of [0, -1, 1.5, 'a"b', '', null]) {
      ada.ws.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'hub.whoami' }));
      const frame = await ada.frame();
      expect(frame).toMatchObject({ jsonrpc: '2.0', id, result: { agent_id: 'ada' } });
    }
    await ada.close();
  });

  test('[W2] a notification is carried out and never answered, not even when it is refused', async () => {
    const ada = await open('ada');
    const params = { channel: 'quiet', body: { n: 1 } };
    ada.ws.send(JSON.stringify({ jsonrpc: '2.0', method: 'channels.send', params }));
    ada.ws.send(JSON.stringify({ jsonrpc: '2.0', method: 'no.such' }));
    ada.ws.send(JSON.stringify({ jsonrpc: '2.0', method: 'channels.send', params: 7 }));
    const sent = await ada.ask('channels.send', { channel: 'quiet', body: {} });
    expect(sent.seq).toBe(2);
    expect(ada.said).toEqual([]);
    await ada.close();
  });

  test('[W3] a batch is answered by one array with one answer for each request, notifications apart', async () => {
    const ada = await open('ada');
    const request = (id: unknown, method: string, params: unknown = {}) => ({
      jsonrpc: '2.0',
      id,
      method,
      params,
    });
    ada.ws.send(
      JSON.stringify([
        request(1, 'no.such'),
        request(2, 'channels.send', { channel: 'batch', body: {} }),
        7,
        { jsonrpc: '2.0', method: 'channels.send', params: { channel: 'batch', body: {} } },
        request(3, 'hub.whoami'),
        request(4, 'also.unknown'),
      ]),
    );
    const answers = await ada.frame();
    expect(answers).toHaveLength(5);
    const byId = new Map(answers.map((one: { id: unknown }) => [one.id, one]));
    expect([...byId.keys()].sort()).toEqual([1, 2, 3, 4, null].sort());
    expect(byId.get(2)).toMatchObject({ result: { seq: 1 } });
    expect(byId.get(null)).toMatchObject({ error: { code: -32_600 } });
    // Nothing else was said: the next thing heard is the answer to this call.
    expect((await ada.ask('channels.send', { channel: 'batch', body: {} })).seq).toBe(3);
    expect(ada.said).toHaveLength(1);
    await ada.close();
  });

  test('[W3] a batch of notifications is not answered; an empty or too large one is -32600', async () => {
    const ada = await open('ada');
    const note = { jsonrpc: '2.0', method: 'channels.send', params: { channel: 'n', body: {} } };
    ada.ws.send(JSON.stringify([note, note]));
    expect((await ada.ask('channels.send', { channel: 'n', body: {} })).seq).toBe(3);
    expect(ada.said).toEqual([]);
    for (const batch of [[], new Array(1_001).fill(note)]) {
      ada.ws.send(JSON.stringify(batch));
      expect((await ada.frame()).error.code).toBe(-32_600);
    }
    expect((await ada.ask('channels.send', { channel: 'n', body: {} })).seq).toBe(4);
    await ada.close();
  });
});

describe('streams', () => {
  test('[F1] a push is the envelope and its position, and comes after the answer that opened the stream', async () => {
    const ada = await open('ada');
    await ada.ask('channels.subscribe', { pattern: 'push/*' });
    const sent = await hub.ask('bob', 'send', { channel: 'push/a', body: { n: 1 } });
    const order: string[] = [];
    ada.ws.on('message', (raw) => {
      const frame = JSON.parse(raw.toString());
      order.push(frame.method ?? 'answer');
    });
    const opened = await ada.ask('stream.open', { from: 'inbox' });
    expect(opened).toEqual({ stream: expect.any(String), position: expect.any(Number) });
    const { position, ...envelope } = await ada.next('message');
    expect(order).toEqual(['answer', 'message']);
    expect(`m${position}`).toBe(sent.message_id);
    expect(envelope).toEqual({
      channel: 'push/a',
      sender: 'bob',
      body: { n: 1 },
      standing: 'agent/trusted',
      sent_at: sent.sent_at,
      message_id: sent.message_id,
      seq: 1,
      correlation_id: null,
      ts: expect.any(Number),
      reply_to: null,
    });
    await ada.close();
  });

  test('[F2] a stream resumes after the last position seen: nothing lost, nothing twice', async () => {
    const first = await open('resumer');
    await first.ask('channels.subscribe', { pattern: 'resume/*' });
    const bob = await open('bob');
    await first.ask('stream.open');
    const seen: number[] = [];
    let last = -1;
    const sending = (async () => {
      for (let n = 1; n <= 400; n++) {
        await bob.ask('channels.send', { channel: `resume/${n % 3}`, body: { n } });
      }
    })();
    let socket = first;
    while (seen.length < 400) {
      const { body, position } = await socket.next('message');
      seen.push(body.n);
      last = position;
      if (seen.length % 60 !== 0) continue;
      // What was pushed beyond this one and not looked at is lost with the connection, as in life.
      await socket.close();
      socket = await open('resumer');
      await socket.ask('stream.open', { from: last });
    }
    await sending;
    expect(seen).toEqual(Array.from({ length: 400 }, (_, i) => i + 1));
    expect((await hub.ask('resumer', 'inbox_commit', { through: last })).committed).toBe(400);
    expect((await hub.ask('resumer', 'inbox_peek')).owed).toBe(0);
    await socket.close();
    await bob.close();
  });

  test('[F6] a position beyond the log is refused, and so is one that is no number', async () => {
    const ada = await open('ada');
    for (const from of [1e9, -2, 1.5, 'yesterday', null, []]) {
      const { error } = await ada.call('stream.open', { from });
      expect(error.data.error_code).toBe('validation_error');
    }
    await ada.close();
  });

  test('[W4] a connection has at most sixteen streams, also when they are asked for at once', async () => {
    const ada = await open('ada');
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => ada.call('stream.open', { channels: ['bound'] })),
    );
    const opened = answers.filter((one) => one.result !== undefined);
    const refused = answers.filter((one) => one.error !== undefined);
    expect(opened).toHaveLength(16);
    expect(refused[0].error).toMatchObject({
      code: -32_030,
      data: { error_code: 'rate_limited', detail: { reason: 'limit.reached' } },
    });
    const { stream } = opened[0].result;
    expect(await ada.ask('stream.close', { stream })).toEqual({ closed: true });
    expect(await ada.ask('stream.close', { stream })).toEqual({ closed: false });
    expect((await ada.call('stream.open', { channels: ['bound'] })).result).toBeDefined();
    expect((await ada.call('stream.open', { channels: ['bound'] })).error).toBeDefined();
    await ada.close();
    // Streams end with their connection.
    await until(
      'the feeds are gone',
      () => hub.ask('ada', 'status'),
      ({ feeds }) => feeds === 0,
    );
  });

  test('[F3] what is owed in large messages reaches a reader that reads, however much it is', async () => {
    const ada = await open('reader-of-much');
    await ada.ask('channels.subscribe', { pattern: 'large' });
    const text = 'x'.repeat(900_000);
    for (let n = 1; n <= 40; n++) {
      await hub.ask('bob', 'send', { channel: 'large', body: { n, text } });
    }
    await ada.ask('stream.open', { from: 'inbox' });
    for (let n = 1; n <= 40; n++) expect((await ada.next('message')).body.n).toBe(n);
    expect((await ada.ask('hub.whoami')).agent_id).toBe('reader-of-much');
    await ada.close();
  });
});

describe('how connections end', () => {
  test('[W5] a frame over 4 MiB closes with 1009 and changes nothing', async () => {
    const before = await hub.mark();
    const ada = await open('ada');
    const params = { channel: 'huge', body: { text: 'x'.repeat(5 * 1024 * 1024) } };
    ada.ws.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'channels.send', params }));
    expect((await within('the close', ada.closed)).code).toBe(1009);
    expect(await hub.mark()).toBe(before);
  });

  test('[I5] revoking a token closes its connections with 4001 and no other', async () => {
    const token = await hub.admin('tokens_create', { agent_id: 'eve' });
    const other = await hub.admin('tokens_create', { agent_id: 'eve' });
    const eve = await openRpcSocket(hub.url, { authorization: `Bearer ${token.token}` });
    const stays = await openRpcSocket(hub.url, { authorization: `Bearer ${other.token}` });
    await hub.admin('tokens_revoke', { token_id: token.token_id });
    expect(await within('the close', eve.closed)).toEqual({ code: 4001, reason: 'revoked' });
    expect((await stays.ask('hub.whoami')).agent_id).toBe('eve');
    await stays.close();
  });

  test('[I5] a token that expires closes its connections at its deadline', async () => {
    const { token } = await hub.admin('tokens_create', { agent_id: 'brief', ttl: 3 });
    const brief = await openRpcSocket(hub.url, { authorization: `Bearer ${token}` });
    expect((await brief.ask('hub.whoami')).agent_id).toBe('brief');
    expect((await within('the close', brief.closed)).code).toBe(4001);
    expect((await turnedAway(hub.url, { authorization: `Bearer ${token}` })).status).toBe(401);
  });

  test('[I5] a token revoked while its connection is being admitted opens nothing', async () => {
    for (let round = 0; round < 20; round++) {
      const { token, token_id } = await hub.admin('tokens_create', { agent_id: 'race' });
      const admitted = openRpcSocket(hub.url, { authorization: `Bearer ${token}` }).catch(
        () => null,
      );
      await hub.admin('tokens_revoke', { token_id });
      const socket = await admitted;
      if (socket !== null) await within('the close', socket.closed);
    }
  });

  test('a browser shows its credential as subprotocols, and the hub answers with its own', async () => {
    const part = (name: string, value: string) =>
      `synod.${name}.${Buffer.from(value).toString('base64url')}`;
    const protocols = ['synod.v1', part('token', hub.owner), part('agent', 'page')];
    const page = await openRpcSocket(hub.url, {}, protocols);
    expect(page.ws.protocol).toBe('synod.v1');
    expect((await page.ask('hub.whoami')).agent_id).toBe('page');
    await page.close();
    const wrong = ['synod.v1', part('token', 'own_wrong'), part('agent', 'page')];
    expect((await turnedAway(hub.url, {}, wrong)).status).toBe(401);
  });

  test('[O1] who is turned away gets the envelope and the status of the error table', async () => {
    expect(await turnedAway(hub.url)).toMatchObject({
      status: 401,
      body: { error_code: 'identity_failure', detail: { reason: 'access.unknown' } },
    });
    const nowhere = { ...hub.as('ada'), 'x-sox-namespace': 'Not A Space' };
    expect(await turnedAway(hub.url, nowhere)).toMatchObject({
      status: 400,
      body: { error_code: 'validation_error', detail: { reason: 'space.name-invalid' } },
    });
  });

  test('[W6] a peer that was turned away cannot keep the socket open', async () => {
    const raw = await openRawSocket(hub.port);
    raw.socket.allowHalfOpen = true;
    raw.write(
      'GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    expect(await raw.until('}')).toMatch(/^HTTP\/1\.1 401 /);
    // A socket that is only half closed takes what is written to it; one that is gone resets.
    const reset = new Promise<void>((resolve) => raw.socket.on('close', () => resolve()));
    const nagging = setInterval(() => raw.write('more'), 10);
    await within('the hub has let go', reset).finally(() => clearInterval(nagging));
  });

  test('[N1] a caller that disconnects while it waits loses nothing', async () => {
    const ada = await open('waiter');
    await ada.ask('channels.subscribe', { pattern: 'wait' });
    const waiting = { jsonrpc: '2.0', id: 9, method: 'channels.recv', params: { wait_ms: 60_000 } };
    ada.ws.send(JSON.stringify(waiting));
    // The wait has begun once a later call on the same connection is answered.
    await ada.ask('hub.whoami');
    await ada.close();
    await until(
      'the hub noticed',
      () => hub.ask('watcher', 'status'),
      () => true,
    );
    await hub.ask('bob', 'send', { channel: 'wait', body: { n: 1 } });
    expect((await hub.ask('waiter', 'recv')).messages).toHaveLength(1);
  });
});

test('[O3] a reply, and a send to a typed channel, count once like any call', async () => {
  const limited = await openRunningHub({ file: { rate_limit: 4 } });
  await limited.admin('channels_configure', { channel: 'typed', schema: { type: 'object' } });
  const ada = await openRpcSocket(limited.url, limited.as('ada'));
  const { message_id: reply_to } = await ada.ask('channels.send', { channel: 'a', body: {} });
  await ada.ask('channels.send', { channel: 'a', body: {}, reply_to });
  await ada.ask('channels.send', { channel: 'typed', body: {} });
  await ada.ask('channels.send', { channel: 'typed', body: {}, reply_to, quote: true });
  await ada.close();
  await limited.close();
});
