/** A login over OAuth at a provider of our own, and what the launcher's agents get of it. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loginsPath, openLoginsFile } from '../../../src/bus/programs/logins-file.ts';
import { login } from '../../../src/bus/programs/oauth-login.ts';
import { openLogins } from '../../../src/bus/programs/oauth-logins.ts';
import { readProvider } from '../../../src/bus/programs/oauth-provider.ts';
import { runKeysCommand } from '../../../src/bus/programs/registry-command.ts';
import { platformTarget } from '../../../src/bus/programs/registry-file.ts';
import { type OauthServer, openOauthServer } from './oauth-server.ts';
import { killWorkers, startWorker } from './worker-process.ts';

const dir = mkdtempSync(join(tmpdir(), 'synod-oauth-'));
const files = {
  registry: null,
  customAgents: null,
  apiKeys: join(dir, 'api-keys.json'),
  keychain: null,
};
let provider: OauthServer;
beforeAll(async () => {
  provider = await openOauthServer();
});
afterAll(async () => {
  await killWorkers();
  provider.close();
  rmSync(dir, { recursive: true });
});

/** A browser in which the person agrees. */
async function agree(url: string, change: Record<string, string> = {}): Promise<number> {
  const shown = new URL(url).searchParams;
  provider.challenges.set('the-code', shown.get('code_challenge') ?? '');
  const back = new URL(shown.get('redirect_uri') ?? '');
  const query = { code: 'the-code', state: shown.get('state') ?? '', ...change };
  for (const [name, value] of Object.entries(query)) back.searchParams.set(name, value);
  return (await fetch(back)).status;
}

test('[WP38] a login leaves a token for the agents named for it, in a file of its owner', async () => {
  const lines = await runKeysCommand(
    files,
    {
      do: 'login',
      provider: 'oidc',
      agents: ['alpha'],
      env: provider.env,
      open: (url) => void agree(url),
    },
    () => {},
  );
  expect(lines).toEqual([
    expect.stringMatching(/^oidc: logged in until 2\d{3}-.*, for alpha$/),
    expect.stringMatching(
      /agent-logins\.json, for your user alone \(mode 0600\) and not encrypted/,
    ),
  ]);
  const path = loginsPath(files.apiKeys);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const file = openLoginsFile(path, null);
  const logins = await file.read();
  const keeper = openLogins(file, logins, null, () => {});
  const { accessToken } = logins.get('oidc') ?? { accessToken: '' };
  expect(keeper.headersFor('alpha')).toEqual({ Authorization: `Bearer ${accessToken}` });
  expect(keeper.headersFor('evil-alpha')).toBeNull();
  keeper.close();
  const status = await runKeysCommand(files, { do: 'auth-status' }, () => {});
  expect(status.join()).toMatch(/oidc: logged in/);
  expect(status.join()).not.toContain(accessToken);
});

test('[WP38] a callback without the state is refused and waited past; a refusal is said', async () => {
  const oidc = await readProvider('oidc', provider.env);
  let guessed: Promise<number> | null = null;
  const tokens = await login(oidc, (url) => {
    guessed = agree(url, { state: 'guessed' });
    void guessed.then(() => agree(url));
  });
  expect(tokens.accessToken).toMatch(/^token-/);
  expect(await guessed).toBe(400);
  const refused = login(oidc, (url) => void agree(url, { error: 'access_denied' }));
  await expect(refused).rejects.toThrow('the login was refused: "access_denied"');
  await expect(login(oidc, () => {}, 20)).rejects.toThrow(/nobody logged in within 0.02 s/);
  const stolen = login(oidc, (url) => {
    void agree(url);
    provider.challenges.set('the-code', 'of somebody else');
  });
  await expect(stolen).rejects.toThrow(/gave no token: "invalid_grant"/);
});

test('[WP38] a token near its end is renewed, and the launcher gives it to its agent alone', async () => {
  const path = loginsPath(files.apiKeys);
  provider.lifetime = 10;
  const open = (url: string): void => void agree(url);
  await runKeysCommand(
    files,
    { do: 'login', provider: 'oidc', agents: ['alpha'], env: provider.env, open },
    () => {},
  );
  provider.lifetime = 3_600;
  const old = (await openLoginsFile(path, null).read()).get('oidc')?.accessToken;
  const script = fileURLToPath(new URL('./registry-agent.mjs', import.meta.url));
  const binary = { [platformTarget()]: { cmd: process.execPath, args: [script] } };
  const agents = ['alpha', 'beta'].map((id) => ({ id, distribution: { binary } }));
  const registry = join(dir, 'registry.json');
  writeFileSync(registry, JSON.stringify({ agents }));
  const worker = startWorker(['registry', '--registry', registry, '--api-keys', files.apiKeys]);
  const seen = async (agentId: string) => {
    worker.send({ jsonrpc: '2.0', id: agentId, method: 'peek', agentId });
    return (await worker.answer(agentId)).result.seen;
  };
  const fresh = (await seen('alpha')).headers.Authorization;
  expect(fresh).toMatch(/^Bearer token-\d+$/);
  expect(fresh).not.toBe(`Bearer ${old}`);
  expect(provider.asked.at(-1)?.get('grant_type')).toBe('refresh_token');
  expect(await seen('beta')).not.toHaveProperty('headers');
  expect(readFileSync(path, 'utf8')).toContain(fresh.slice('Bearer '.length));
  expect(await runKeysCommand(files, { do: 'logout', agent: 'oidc' }, () => {})).toEqual([
    'removed the login at oidc',
  ]);
  expect(readFileSync(path, 'utf8')).not.toContain('token-');
});

test.each<[string, Record<string, string>, RegExp]>([
  ['gitlab', {}, /no provider "gitlab"; there are github, google, azure, cognito, oidc/],
  ['github', {}, /OAUTH_GITHUB_CLIENT_ID is not set/],
  ['cognito', { OAUTH_COGNITO_CLIENT_ID: 'x' }, /COGNITO_USER_POOL_DOMAIN must be set/],
  ['azure', { OAUTH_AZURE_CLIENT_ID: 'x', AZURE_TENANT_ID: '../evil' }, /AZURE_TENANT_ID must be/],
  ['oidc', { OIDC_CLIENT_ID: 'x' }, /OIDC_ISSUER is not set/],
  ['oidc', { OIDC_CLIENT_ID: 'x', OIDC_ISSUER: 'http://plain.example' }, /is no https URL/],
])('[WP38] %s with %j is refused before a page is opened', async (id, given, why) => {
  await expect(readProvider(id, given)).rejects.toThrow(why);
});
