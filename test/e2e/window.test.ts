/** The window's door over plain HTTP: the files of the page, the link, the session and its two halves. */
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../free-ports.ts';
import { openHome } from './cli-run.ts';
import { openRawSocket } from './raw-socket.ts';
import { openRpcSocket, type RpcSocket, turnedAway } from './rpc-socket.ts';
import { fetchReply, type Headers, openRunningHub, type RunningHub } from './running-hub.ts';

const SCRIPT = `console.log(${JSON.stringify('x'.repeat(2_000))})`;

let pageDir: string;
let hub: RunningHub;
let home: string;

beforeAll(async () => {
  pageDir = await mkdtemp(join(tmpdir(), 'synod-page-'));
  await mkdir(join(pageDir, 'assets'));
  await writeFile(join(pageDir, 'index.html'), '<!doctype html><title>one</title>');
  await writeFile(join(pageDir, 'assets', 'index-abc.js'), SCRIPT);
  await writeFile(join(pageDir, 'assets', 'notes.txt'), 'not of the page');
  hub = await openRunningHub({ hooks: { pageDir } });
  home = `http://localhost:${hub.port}`;
});
afterAll(async () => {
  await hub.close();
  await rm(pageDir, { recursive: true, force: true });
});

interface Came {
  readonly cookie: string;
  readonly page: string;
}

/** What a browser does with a link. */
async function comeIn(url: string, headers: Headers = {}): Promise<Came> {
  const reply = await fetchReply(url, { headers });
  expect(reply.status).toBe(303);
  const [cookie = ''] = `${reply.headers['set-cookie']}`.split(';');
  const [where, page = ''] = `${reply.headers.location}`.split('#');
  expect(where).toBe('/');
  return { cookie, page };
}

async function linkFor(name?: string): Promise<string> {
  const { url } = await hub.admin('web_link', { ...(name !== undefined && { name }) });
  return url;
}

const pageHeaders = ({ cookie, page }: Came): Headers => ({
  host: `localhost:${hub.port}`,
  origin: home,
  cookie,
  authorization: `Bearer ${page}`,
});

function shown({ cookie, page }: Came, more: Headers = {}): [string, Headers, string[]] {
  const half = Buffer.from(page).toString('base64url');
  const protocols = ['synod.v1', ...(page === '' ? [] : [`synod.token.${half}`])];
  return [home, { origin: home, cookie, ...more }, protocols];
}

const pageSocket = (came: Came): Promise<RpcSocket> => openRpcSocket(...shown(came));
const turnedWith = async (came: Came, more?: Headers): Promise<number> =>
  (await turnedAway(...shown(came, more))).status;

describe('the files', () => {
  test('[WD5] the page is served with a strict policy, and is never kept', async () => {
    const { status, text, headers } = await fetchReply(`${home}/`);
    expect([status, text]).toEqual([200, '<!doctype html><title>one</title>']);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['cross-origin-opener-policy']).toBe('same-origin');
    expect(headers['cross-origin-resource-policy']).toBe('same-origin');
    const policy = `${headers['content-security-policy']}`.split('; ');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy.join()).not.toMatch(/unsafe|\*|data:|https?:/);
  });

  test('[WD5] an asset is kept for good, zipped where that is asked for', async () => {
    const plain = await fetchReply(`${home}/assets/index-abc.js`);
    expect([plain.status, plain.text]).toEqual([200, SCRIPT]);
    expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const zipped = await fetchReply(`${home}/assets/index-abc.js`, {
      headers: { 'accept-encoding': 'gzip, br' },
    });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(zipped.text.length).toBeLessThan(200);
  });

  test('[WD5] nothing outside the folder and nothing unknown is served', async () => {
    for (const path of [
      '/assets/../index.html',
      '/assets/../../credential',
      '/assets/%2e%2e/%2e%2e/credential',
      '/assets/..%2f..%2fcredential',
      '/assets/..\\..\\credential',
      '/assets//etc/passwd',
      '/assets/',
      '/assets/notes.txt',
      '/assets/index-abc.js%00.html',
      '/index.html',
    ]) {
      const raw = await openRawSocket(hub.port);
      raw.write(`GET ${path} HTTP/1.1\r\nhost: localhost:${hub.port}\r\nconnection: close\r\n\r\n`);
      const said = await raw.ended;
      expect(said, path).toMatch(/^HTTP\/1.1 (404|400) /);
    }
  });

  test('[WD5] a page that is built again is shown without a restart', async () => {
    await writeFile(join(pageDir, 'index.html'), '<!doctype html><title>two</title>');
    await utimes(join(pageDir, 'index.html'), 1, 1);
    expect((await fetchReply(`${home}/`)).text).toContain('two');
  });

  test('[WD5] a page that is not built says how to build it', async () => {
    const bare = await openRunningHub({ hooks: { pageDir: join(pageDir, 'none') } });
    const { status, text } = await fetchReply(`http://localhost:${bare.port}/`);
    const asset = await fetchReply(`http://localhost:${bare.port}/assets/x.js`);
    await bare.close();
    expect([status, asset.status]).toEqual([503, 404]);
    expect(text).toContain('npm run build');
  });
});

describe('the link', () => {
  test('[WD1] it opens once; then it is refused with what to do', async () => {
    const url = await linkFor();
    expect(url.startsWith(`${home}/in/`)).toBe(true);
    await comeIn(url);
    const browser = { accept: 'text/html,application/xhtml+xml' };
    const again = await fetchReply(url, { headers: browser });
    expect([again.status, again.headers['set-cookie']]).toEqual([410, undefined]);
    expect(again.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(again.text).toContain('synod web');
    const program = await fetchReply(url);
    expect(program.body.detail.reason).toBe('link.spent');
  });

  test('[WD1] what only looks does not spend it', async () => {
    const url = await linkFor();
    expect((await fetchReply(url, { method: 'HEAD' })).status).toBe(404);
    const ahead = await fetchReply(url, { headers: { 'sec-purpose': 'prefetch;prerender' } });
    expect(ahead.status).toBe(425);
    expect((await fetchReply(url, { method: 'POST' })).status).toBe(404);
    await comeIn(url);
  });

  test('[WD1] one that was never made is refused as one that was used', async () => {
    const { status, body } = await fetchReply(`${home}/in/${'x'.repeat(43)}`);
    expect([status, body.detail.reason]).toEqual([410, 'link.spent']);
  });

  test('[WD1] it is the owner’s to make', async () => {
    const { token } = await hub.admin('tokens_create', { agent_id: 'root', kind: 'admin' });
    const asked = await hub.post('web_link', {}, { authorization: `Bearer ${token}` });
    expect([asked.status, asked.body.detail.reason]).toEqual([403, 'access.denied']);
  });

  test('[WD1] a link of another site is not followed, and stays good', async () => {
    const url = await linkFor();
    const foreign = await fetchReply(url, { headers: { 'sec-fetch-site': 'same-site' } });
    expect([foreign.status, foreign.body.detail.reason]).toEqual([403, 'origin.foreign']);
    await comeIn(url);
  });
});

describe('the session', () => {
  test('[WD2] it speaks as the person, by WebSocket and over HTTP', async () => {
    const came = await comeIn(await linkFor('paula'));
    const socket = await pageSocket(came);
    const me = await socket.ask('hub.whoami');
    expect(me).toMatchObject({ agent_id: 'paula', kind: 'human', tier: 'owner' });
    await socket.close();
    const { status, body } = await hub.post('whoami', {}, pageHeaders(came));
    expect([status, body.agent_id]).toEqual([200, 'paula']);
  });

  test('[WD2] the cookie is hidden from scripts and from other sites, and carries the port', async () => {
    const reply = await fetchReply(await linkFor());
    const cookie = `${reply.headers['set-cookie']}`;
    expect(cookie).toMatch(
      new RegExp(`^synod-${hub.port}=[^;]+; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict$`),
    );
  });

  test('[WD2] without a name it is the one person there is', async () => {
    const other = await openRunningHub({ hooks: { pageDir } });
    const named = async () => (await other.admin('web_link', {})).name;
    expect(await named()).toBe('owner');
    await other.admin('people_add', { name: 'grace', passphrase: 'a long one' });
    expect(await named()).toBe('grace');
    await other.close();
  });

  test('[WD2] it is listed without its secret, and revoked at once', async () => {
    const came = await comeIn(await linkFor('rita'), {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    });
    const socket = await pageSocket(came);
    await socket.ask('hub.whoami');
    const { sessions } = await hub.admin('web_sessions');
    const mine = sessions.find((one: { name: string }) => one.name === 'rita');
    expect(mine.device).toBe('Firefox on Linux');
    expect(JSON.stringify(sessions)).not.toContain(came.page.slice(4));
    await hub.admin('web_revoke', { session_id: mine.session_id });
    expect((await socket.closed).code).toBe(4001);
    const { status, body } = await hub.post('whoami', {}, pageHeaders(came));
    expect([status, body.detail.reason]).toEqual([401, 'session.gone']);
    const again = await hub.admin('web_revoke', { session_id: mine.session_id });
    expect(again.revoked).toBe(false);
  });

  test('[WD2] synod web sessions lists who is in, and revoke has one out at once', async () => {
    const came = await comeIn(await linkFor('lena'), {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    });
    const socket = await pageSocket(came);
    const terminal = openHome();
    const synod = (...args: string[]) =>
      terminal.run(['web', 'sessions', ...args], { env: { SYNOD_DIR: hub.dir } });
    const listed = await synod();
    const [, id = ''] =
      /^(\S+) +lena +Firefox on Linux +since .* +until .*$/m.exec(listed.stdout) ?? [];
    expect([listed.code, id]).toEqual([0, expect.stringMatching(/./)]);
    const json = JSON.parse((await synod('--json')).stdout);
    expect(json.sessions.map((one: { session_id: string }) => one.session_id)).toContain(id);
    expect(await synod('revoke', id)).toMatchObject({ code: 0, stdout: `${id} is out\n` });
    expect((await socket.closed).code).toBe(4001);
    expect((await synod('revoke', id)).stdout).toBe(`${id} was out before\n`);
    expect((await synod()).stdout).not.toContain('lena');
    const unknown = await synod('revoke', 'nobody');
    expect([unknown.code !== 0, unknown.stderr]).toEqual([
      true,
      expect.stringContaining('token.not-found'),
    ]);
    await terminal.close();
  });

  test('[WD2] web.revoke ends no other token', async () => {
    const { token_id } = await hub.admin('tokens_create', { agent_id: 'bob' });
    const owner = { authorization: `Bearer ${hub.owner}` };
    const { body } = await hub.post('web_revoke', { session_id: token_id }, owner);
    expect(body.detail.reason).toBe('token.not-found');
    const { tokens } = await hub.admin('tokens_list');
    const found = tokens.find((one: { token_id: string }) => one.token_id === token_id);
    expect(found.revoked_at).toBe(null);
  });

  test('[WD2] it survives a restart of the hub; a link does not', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'synod-window-'));
    const flags = { port: String(await freePort()) };
    const first = await openRunningHub({ dir, flags, hooks: { pageDir } });
    const came = await comeIn((await first.admin('web_link', { name: 'nora' })).url);
    const { url } = await first.admin('web_link', {});
    await first.close();
    const second = await openRunningHub({ dir, flags, hooks: { pageDir } });
    const origin = `http://localhost:${second.port}`;
    const headers = { ...pageHeaders(came), host: `localhost:${second.port}`, origin };
    const { body } = await second.post('whoami', {}, headers);
    const late = await fetchReply(url);
    await second.close();
    await rm(dir, { recursive: true, force: true });
    expect([body.agent_id, late.status]).toEqual(['nora', 410]);
  });

  test('[WD2] of too many the oldest ends', async () => {
    const other = await openRunningHub({ hooks: { pageDir } });
    for (let i = 0; i < 34; i++) {
      await comeIn((await other.admin('web_link', { name: `p${i}` })).url);
    }
    const { sessions } = await other.admin('web_sessions');
    await other.close();
    const names = sessions.map((one: { name: string }) => one.name);
    expect([names.length, names[0], names.at(-1)]).toEqual([32, 'p33', 'p2']);
  });
});

describe('the two halves', () => {
  let came: Came;
  beforeAll(async () => {
    came = await comeIn(await linkFor('hana'));
  });

  const reasonOf = async (headers: Headers, path = '/v1/ops/whoami'): Promise<string> => {
    const { status, body } = await fetchReply(`${home}${path}`, { method: 'POST', headers });
    return `${status} ${body.detail?.reason ?? body.agent_id}`;
  };

  test('[WD3] either half alone opens nothing', async () => {
    const { cookie, authorization, ...rest } = pageHeaders(came);
    expect(await reasonOf({ ...rest, cookie })).toBe('401 access.unknown');
    expect(await reasonOf({ ...rest, authorization })).toBe('401 session.gone');
    expect(await turnedWith({ ...came, page: '' })).toBe(401);
    expect(await turnedWith({ ...came, cookie: '' })).toBe(401);
  });

  test('[WD3] halves of two sessions make none, and a cookie that is there twice is nobody’s', async () => {
    const other = await comeIn(await linkFor('hana'));
    expect(await reasonOf(pageHeaders({ ...came, page: other.page }))).toBe('401 session.gone');
    const twice = { ...came, cookie: `${came.cookie}; ${other.cookie}` };
    expect(await reasonOf(pageHeaders(twice))).toBe('401 session.gone');
  });

  test('[WD4] the cookie of another port is not looked at', async () => {
    const cookie = came.cookie.replace(/^synod-\d+/, 'synod-1');
    expect(await reasonOf(pageHeaders({ ...came, cookie }))).toBe('401 session.gone');
  });

  test('[WD4] no origin, another origin and another site get nothing with both halves', async () => {
    const headers = pageHeaders(came);
    expect(await reasonOf(headers)).toBe('200 hana');
    expect(await reasonOf({ ...headers, 'sec-fetch-site': 'same-origin' })).toBe('200 hana');
    expect(await reasonOf({ ...headers, origin: undefined })).toBe('401 session.gone');
    expect(await reasonOf({ ...headers, 'sec-fetch-site': 'same-site' })).toBe('401 session.gone');
    for (const origin of ['http://localhost:1', 'http://evil.example', 'null']) {
      expect(await reasonOf({ ...headers, origin })).toBe('403 origin.foreign');
      expect(await turnedWith(came, { origin })).toBe(403);
    }
    const [, { origin: _, ...unnamed }, protocols] = shown(came);
    expect(await turnedAway(home, unnamed, protocols)).toMatchObject({ status: 401 });
  });

  test('[WD4] an origin that is allowed by name has no part in the session', async () => {
    const origin = 'http://localhost:5173';
    const open = await openRunningHub({ flags: { corsOrigin: [origin] }, hooks: { pageDir } });
    const mine = await comeIn((await open.admin('web_link', {})).url);
    const headers = { ...pageHeaders(mine), host: `localhost:${open.port}`, origin };
    const { status, body } = await open.post('whoami', {}, headers);
    await open.close();
    expect([status, body.detail.reason]).toEqual([401, 'session.gone']);
  });

  test('[WD4] no other route takes it, and beside another credential it is not looked at', async () => {
    const headers = pageHeaders(came);
    expect(await reasonOf(headers, '/mcp')).toBe('401 session.gone');
    expect(await reasonOf(headers, '/v1/hooks/claude')).toBe('401 session.gone');
    const stream = await fetchReply(`${home}/v1/stream`, { headers });
    expect(stream.status).toBe(401);
    const owner = { ...headers, authorization: `Bearer ${hub.owner}` };
    expect(await reasonOf(owner)).toBe('200 owner');
    expect(await reasonOf({ ...headers, 'x-sox-agent-id': 'hana' })).toBe('401 session.gone');
  });

  test('[WD4] where names are taken at their word a half is no name', async () => {
    const open = await openRunningHub({ flags: { auth: 'open' }, hooks: { pageDir } });
    const headers = { authorization: `Bearer ${came.page}` };
    const { status, body } = await open.post('whoami', {}, headers);
    await open.close();
    expect([status, body.detail.reason]).toEqual([401, 'session.gone']);
  });
});

describe('localhost', () => {
  test('[WD6] both loopback addresses are the hub’s', async () => {
    const { status } = await fetchReply(`http://[::1]:${hub.port}/health`);
    expect(status).toBe(200);
  });

  test('[WD6] where another program has one of them the link names the address', async () => {
    const squatter = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => squatter.listen(port, '::1', resolve));
    const other = await openRunningHub({ flags: { port: String(port) }, hooks: { pageDir } });
    const { url } = await other.admin('web_link', {});
    await other.close();
    squatter.close();
    expect(url.startsWith(`http://127.0.0.1:${port}/in/`)).toBe(true);
    expect(other.log.join('\n')).toContain('the page is not at localhost');
  });
});
