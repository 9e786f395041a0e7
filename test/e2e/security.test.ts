/**
 * Nothing reaches the hub from a web page, a rebound name or a stranger, by any route; and bad
 * input gets its documented code at each door and changes nothing. "Nothing" is looked up: length
 * and head of the log are compared before and after.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { within } from './deadline.ts';
import { openEventStream } from './event-stream.ts';
import { openRawSocket } from './raw-socket.ts';
import { openRpcSocket, turnedAway } from './rpc-socket.ts';
import {
  fetchReply,
  type Headers,
  type Json,
  openRunningHub,
  type RunningHub,
} from './running-hub.ts';

let hub: RunningHub;
let before = '';
beforeAll(async () => {
  hub = await openRunningHub({
    flags: { corsOrigin: ['http://localhost:*', 'https://app.example'] },
  });
  await hub.ask('ada', 'send', { channel: 'kept', body: { n: 1 } });
  before = await hub.mark();
});
afterAll(() => hub.close());

const EVIL_HOSTS = (): string[] => [
  'evil.example',
  `evil.example:${hub.port}`,
  `localhost.evil.example:${hub.port}`,
  `127.0.0.1.evil.example:${hub.port}`,
  '0.0.0.0',
  '192.168.0.1',
];
const EVIL_ORIGINS = [
  'https://evil.example',
  'http://localhost.evil.example',
  'http://localhost:80.evil.example',
  'http://evil.example:8080',
  'https://localhost:3000',
  'https://app.example.evil.example',
  'https://app.example:444',
  'http://app.example',
  'null',
  'file://',
];

/** Every way in: a request to it with these headers, and the status it answered with. */
const ROUTES: [string, (headers: Headers) => Promise<{ status: number; body: Json }>][] = [
  ['POST /v1/ops/send', (headers) => hub.post('send', { channel: 'x', body: {} }, headers)],
  ['GET /health', (headers) => fetchReply(`${hub.url}/health`, { headers })],
  ['GET /openapi.json', (headers) => fetchReply(`${hub.url}/openapi.json`, { headers })],
  ['GET /nothing', (headers) => fetchReply(`${hub.url}/nothing`, { headers })],
  [
    'POST /mcp',
    (headers) =>
      fetchReply(`${hub.url}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      }),
  ],
  ['GET /mcp', (headers) => fetchReply(`${hub.url}/mcp`, { headers })],
  [
    'GET /v1/stream',
    async (headers) => {
      const stream = await openEventStream(hub.url, headers);
      if (stream.status !== 200) return { status: stream.status, body: await stream.refusal() };
      stream.close();
      return { status: 200, body: {} };
    },
  ],
  [
    'OPTIONS /v1/ops/send',
    (headers) => fetchReply(`${hub.url}/v1/ops/send`, { method: 'OPTIONS', headers }),
  ],
  [
    'OPTIONS /v1/stream',
    (headers) => fetchReply(`${hub.url}/v1/stream`, { method: 'OPTIONS', headers }),
  ],
  ['OPTIONS /mcp', (headers) => fetchReply(`${hub.url}/mcp`, { method: 'OPTIONS', headers })],
  ['upgrade /ws', (headers) => turnedAway(hub.url, headers)],
  ['upgrade /ws?x', (headers) => turnedAway(`${hub.url}/ws?x=`, headers)],
  ['upgrade /mcp', (headers) => turnedAway(`${hub.url}/mcp`, headers)],
];

describe('a foreign Host, with the right credential,', () => {
  test.each(ROUTES)('[I6] is misdirected at %s', async (_, ask) => {
    for (const host of EVIL_HOSTS()) {
      const { status } = await ask({ ...hub.as('ada'), host });
      expect([host, status]).toEqual([host, 421]);
    }
    // What is no host name at all may be turned away before anybody looks whose it is.
    for (const host of [`127.0.0.1:${hub.port}.evil.example`, `evil@localhost:${hub.port}`]) {
      const { status } = await ask({ ...hub.as('ada'), host });
      expect([host, status]).toEqual([host, status === 400 ? 400 : 421]);
    }
    expect(await hub.mark()).toBe(before);
  });

  test('[I6] is misdirected when the request line says it too, and so is no Host at all', async () => {
    const ask = async (text: string): Promise<string> => {
      const raw = await openRawSocket(hub.port);
      raw.write(text);
      const head = (await raw.until('\r\n\r\n')).split('\r\n')[0] ?? '';
      raw.close();
      return head;
    };
    const auth = `authorization: Bearer ${hub.owner}\r\nx-sox-agent-id: ada\r\n`;
    const body = '{"channel":"x","body":{}}';
    const tail = `${auth}content-length: ${body.length}\r\n\r\n${body}`;
    expect(
      await ask(`POST http://evil.example/v1/ops/send HTTP/1.1\r\nhost: evil.example\r\n${tail}`),
    ).toContain('421');
    expect(await ask(`POST /v1/ops/send HTTP/1.0\r\n${tail}`)).toMatch(/ 4(00|21) /);
    expect(
      await ask(`POST /v1/ops/send HTTP/1.1\r\nhost: evil.example\r\nhost: localhost\r\n${tail}`),
    ).toMatch(/ 4(00|21) /);
    expect(await hub.mark()).toBe(before);
  });
});

describe('a foreign Origin, with the right credential,', () => {
  test.each(ROUTES)('[I6] is forbidden at %s', async (_, ask) => {
    for (const origin of EVIL_ORIGINS) {
      const { status, body } = await ask({ ...hub.as('ada'), origin });
      expect([origin, status]).toEqual([origin, 403]);
      expect(body).toMatchObject({
        error_code: 'identity_failure',
        detail: { reason: 'origin.foreign' },
      });
    }
    expect(await hub.mark()).toBe(before);
  });
});

describe('who may come in', () => {
  test('[I6] no Origin with a credential; our own pages; origins allowed by name', async () => {
    for (const origin of [
      undefined,
      hub.url,
      'http://localhost:5173',
      'http://localhost',
      'https://app.example',
    ]) {
      const { status, headers } = await hub.post('whoami', {}, { ...hub.as('ada'), origin });
      expect([origin, status]).toEqual([origin, 200]);
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
    for (const host of [
      `localhost:${hub.port}`,
      `127.0.0.1:${hub.port}`,
      `[::1]:${hub.port}`,
      'LOCALHOST',
    ]) {
      expect((await hub.post('whoami', {}, { ...hub.as('ada'), host })).status).toBe(200);
    }
  });

  test('[I6] a preflight is answered before authentication, for allowed origins', async () => {
    const headers = { origin: 'http://localhost:5173', 'access-control-request-method': 'POST' };
    const reply = await fetchReply(`${hub.url}/v1/ops/send`, { method: 'OPTIONS', headers });
    expect(reply.status).toBe(204);
    expect(reply.headers['access-control-allow-origin']).toBe('http://localhost:5173');
    expect(reply.headers['access-control-allow-headers']).toContain('authorization');
  });

  test('[I6] by default no origin is allowed but our own', async () => {
    const closed = await openRunningHub();
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1:1', 'https://evil.example']) {
      const { status, headers } = await closed.post('whoami', {}, { ...closed.as('ada'), origin });
      expect(status).toBe(403);
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
    await closed.close();
  });

  test('[I6] a form that posts text/plain from a web page changes nothing, in open mode neither', async () => {
    const open = await openRunningHub({ flags: { auth: 'open' } });
    const mark = await open.mark();
    const body = '{"channel":"x","body":{"a":"="}}';
    for (const origin of ['https://evil.example', 'null', undefined]) {
      const { status } = await open.post('send', body, { 'content-type': 'text/plain', origin });
      expect(status).toBe(origin === undefined ? 401 : 403);
    }
    // The one who names nobody is refused and recorded; nothing was said.
    expect((await open.ask('w', 'list_channels')).channels).toEqual([]);
    expect(mark).toBeDefined();
    await open.close();
  });

  test('[O1] a client that offers HTTP/2 is answered in HTTP/1.1', async () => {
    const raw = await openRawSocket(hub.port);
    raw.write(
      'GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n',
    );
    expect(await raw.until('"status":"ok"')).toMatch(/^HTTP\/1\.1 200 /);
    raw.close();
  });
});

/** Ends in an exception if it is read as JSON carelessly, and in a stack overflow if walked so. */
const DEPTH = 100_000;
const DEEP = `${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`;
const LONG = 'x'.repeat(257);
const MEGABYTE = 'x'.repeat(1024 * 1024);

/** Input as JSON text, and what it is answered with at HTTP and by JSON-RPC. */
const BAD: [string, string, string, number, number, string][] = [
  [
    'a body of the wrong type',
    'send',
    '{"channel":"c","body":"text"}',
    400,
    -32_602,
    'input.invalid',
  ],
  ['a body that is a list', 'send', '{"channel":"c","body":[]}', 400, -32_602, 'input.invalid'],
  ['no body', 'send', '{"channel":"c"}', 400, -32_602, 'input.invalid'],
  ['a number for a name', 'send', '{"channel":7,"body":{}}', 400, -32_602, 'input.invalid'],
  [
    'an extra field',
    'send',
    '{"channel":"c","body":{},"sender":"eve"}',
    400,
    -32_602,
    'input.invalid',
  ],
  ['input that is a list', 'send', '[]', 400, -32_602, 'input.invalid'],
  ['input that is text', 'send', '"send"', 400, -32_602, 'input.invalid'],
  ['input that is a number', 'send', '7', 400, -32_602, 'input.invalid'],
  ['an empty name', 'send', '{"channel":"","body":{}}', 400, -32_602, 'input.invalid'],
  ['a name too long', 'send', `{"channel":"${LONG}","body":{}}`, 400, -32_602, 'input.invalid'],
  [
    'a control character in a name',
    'send',
    '{"channel":"a\\u0000b","body":{}}',
    400,
    -32_018,
    'channel.name-invalid',
  ],
  ['a pattern too long', 'subscribe', `{"pattern":"${LONG}"}`, 400, -32_602, 'input.invalid'],
  [
    'a correlation id too long',
    'send',
    `{"channel":"c","body":{},"correlation_id":"${LONG}"}`,
    400,
    -32_602,
    'input.invalid',
  ],
  [
    'a reason too long',
    'channels_ack',
    `{"message_id":"m0","status":"done","reason":"${'x'.repeat(513)}"}`,
    400,
    -32_602,
    'input.invalid',
  ],
  [
    'a status there is not',
    'channels_ack',
    '{"message_id":"m0","status":"accept"}',
    400,
    -32_602,
    'input.invalid',
  ],
  [
    'a prototype for a field',
    'send',
    '{"channel":"c","body":{},"__proto__":{"x":1}}',
    400,
    -32_602,
    'input.invalid',
  ],
  ['a number that is no count', 'recv', '{"max_messages":1e400}', 400, -32_602, 'input.invalid'],
  [
    'a negative limit',
    'replay',
    '{"channel":"kept","since":0,"limit":-1}',
    400,
    -32_602,
    'input.invalid',
  ],
  [
    'a body over 1 MiB',
    'send',
    `{"channel":"c","body":{"t":"${MEGABYTE}"}}`,
    413,
    -32_017,
    'body.too-large',
  ],
  [
    'a body over 1 MiB in bytes alone',
    'send',
    `{"channel":"c","body":{"t":"${'é'.repeat(600_000)}"}}`,
    413,
    -32_017,
    'body.too-large',
  ],
  [
    'a body nested 100,000 deep',
    'send',
    `{"channel":"c","body":${DEEP}}`,
    400,
    -32_016,
    'body.too-deep',
  ],
  [
    'a name nested 100,000 deep',
    'send',
    `{"channel":${DEEP},"body":{}}`,
    400,
    -32_602,
    'input.invalid',
  ],
  ['an unknown field nested 100,000 deep', 'recv', `{"x":${DEEP}}`, 400, -32_602, 'input.invalid'],
  ['an unknown operation', 'shout', '{}', 404, -32_601, 'operation.unknown'],
  ['an operation named like a property', 'constructor', '{}', 404, -32_601, 'operation.unknown'],
];

describe('bad input changes nothing:', () => {
  test.each(BAD)('[O2] [M6] %s', async (_, operation, input, status, code, reason) => {
    const http = await hub.post(operation, input, hub.as('ada'));
    expect([http.status, http.body.detail?.reason]).toEqual([status, reason]);
    expect(http.body.error_code).toBe('validation_error');
    expect(http.text.length).toBeLessThan(5_000);

    const ada = await openRpcSocket(hub.url, hub.as('ada'));
    ada.ws.send(`{"jsonrpc":"2.0","id":1,"method":"${operation}","params":${input}}`);
    const { id, error } = await ada.frame();
    expect([id, error.code, error.data.detail.reason]).toEqual([1, code, reason]);
    expect((await ada.ask('hub.whoami')).agent_id).toBe('ada');
    await ada.close();
    expect(await hub.mark()).toBe(before);
  });

  test('[O2] what is not JSON, at HTTP', async () => {
    for (const input of [
      '{',
      'nope',
      '{"a":1}{',
      '\u0000',
      "{'a':1}",
      '[1,',
      `${DEEP.slice(0, -5)}`,
    ]) {
      const { status, body } = await hub.post('send', input, hub.as('ada'));
      expect([status, body.detail.reason]).toEqual([400, 'input.not-json']);
    }
    const { status } = await fetchReply(`${hub.url}/v1/ops/send`, {
      method: 'POST',
      headers: hub.as('ada'),
      body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
    });
    expect(status).toBe(400);
    expect(await hub.mark()).toBe(before);
  });

  test('[O2] a request over 4 MiB, whether it says so or not', async () => {
    const body = `{"channel":"c","body":{"t":"${MEGABYTE.repeat(5)}"}}`;
    const told = await hub.post('send', body, hub.as('ada')).catch(() => null);
    if (told !== null)
      expect([told.status, told.body.detail.reason]).toEqual([413, 'body.too-large']);
    const raw = await openRawSocket(hub.port);
    const auth = Object.entries(hub.as('ada')).map(([name, value]) => `${name}: ${value}\r\n`);
    raw.write(
      `POST /v1/ops/send HTTP/1.1\r\nhost: localhost\r\n${auth.join('')}transfer-encoding: chunked\r\n\r\n`,
    );
    const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`;
    for (let sent = 0; sent < 70; sent++) raw.write(chunk);
    expect(await raw.until('max_bytes')).toMatch(/^HTTP\/1\.1 413 /);
    raw.close();
    expect(await hub.mark()).toBe(before);
  });

  test('[W5] a frame over 4 MiB, whole or in fragments', async () => {
    for (const isFragmented of [false, true]) {
      const ada = await openRpcSocket(hub.url, hub.as('ada'));
      const text = `{"jsonrpc":"2.0","id":1,"method":"channels.send","params":{"channel":"c","body":{"t":"${MEGABYTE.repeat(4)}"}}}`;
      if (!isFragmented) ada.ws.send(text);
      else {
        for (let at = 0; at < text.length; at += 65_536) {
          ada.ws.send(text.slice(at, at + 65_536), { fin: at + 65_536 >= text.length });
        }
      }
      expect((await within('the close', ada.closed)).code).toBe(1009);
    }
    expect(await hub.mark()).toBe(before);
  });

  test('[I3] [L4] a bad token, a revoked token: refused at every door, nothing but the refusal on record', async () => {
    const { token, token_id } = await hub.admin('tokens_create', { agent_id: 'eve' });
    await hub.admin('tokens_revoke', { token_id });
    for (const bad of ['wrong', 'syn_default.0.0', token]) {
      const headers = { authorization: `Bearer ${bad}` };
      const replies = await Promise.all([
        hub.post('send', { channel: 'c', body: {} }, headers),
        turnedAway(hub.url, headers),
        openEventStream(hub.url, headers),
        fetchReply(`${hub.url}/mcp`, { method: 'POST', headers, body: '{}' }),
      ]);
      expect(replies.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    }
    const { channels } = await hub.ask('ada', 'list_channels');
    expect(channels.map((one: Json) => one.name)).toEqual(['kept']);
  });
});
