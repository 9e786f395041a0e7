/** The page for a phone: a door of its own over TLS, asked by a client that checks the certificate. */
import { readFile } from 'node:fs/promises';
import { type RequestOptions, request } from 'node:https';
import { join } from 'node:path';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { openHome } from './cli-run.ts';
import { until, within } from './deadline.ts';
import { readQr, readSquares } from './qr-reader.ts';
import {
  fetchReply,
  type Headers,
  type Json,
  openRunningHub,
  type RunningHub,
} from './running-hub.ts';

const HERE = '127.0.0.1';

let hub: RunningHub;
let phone: { readonly origin: string; readonly fingerprint: string; readonly url: string };
let ca: string;

beforeAll(async () => {
  hub = await openRunningHub({ flags: { auth: 'open' } });
  phone = await hub.admin('web_phone_open', { host: HERE, name: 'paula' });
  ca = await readFile(join(hub.dir, 'phone', `${HERE}.pem`), 'utf8');
});
afterAll(() => hub.close());

interface Secure {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Trusts this one certificate, for the address it names, with the fingerprint that was shown. */
function ask(path: string, options: RequestOptions = {}, body = ''): Promise<Secure> {
  return new Promise((resolve, reject) => {
    const sent = request(`${phone.origin}${path}`, { ca, agent: false, ...options }, (response) => {
      const peer: PeerCertificate = (response.socket as TLSSocket).getPeerCertificate();
      if (peer.fingerprint256 !== phone.fingerprint) reject(new Error('another certificate'));
      response.setEncoding('utf8');
      let text = '';
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      const { statusCode = 0, headers } = response;
      response.on('end', () => resolve({ status: statusCode, headers: headers as Headers, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function comeIn(): Promise<Record<string, string>> {
  const { url } = await hub.admin('web_phone_open', { name: 'paula' });
  const { status, headers } = await ask(new URL(url).pathname);
  expect(status).toBe(303);
  const { port } = new URL(phone.origin);
  const [cookie = '', ...rest] = `${headers['set-cookie']}`.split('; ');
  expect(cookie.startsWith(`__Host-synod-${port}=`)).toBe(true);
  expect(rest).toEqual(['Path=/', 'Max-Age=2592000', 'HttpOnly', 'SameSite=Strict', 'Secure']);
  const page = `${headers.location}`.slice(2);
  return { cookie, origin: phone.origin, authorization: `Bearer ${page}` };
}

const whoami = async (headers: Record<string, string>): Promise<string> => {
  const { status, text } = await ask('/v1/ops/whoami', { method: 'POST', headers }, '{}');
  const body: Json = JSON.parse(text);
  return `${status} ${body.agent_id ?? body.detail.reason}`;
};

test('[WD8] a phone that checks the certificate comes in by the link', async () => {
  expect(await whoami(await comeIn())).toBe('200 paula');
  expect((await ask('/')).headers['content-security-policy']).toContain("default-src 'none'");
});

test('[WD8] no token, no credential and no name is taken there', async () => {
  const { token } = await hub.admin('tokens_create', { agent_id: 'bob' });
  expect(await whoami({ authorization: `Bearer ${hub.owner}` })).toBe('401 session.gone');
  expect(await whoami({ authorization: `Bearer ${token}` })).toBe('401 session.gone');
  expect(await whoami({ 'x-sox-agent-id': 'anybody' })).toBe('401 session.gone');
  expect(await whoami({})).toBe('401 session.gone');
});

test('[WD8] nothing but the page is there, and for no other name', async () => {
  for (const path of ['/mcp', '/v1/stream', '/v1/hooks/claude', '/metrics', '/v1/proof?nonce=x']) {
    expect([path, (await ask(path)).status]).toEqual([path, 404]);
  }
  expect((await ask('/', { servername: '', headers: { host: 'evil.example' } })).status).toBe(421);
  const foreign = { ...(await comeIn()), origin: `http://localhost:${hub.port}` };
  expect(await whoami(foreign)).toBe('403 origin.foreign');
});

test('[WD8] only an address of this machine is opened', async () => {
  const owner = { authorization: `Bearer ${hub.owner}` };
  for (const host of ['0.0.0.0', '203.0.113.7', 'localhost', 'evil.example']) {
    const { status, body } = await hub.post('web_phone_open', { host }, owner);
    expect([host, status, body.detail.reason]).toEqual([host, 400, 'input.invalid']);
    expect(body.message).toContain('--host');
    expect(body.message, 'no phone reaches it').not.toMatch(/127\.0\.0\.1|fe80/);
  }
});

test('[WD8] a session of the page elsewhere is none there, and a port that is taken is said', async () => {
  const owner = { authorization: `Bearer ${hub.owner}` };
  const taken = await hub.post('web_phone_open', { host: HERE, port: hub.port }, owner);
  expect(taken.body.message).toContain('EADDRINUSE');
  phone = await hub.admin('web_phone_open', { host: HERE, name: 'paula' });
});

test('[WD8] closing ends what is connected, and leaves the hub’s own doors', async () => {
  const { cookie = '', authorization = '', origin = '' } = await comeIn();
  const half = Buffer.from(authorization.slice(7)).toString('base64url');
  const socket = new WebSocket(
    `${origin.replace('https', 'wss')}/ws`,
    ['synod.v1', `synod.token.${half}`],
    {
      ca,
      headers: { cookie, origin },
    },
  );
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await within('open', new Promise((resolve) => socket.on('open', resolve)));
  expect(await hub.admin('web_phone_close')).toEqual({ closed: true });
  expect(await within('closed', closed)).toBe(1001);
  await expect(ask('/')).rejects.toThrow('ECONNREFUSED');
  expect((await fetchReply(`${hub.url}/health`)).status).toBe(200);
  expect(await hub.admin('web_phone_close')).toEqual({ closed: false });
});

test('[WD8] nobody asks for it any more, and it closes by itself', async () => {
  const short = await openRunningHub({ hooks: { phoneMs: 50 } });
  const { origin } = await short.admin('web_phone_open', { host: HERE });
  const isOpen = (): Promise<boolean> =>
    fetch(origin).then(
      () => true,
      ({ cause }) => cause.code !== 'ECONNREFUSED',
    );
  await until('the door is closed', isOpen, (open) => !open);
  await short.close();
});

test('[WD8] synod web --phone serves until it is stopped; synod web --json prints a link', async () => {
  const home = openHome();
  const env = { SYNOD_DIR: hub.dir };
  const { url } = (await home.json(['web', '--no-spawn'], { env })) as { url: string };
  expect(url).toMatch(new RegExp(`^http://localhost:${hub.port}/in/[\\w-]{43}$`));
  const printed = await home.run(['web', '--no-spawn', '--print', '--as', 'paula'], { env });
  expect(printed.stdout).toMatch(/^http:\/\/localhost:\d+\/in\/[\w-]{43}\n$/);
  const args = ['web', '--no-spawn', '--phone', '--host', HERE];
  const running = home.start(args, { env });
  const [shown, link] = await running.printed(
    /█[\s\S]+?(https:\/\/127\.0\.0\.1:\d+\/in\/[\w-]{43})\n/,
  );
  // What a camera makes of the code is the link that is printed below it.
  expect(readQr(readSquares(shown.split('\n').slice(0, -2)))).toBe(link);
  await running.printed(/([0-9A-F]{2}:){31}[0-9A-F]{2}\n[\s\S]*ctrl-c/);
  running.child.kill('SIGINT');
  const { code, stdout } = await running.exited();
  expect([code, stdout]).toEqual([0, expect.stringContaining('no phone reaches the page')]);
  const late = await home.run([...args.slice(0, 3), '--stop'], { env });
  expect(late.stdout).toContain('it was not open');
  const wrong = await home.run(['web', '--no-spawn', '--stop'], { env });
  expect(wrong.code).toBe(2);
  await home.close();
});
