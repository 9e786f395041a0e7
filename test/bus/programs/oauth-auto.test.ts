/** Logins that come about by themselves, are asked for at a terminal, and are sealed by a keychain. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findKeychain, type Keychain } from '../../../src/bus/programs/keychain.ts';
import { type Login, loginsPath, openLoginsFile } from '../../../src/bus/programs/logins-file.ts';
import { runKeysCommand } from '../../../src/bus/programs/registry-command.ts';
import { platformTarget } from '../../../src/bus/programs/registry-file.ts';
import { type OauthServer, openOauthServer } from './oauth-server.ts';
import { killWorkers, startWorker, type WorkerProcess } from './worker-process.ts';

const root = mkdtempSync(join(tmpdir(), 'synod-oauth-auto-'));
const script = fileURLToPath(new URL('./registry-agent.mjs', import.meta.url));
const registry = join(root, 'registry.json');
let provider: OauthServer;
let dir = '';

beforeAll(async () => {
  provider = await openOauthServer();
  const binary = { [platformTarget()]: { cmd: process.execPath, args: [script] } };
  writeFileSync(registry, JSON.stringify({ agents: [{ id: 'alpha', distribution: { binary } }] }));
});
beforeEach(() => {
  dir = mkdtempSync(join(root, 'case-'));
  provider.isAgreed = true;
  provider.pages = 0;
});
afterAll(async () => {
  await killWorkers();
  provider.close();
  rmSync(root, { recursive: true });
});

function program(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** Goes where it is sent, as a browser does in which a person agrees, or not. */
const browser = (): string =>
  program('browser', `#!${process.execPath}\nfetch(process.argv[2]).then((r) => r.text());\n`);

describe('an agent that wants a login', () => {
  /** Somebody logged in for alpha once, and that is over. */
  async function launch(env: Record<string, string>): Promise<WorkerProcess> {
    const apiKeys = join(dir, 'api-keys.json');
    const over: Login = {
      ...{ accessToken: 'old', refreshToken: null, expiresAt: 1, scope: '' },
      ...{ tokenUrl: `${provider.issuer}/token`, clientId: 'my-app', clientSecret: null },
      agents: ['alpha'],
    };
    await openLoginsFile(loginsPath(apiKeys), null).write(new Map([['oidc', over]]));
    const args = ['registry', '--registry', registry, '--api-keys', apiKeys, '--no-keychain'];
    return startWorker(args, { env: { ...provider.env, ...env } });
  }
  const ask = (worker: WorkerProcess, id: string): void => {
    const params = { cwd: '/auth', mcpServers: [] };
    worker.send({ jsonrpc: '2.0', id, method: 'session/new', agentId: 'alpha', params });
  };

  test('[WP39] with AUTH_AUTO_OAUTH one page is opened, and what waited goes again with the token', async () => {
    const worker = await launch({ AUTH_AUTO_OAUTH: 'true', BROWSER: browser() });
    ask(worker, 'a');
    ask(worker, 'b');
    for (const id of ['a', 'b']) {
      const { result } = await worker.answer(id);
      expect(result.headers.Authorization).toMatch(/^Bearer token-\d+$/);
    }
    expect(provider.pages).toBe(1);
    expect(worker.stderr()).not.toContain('token-');
    expect(readFileSync(join(dir, 'agent-logins.json'), 'utf8')).toContain('token-');
  });

  test('[WP39] a login that is refused is said, and no other page is opened at once', async () => {
    provider.isAgreed = false;
    const worker = await launch({ AUTH_AUTO_OAUTH: 'true', BROWSER: browser() });
    ask(worker, 'a');
    const { error } = await worker.answer('a');
    expect(error).toMatchObject({ code: -32_004, data: { agentId: 'alpha' } });
    expect(error.message).toContain('the login was refused: "access_denied"');
    ask(worker, 'b');
    expect((await worker.answer('b')).error.code).toBe(-32_004);
    expect(provider.pages).toBe(1);
  });

  test('[WP39] what waits for a login can be taken back', async () => {
    const worker = await launch({
      AUTH_AUTO_OAUTH: 'true',
      BROWSER: program('idle', '#!/bin/sh\n'),
    });
    ask(worker, 'a');
    await worker.noted(/waiting for your login/);
    worker.send({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id: 'a' } });
    expect((await worker.answer('a')).error.code).toBe(-32_800);
    ask(worker, 'b');
    worker.child.stdin.end();
    expect((await worker.answer('b')).error.code).toBeOneOf([8, -32_004]);
    expect(await worker.exited()).toBe(0);
  });

  test.each<[Record<string, string>, RegExp]>([
    [{}, /^alpha wants authentication$/],
    [{ AUTH_AUTO_OAUTH: 'yes' }, /^alpha wants authentication$/],
    [{ AUTH_AUTO_OAUTH: 'true', CI: '1' }, /a login needs a browser on this machine/],
  ])('[WP39] with %j no page is opened', async (env, why) => {
    const worker = await launch({ BROWSER: browser(), ...env });
    ask(worker, 'a');
    expect((await worker.answer('a')).error.message).toMatch(why);
    expect(provider.pages).toBe(0);
  });
});

describe('a keychain', () => {
  /** As secret-tool is: silent where it has nothing, without a newline where it has. */
  function libsecret(): Keychain {
    const kept = join(dir, 'kept');
    const text = `#!/bin/sh
echo "$*" >> '${dir}/args'
case $1 in
  store) cat > '${kept}' ;;
  lookup) if [ -e '${kept}' ]; then cat '${kept}'; else exit 1; fi ;;
esac
`;
    mkdirSync(join(dir, 'bin'));
    program('bin/secret-tool', text);
    return findKeychain({ PATH: `${join(dir, 'bin')}:/usr/bin:/bin` }, 'linux') as Keychain;
  }
  const login = (keychain: Keychain | null) =>
    runKeysCommand(
      { registry: null, customAgents: null, apiKeys: join(dir, 'api-keys.json'), keychain },
      {
        ...{ do: 'login', provider: 'oidc', agents: ['alpha'], env: provider.env },
        open: (url) => void fetch(url),
      },
      () => {},
    );

  test('[WP40] seals the file of logins; the key stands in no argument and no other key opens it', async () => {
    const keychain = libsecret();
    const lines = await login(keychain);
    expect(lines.at(-1)).toMatch(/encrypted with a key in your keychain \(secret-tool\)$/);
    const path = join(dir, 'agent-logins.json');
    expect(readFileSync(path, 'utf8')).not.toMatch(/token-|refresh-1|my-app/);
    const key = readFileSync(join(dir, 'kept'), 'utf8');
    expect(readFileSync(join(dir, 'args'), 'utf8')).not.toContain(key);
    const read = async (one: Keychain | null) =>
      (await openLoginsFile(path, one).read()).get('oidc');
    expect((await read(keychain))?.accessToken).toMatch(/^token-/);
    await expect(read(null)).rejects.toThrow(/sealed with a key of your keychain/);
    writeFileSync(join(dir, 'kept'), Buffer.alloc(32, 7).toString('base64url'));
    await expect(read(keychain)).rejects.toThrow(/does not open with the key of your keychain/);
    const files = { registry: null, customAgents: null, apiKeys: join(dir, 'api-keys.json') };
    await runKeysCommand({ ...files, keychain: null }, { do: 'logout', agent: null }, () => {});
    expect(await read(null)).toBeUndefined();
  });

  test('[WP40] that does not answer is said, and the file is for its owner alone', async () => {
    mkdirSync(join(dir, 'bin'));
    program('bin/secret-tool', '#!/bin/sh\necho "no D-Bus here" >&2; exit 1\n');
    const keychain = findKeychain({ PATH: join(dir, 'bin') }, 'linux');
    const lines = await login(keychain);
    expect(lines.at(-1)).toMatch(/mode 0600\) and not encrypted: the keychain did not answer/);
    expect(readFileSync(join(dir, 'agent-logins.json'), 'utf8')).toContain('token-');
    expect(findKeychain({ PATH: '/nowhere' }, 'linux')).toBeNull();
    expect(findKeychain({ PATH: process.env.PATH }, 'win32')).toBeNull();
  });

  test('[WP40] of macOS is told the key on stdin', async () => {
    mkdirSync(join(dir, 'bin'));
    const text = `#!/bin/sh
echo "$*" >> '${dir}/args'
case $1 in
  -i) sed 's/.* -w //' > '${dir}/kept' ;;
  *) if [ -e '${dir}/kept' ]; then cat '${dir}/kept'; else exit 44; fi ;;
esac
`;
    program('bin/security', text);
    const keychain = findKeychain({ PATH: `${join(dir, 'bin')}:/usr/bin:/bin` }, 'darwin');
    expect((await login(keychain)).at(-1)).toMatch(/in your keychain \(security\)$/);
    const key = readFileSync(join(dir, 'kept'), 'utf8').trim();
    expect(readFileSync(join(dir, 'args'), 'utf8')).not.toContain(key);
    const file = openLoginsFile(join(dir, 'agent-logins.json'), keychain);
    expect((await file.read()).get('oidc')?.accessToken).toMatch(/^token-/);
  });
});

describe('--setup at a terminal', () => {
  async function setUp(answers: readonly string[], open = () => (url: string) => void fetch(url)) {
    const said: string[] = [];
    const rest = [...answers];
    const next = async (question: string): Promise<string | null> => {
      said.push(question);
      return rest.shift() ?? null;
    };
    const person = { say: (line: string) => said.push(line), ask: next, askUnseen: next };
    const files = { registry, customAgents: null, apiKeys: join(dir, 'api-keys.json') };
    const lines = await runKeysCommand(
      { ...files, keychain: null },
      { do: 'setup', person: { ...person, close() {} }, env: provider.env, open },
      () => {},
    );
    return { said: said.join('\n'), lines };
  }

  test('[WP41] asks for agent, way and key, and keeps it; what is wrong is said and asked again', async () => {
    const { said, lines } = await setUp([
      ...['nobody', 'alpha', '3', 'alpha', '1', 'A-B', 'alpha', '', 'KEY_A', 'secret-value', ''],
    ]);
    expect(said).toContain('agents: alpha');
    expect(said).toContain('the registry has no agent "nobody"');
    expect(said).toContain('a variable is letters, digits and _; nothing was kept');
    expect(said).toContain('alpha gets KEY_A');
    expect(lines).toEqual(['alpha: KEY_A']);
    expect(`${said}${lines}`).not.toContain('secret-value');
    expect(JSON.parse(readFileSync(join(dir, 'api-keys.json'), 'utf8')).agents.alpha.env).toEqual({
      KEY_A: 'secret-value',
    });
  });

  test('[WP41] logs in where it is told to; a login that fails costs nothing else', async () => {
    const { said, lines } = await setUp([
      ...['alpha', '2', 'gitlab', 'alpha', '2', 'github', 'alpha', '2', 'oidc'],
    ]);
    expect(said).toContain('there is no provider "gitlab"');
    expect(said).toContain('OAUTH_GITHUB_CLIENT_ID is not set');
    expect(said).toMatch(/logged in at oidc for alpha; kept in .* \(mode 0600\)/);
    expect(lines.join('\n')).toMatch(/^oidc: logged in until .*, for alpha$/m);
  });
});
