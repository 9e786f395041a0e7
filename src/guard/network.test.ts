/** The network: tables of addresses and rules, and real servers on loopback that are reached or are not. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { classOf, unwrapped } from './addresses.ts';
import { createGuard, type GuardOptions } from './guard.ts';
import type { ConnectRule } from './policy.ts';

const servers: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

test.each([
  ['8.8.8.8', 'public'],
  ['2606:4700::1111', 'public'],
  ['127.0.0.1', 'private'],
  ['127.8.9.1', 'private'],
  ['0.0.0.0', 'private'],
  ['10.1.2.3', 'private'],
  ['172.31.0.1', 'private'],
  ['172.32.0.1', 'public'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'private'],
  ['224.0.0.1', 'private'],
  ['255.255.255.255', 'private'],
  ['169.254.1.1', 'private'],
  ['169.254.169.254', 'metadata'],
  ['100.100.100.200', 'metadata'],
  ['168.63.129.16', 'metadata'],
  ['fd00:ec2::254', 'metadata'],
  ['::1', 'private'],
  ['::', 'private'],
  ['fe80::1%eth0', 'private'],
  ['fc00::1', 'private'],
  ['ff02::1', 'private'],
  ['::ffff:127.0.0.1', 'private'],
  ['::ffff:7f00:1', 'private'],
  ['::ffff:8.8.8.8', 'public'],
  ['0:0:0:0:0:ffff:a9fe:a9fe', 'metadata'],
  ['64:ff9b::10.0.0.1', 'private'],
  ['64:ff9b::169.254.169.254', 'metadata'],
  ['::127.0.0.1', 'private'],
  ['2002:7f00:1::', 'private'],
  ['2001:0:53aa:64c::1', 'private'],
  ['nonsense', 'private'],
])('[PO6] %s is %s', (address, kind) => {
  expect(classOf(address)).toBe(kind);
  expect(unwrapped(address)).not.toContain('%');
});

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'api.example.com': ['93.184.216.34'],
  'a.b.example.com': ['93.184.216.34'],
  'example.com': ['93.184.216.34'],
  'inside.example.com': ['10.0.0.7'],
  'both.example.com': ['93.184.216.34', '127.0.0.1'],
  'mapped.example.com': ['::ffff:169.254.169.254'],
  'metadata.google.internal': ['169.254.169.254'],
  'nothing.example.com': [],
};
const lookup = async (host: string): Promise<readonly string[]> => {
  const found = NAMES[host];
  if (found === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  return found;
};
const RULES: readonly ConnectRule[] = [
  { scheme: 'https', host: '*.example.com' },
  { scheme: 'https', host: 'api.example.com', methods: ['POST'] },
  { scheme: 'https', host: 'inside.example.com', port: 8443, addresses: ['10.0.0.0/24'] },
  { scheme: 'http', host: '127.0.0.1', port: 8080 },
  { scheme: 'http', host: 'metadata.google.internal', addresses: ['169.254.0.0/16'] },
  { scheme: 'tcp', host: 'api.example.com', port: 443 },
  { scheme: 'http', host: '*', port: 9999 },
  { scheme: 'wss', host: 'api.example.com' },
];
const cases: readonly [string, string, string][] = [
  ['GET', 'https://api.example.com/x?y=1', 'guard.allowed'],
  ['post', 'https://API.Example.COM./', 'guard.allowed'],
  ['HEAD', 'https://a.b.example.com/', 'guard.allowed'],
  ['GET', 'wss://api.example.com/', 'guard.allowed'],
  ['GET', 'tcp://api.example.com:443', 'guard.allowed'],
  ['DELETE', 'https://api.example.com/', 'guard.no-rule'],
  ['POST', 'https://a.b.example.com/', 'guard.no-rule'],
  ['GET', 'http://api.example.com/', 'guard.no-rule'],
  ['GET', 'https://api.example.com:444/', 'guard.no-rule'],
  // Below, not itself; and no suffix without its dot.
  ['GET', 'https://example.com/', 'guard.no-rule'],
  ['GET', 'https://evilexample.com/', 'guard.no-rule'],
  ['GET', 'https://api.example.com.evil.org/', 'guard.no-rule'],
  ['GET', 'https://api.example.com@evil.org/', 'guard.invalid'],
  ['GET', 'https://evil.org#@api.example.com/', 'guard.no-rule'],
  ['GET', 'https://evil.org\\@api.example.com/', 'guard.no-rule'],
  ['GET', 'ftp://api.example.com/', 'guard.invalid'],
  ['GET', 'file:///etc/passwd', 'guard.invalid'],
  ['GET', 'https://', 'guard.invalid'],
  ['G\r\nET', 'https://api.example.com/', 'guard.invalid'],
  ['GET', 'tcp://api.example.com', 'guard.invalid'],
  // What a name stands for counts, all of it.
  ['GET', 'https://inside.example.com/', 'guard.address'],
  ['GET', 'https://inside.example.com:8443/', 'guard.allowed'],
  ['GET', 'https://both.example.com/', 'guard.address'],
  ['GET', 'https://mapped.example.com/', 'guard.address'],
  ['GET', 'https://nothing.example.com/', 'guard.unresolved'],
  ['GET', 'https://unknown.example.com/', 'guard.unresolved'],
  // A range does not name a cloud's metadata.
  ['GET', 'http://metadata.google.internal/', 'guard.address'],
  // However the machine itself is written, it is the machine itself.
  ['GET', 'http://127.0.0.1:8080/', 'guard.allowed'],
  ['GET', 'http://2130706433:8080/', 'guard.allowed'],
  ['GET', 'http://0177.0.0.1:9999/', 'guard.address'],
  ['GET', 'http://2130706433:9999/', 'guard.address'],
  ['GET', 'http://0x7f.1:9999/', 'guard.address'],
  ['GET', 'http://127.1:9999/', 'guard.address'],
  ['GET', 'http://１２７.０.０.１:9999/', 'guard.address'],
  ['GET', 'http://[::ffff:127.0.0.1]:9999/', 'guard.address'],
  ['GET', 'http://[::1]:9999/', 'guard.address'],
  ['GET', 'http://[::]:9999/', 'guard.address'],
  ['GET', 'http://0:9999/', 'guard.address'],
  ['GET', 'http://localhost:9999/', 'guard.address'],
  ['GET', 'http://anything.localhost:9999/', 'guard.address'],
  ['GET', 'http://169.254.169.254:9999/', 'guard.address'],
  ['GET', 'http://0xa9fea9fe:9999/', 'guard.address'],
  ['GET', 'http://93.184.216.34:9999/', 'guard.allowed'],
];

describe('[PO5] [PO6] addresses of the network', () => {
  const guard = createGuard({ connect: RULES }, { lookup });
  test.each(cases)('%s %s: %s', async (method, url, code) => {
    const decision = await guard.check({ kind: 'connect', url, method });
    expect(decision).toMatchObject({ code, allowed: code === 'guard.allowed' });
  });

  test('[PO5] with no rule nothing is looked up, and nothing allowed', async () => {
    const asked: string[] = [];
    const closed = createGuard(
      {},
      {
        async lookup(host) {
          asked.push(host);
          return ['8.8.8.8'];
        },
      },
    );
    const decision = await closed.check({ kind: 'connect', url: 'https://secret.attacker.org' });
    expect(decision).toMatchObject({ allowed: false, code: 'guard.no-rule' });
    expect(asked).toEqual([]);
  });

  test('[PO6] metadata named by itself may be reached', async () => {
    const addresses = ['169.254.169.254'];
    const rule: ConnectRule = { scheme: 'http', host: 'metadata.google.internal', addresses };
    const url = 'http://metadata.google.internal/';
    const named = createGuard({ connect: [rule] }, { lookup });
    expect((await named.check({ kind: 'connect', url })).allowed).toBe(true);
  });
});

async function serve(
  answer: (request: IncomingMessage) => { status?: number; headers?: object; body?: string },
): Promise<{ port: number; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    seen.push(request);
    const { status = 200, headers = {}, body = 'ok' } = answer(request);
    request.resume();
    response.writeHead(status, { ...headers }).end(body);
  });
  server.listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, seen };
}

const onLoopback = (host: string, port: number, more: object = {}): ConnectRule => ({
  ...{ scheme: 'http', host, port, addresses: ['127.0.0.1'], methods: ['*'] },
  ...more,
});
const guardFor = (connect: readonly ConnectRule[], options: GuardOptions = {}) =>
  createGuard({ connect }, { lookup: async () => ['127.0.0.1'], ...options });

describe('[PO7] connections', () => {
  test('[PO7] a name that means something else by then is still what was decided', async () => {
    const { port, seen } = await serve(() => ({ body: 'the one decided on' }));
    // As a server of names does that wants to be believed once: first good, then this machine's other side.
    const answers = [['127.0.0.1'], ['127.0.0.66']];
    let asked = 0;
    const guard = guardFor([onLoopback('rebind.test', port)], {
      lookup: async () => answers[Math.min(asked++, 1)] ?? [],
    });
    const response = await guard.fetch(`http://rebind.test:${port}/`);
    expect(await response.text()).toBe('the one decided on');
    expect(seen[0]?.headers.host).toBe(`rebind.test:${port}`);
    expect(asked).toBe(1);
    // Asked again it is decided again, and refused.
    await expect(guard.fetch(`http://rebind.test:${port}/`)).rejects.toMatchObject({
      code: 'guard.address',
    });
    expect(seen).toHaveLength(1);
  });

  test('[PO7] a redirection is asked about anew, and its target hears nothing', async () => {
    const inner = await serve(() => ({ body: 'secret' }));
    const outer = await serve(() => ({
      status: 302,
      headers: { location: `http://inner.test:${inner.port}/` },
    }));
    const guard = guardFor([onLoopback('outer.test', outer.port)]);
    await expect(guard.fetch(`http://outer.test:${outer.port}/`)).rejects.toMatchObject({
      code: 'guard.no-rule',
    });
    expect(inner.seen).toHaveLength(0);
  });

  test('[PO7] a redirection that may be followed takes no secret to another origin', async () => {
    const inner = await serve(() => ({ body: 'there' }));
    const outer = await serve(() => ({
      status: 303,
      headers: { location: `http://inner.test:${inner.port}/next` },
    }));
    const guard = guardFor([
      onLoopback('outer.test', outer.port),
      onLoopback('inner.test', inner.port),
    ]);
    const response = await guard.fetch(`http://outer.test:${outer.port}/`, {
      ...{ method: 'POST', body: 'x' },
      headers: { Authorization: 'Bearer secret', Cookie: 'a=b', 'X-Mine': 'yes', Host: 'evil' },
    });
    expect([response.status, await response.text()]).toEqual([200, 'there']);
    expect(outer.seen[0]?.headers).toMatchObject({ authorization: 'Bearer secret' });
    expect(outer.seen[0]?.headers.host).toBe(`outer.test:${outer.port}`);
    expect(inner.seen[0]).toMatchObject({ method: 'GET', url: '/next' });
    expect(inner.seen[0]?.headers).toMatchObject({ 'x-mine': 'yes' });
    expect(inner.seen[0]?.headers).not.toHaveProperty('authorization');
    expect(inner.seen[0]?.headers).not.toHaveProperty('cookie');
  });

  test('[PO7] a circle of redirections ends, and one to a file is refused', async () => {
    const circle = await serve(() => ({ status: 307, headers: { location: '/' } }));
    const toFile = await serve(() => ({
      status: 301,
      headers: { location: 'file:///etc/passwd' },
    }));
    const guard = guardFor([onLoopback('a.test', circle.port), onLoopback('a.test', toFile.port)]);
    const refused = { code: 'guard.redirect' };
    await expect(guard.fetch(`http://a.test:${circle.port}/`)).rejects.toMatchObject(refused);
    expect(circle.seen).toHaveLength(6);
    await expect(guard.fetch(`http://a.test:${toFile.port}/`)).rejects.toMatchObject(refused);
    const manual = await guard.fetch(`http://a.test:${circle.port}/`, { redirect: 'manual' });
    expect(manual.status).toBe(307);
  });

  test('[PO7] a socket goes where the decision says', async () => {
    const server = createTcpServer((socket) => socket.end('hello'));
    server.listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const guard = guardFor([onLoopback('db.test', port, { scheme: 'tcp' })]);
    const socket = await guard.connect({ host: 'db.test', port });
    const [data] = await once(socket, 'data');
    expect(String(data)).toBe('hello');
    socket.destroy();
    await expect(guard.connect({ host: '127.0.0.1', port })).rejects.toMatchObject({
      code: 'guard.no-rule',
    });
    await expect(guard.connect({ host: 'db.test', port, tls: true })).rejects.toMatchObject({
      code: 'guard.no-rule',
    });
  });

  test('[PO7] an abort ends the request', async () => {
    const server = createServer(() => {});
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const guard = guardFor([onLoopback('slow.test', port)]);
    const giveUp = new AbortController();
    server.once('request', () => giveUp.abort());
    await expect(
      guard.fetch(`http://slow.test:${port}/`, { signal: giveUp.signal }),
    ).rejects.toMatchObject({ name: 'AbortError' });
    server.closeAllConnections();
    server.close();
  });
});
