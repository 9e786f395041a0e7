/**
 * `synod mcp` beside the command line, in one real repository and against a real hub: claims of either
 * meet, whatever folder they are made from, and an agent behind the bridge is seen while it is there.
 */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commit, git, initRepository, tempFolder } from '../place/real-repository.ts';
import { BIN, CACHE } from '../program.ts';
import { type Home, openHome } from './cli-run.ts';
import { until } from './deadline.ts';

const SHARED = { PATH: process.env.PATH ?? '', XDG_CACHE_HOME: CACHE };
let home: Home;
const clients = new Set<Client>();

beforeAll(async () => {
  home = openHome();
  await home.start(['serve', '--json', '--port', '0']).printed(/"ready":true/);
});
afterAll(async () => {
  await Promise.all([...clients].map((client) => client.close()));
  await home.close();
});

function makeRepository(): string {
  const app = initRepository(join(tempFolder(), 'app'));
  commit(app, { 'd/q': 'q', 'd/e/r': 'r' });
  return app;
}

async function connect(agent: string, cwd: string) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp', '--as', agent, '--tools', 'all'],
    cwd,
    env: { ...SHARED, HOME: dirname(home.dir), SYNOD_DIR: home.dir },
    stderr: 'inherit',
  });
  const client = new Client({ name: 'test', version: '1' });
  clients.add(client);
  await client.connect(transport);
  return {
    client,
    pid: transport.pid,
    async call(name: string, input: Record<string, unknown>) {
      const { content } = await client.callTool({ name, arguments: input });
      const [first] = content as { text: string }[];
      return JSON.parse(first?.text ?? '') as Record<string, unknown>;
    },
  };
}

const as = (agent: string) => ({ env: { SYNOD_AGENT: agent } });

async function seen(agent: string): Promise<Record<string, unknown> | undefined> {
  const { agents } = await home.json(['who'], as('watcher'));
  return (agents as Record<string, unknown>[]).find((one) => one.agent_id === agent);
}

test('[MC13] paths claimed over MCP and on the command line meet, from whatever folder', async () => {
  const app = makeRepository();
  const [ada, bob] = await Promise.all([connect('ada', join(app, 'd')), connect('bob', app)]);
  const taken = await ada.call('claims__take', { task_id: 't1', paths: ['q', './e/*'] });
  const branch = git(app, 'symbolic-ref', '--short', 'HEAD').trim();
  expect(taken.claim).toMatchObject({ worktree: app, branch, paths: ['d/q', 'd/e/*'] });

  const cli = await home.run(['claim', 't2', 'd/q'], { ...as('carol'), cwd: app });
  expect(cli.code).toBe(12);
  expect(cli.stderr).toMatch(/^ {2}holder +ada \(t1\)$/m);
  expect(await bob.call('claims__take', { task_id: 't3', paths: ['d/**/r'] })).toMatchObject({
    detail: { reason: 'claim.overlap', holder: 'ada' },
  });
  expect(await bob.call('claims__check', { paths: ['.'] })).toMatchObject({ free: false });
  expect(await ada.call('claims__check', { paths: ['q'] })).toMatchObject({ mine: true });
  expect(await bob.call('claims__wait', { paths: ['d/q'] })).toMatchObject({ reserved: false });

  await home.json(['claim', 't4', 'd/new'], { ...as('carol'), cwd: app });
  expect(await ada.call('claims__take', { task_id: 't5', paths: ['new'] })).toMatchObject({
    detail: { reason: 'claim.overlap', holder: 'carol' },
  });
});

test('[MC13] work without paths is of no files, a worktree that is said stays, and what escapes is refused', async () => {
  const app = makeRepository();
  const eve = await connect('eve', join(app, 'd'));
  const work = await eve.call('claims__take', { task_id: 'w1' });
  expect(work.claim).toMatchObject({ worktree: '', paths: [] });
  const said = await eve.call('claims__take', { task_id: 'w2', paths: ['q'], worktree: 'other' });
  expect(said.claim).toMatchObject({ worktree: 'other', paths: ['q'] });
  expect(await eve.call('claims__take', { task_id: 'w3', paths: ['../../x'] })).toMatchObject({
    error_code: 'validation_error',
    detail: { reason: 'scope.escape' },
  });
  const up = await eve.call('claims__take', { task_id: 'w4', paths: ['../top'] });
  expect(up.claim).toMatchObject({ worktree: app, paths: ['top'] });
});

test('[MC13] outside git a path is placed from the root of the disk', async () => {
  const folder = join(tempFolder(), 'plain');
  mkdirSync(folder);
  const pat = await connect('pat', folder);
  const taken = await pat.call('claims__take', { task_id: 'p1', paths: ['notes'] });
  const paths = [join(folder, 'notes').slice(1)];
  expect(taken.claim).toMatchObject({ worktree: '/', branch: null, paths });
});

test('[MC14] an agent is seen with its process while its bridge runs, and is gone afterwards', async () => {
  const app = makeRepository();
  const { client, pid } = await connect('mia', app);
  const here = await until(
    'mia is seen',
    () => seen('mia'),
    (row) => row?.state === 'idle',
  );
  expect(here?.evidence).toMatchObject({ process: pid });
  await client.close();
  clients.delete(client);
  expect(await seen('mia')).toMatchObject({ state: 'gone' });
});

test('[SB8] a hub that a bridge starts stands in the data directory, without the session’s variables', async () => {
  const fresh = openHome();
  const project = mkdtempSync(join(tmpdir(), 'synod-project-'));
  const evil = join(project, 'node_modules/evil');
  mkdirSync(evil, { recursive: true });
  writeFileSync(join(evil, 'package.json'), '{"name":"evil","version":"1.0.0","sox":{}}');
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp', '--as', 'ada'],
    cwd: project,
    env: {
      ...SHARED,
      HOME: dirname(fresh.dir),
      SYNOD_DIR: fresh.dir,
      SYNOD_AGENT: 'ada',
      CLAUDE_CODE_MESSAGING_TOKEN: 'of-a-session',
      SOX_HTTP_PORT: '0',
    },
    stderr: 'inherit',
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  await client.callTool({ name: 'channels__recv', arguments: {} });
  const { pid } = JSON.parse(readFileSync(join(fresh.dir, 'hub.json'), 'utf8'));
  try {
    expect(realpathSync(`/proc/${pid}/cwd`)).toBe(realpathSync(fresh.dir));
    const environ = readFileSync(`/proc/${pid}/environ`, 'utf8');
    expect(environ).toContain('SYNOD_DIR=');
    expect(environ).not.toMatch(/of-a-session|SYNOD_AGENT/);
  } finally {
    await client.close();
    await fresh.run(['down']);
    await fresh.close();
    rmSync(project, { recursive: true, force: true });
  }
});

test('[WK3] one claim lies at one place, over HTTP, over the bridge and on the command line', async () => {
  const app = makeRepository();
  const nested = initRepository(join(app, 'sub'));
  commit(nested, { 'f.ts': 'f' });
  mkdirSync(join(app, 'd/.git'));
  symlinkSync('d/e', join(app, 'short'));
  symlinkSync(tmpdir(), join(app, 'out'));
  const { url } = JSON.parse(readFileSync(join(home.dir, 'hub.json'), 'utf8')) as { url: string };
  const token = readFileSync(join(home.dir, 'credential'), 'utf8').trim();
  let count = 0;
  /** `worktree path` as each door says it, or that it refused. */
  async function atEveryDoor(cwd: string, path: string): Promise<Set<string>> {
    const shown = (answer: Record<string, unknown>): string => {
      const claim = answer.claim as { worktree: string; paths: string[] } | undefined;
      return claim === undefined ? 'refused' : `${claim.worktree} ${claim.paths}`;
    };
    const bridge = await connect(`door-${++count}`, cwd);
    const said = shown(await bridge.call('claims__take', { task_id: `b${count}`, paths: [path] }));
    await bridge.call('claims__release', { task_id: `b${count}` });
    const agent = { 'x-sox-agent-id': 'web', authorization: `Bearer ${token}` };
    const post = (operation: string, input: object) =>
      fetch(`${url}/v1/ops/${operation}`, {
        method: 'POST',
        headers: agent,
        body: JSON.stringify(input),
      }).then(async (response) => (await response.json()) as Record<string, unknown>);
    const taken = await post('claims_take', { task_id: `h${count}`, worktree: cwd, paths: [path] });
    await post('claims_release', { task_id: `h${count}` });
    const options = { ...as('typist'), cwd };
    const typed = await home.run(['--json', 'claim', `c${count}`, path], options);
    await home.run(['release', `c${count}`], options);
    const line = typed.code === 0 ? shown(JSON.parse(typed.stdout)) : 'refused';
    return new Set([said, shown(taken), line]);
  }
  const table: readonly (readonly [cwd: string, path: string, place: string])[] = [
    [app, 'd/e/r', `${app} d/e/r`],
    [join(app, 'd'), 'e/r', `${app} d/e/r`],
    [app, 'short/r', `${app} d/e/r`],
    [app, 'short', `${app} d/e`],
    [app, 'new/**/*.ts', `${app} new/**/*.ts`],
    [nested, 'f.ts', `${nested} f.ts`],
    [app, 'sub/f.ts', 'refused'],
    [app, 'out/f.ts', 'refused'],
    [app, '.git/config', 'refused'],
  ];
  for (const [cwd, path, place] of table) {
    expect([...(await atEveryDoor(cwd, path))], `${path} from ${cwd}`).toEqual([place]);
  }
});
