/**
 * The hub is killed while a turn runs: nothing of the turn is left alive, with its reaper or without,
 * and the next hub tries the turn again, once, and loses nothing.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type PluginPackage, writePlugins } from '../conformance/sox/plugin-project.ts';
import { until } from './deadline.ts';
import { type HubProcess, isRunning, startHubProcess } from './hub-process.ts';
import { fetchReply, type Json } from './running-hub.ts';

const dirs: string[] = [];
const hubs: HubProcess[] = [];
afterEach(async () => {
  for (const hub of hubs.splice(0)) {
    if (hub.child.exitCode === null && hub.child.signalCode === null) await hub.kill();
  }
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const LATE_MS = 20_000;

/**
 * Leaves a grandchild and a daemon behind, and hangs at the stage it is told to, until it is tried
 * again after the restart.
 */
const RUNNER = `
read -r given
case $given in *'"after_restart":true'*) again=1 ;; esac
echo "$again" >> attempts
if [ -z "$again" ] && [ "$STAGE" = running ]; then
  sleep 300 & echo $! >> pids
  setsid sh -c 'echo $$ >> pids; exec sleep 300' &
  echo $$ >> pids
  while [ "$(wc -l < pids)" -lt 3 ]; do :; done
  echo started > marker
  sleep 300
fi
echo "$RESULT"
if [ -z "$again" ] && [ "$STAGE" = answered ]; then
  echo $$ >> pids
  echo answered > marker
  sleep 300
fi
`;

interface Scene {
  readonly dir: string;
  readonly hubDir: string;
  readonly config: string;
}

const ANSWERED = { outcome: 'done', replies: [{ body: { text: 'answered' } }] };

function scene(stage: string, result: object = ANSWERED): Scene {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'synod-killed-')));
  dirs.push(dir);
  writeFileSync(join(dir, 'runner.sh'), RUNNER);
  writeFileSync(join(dir, 'pids'), '');
  const config = join(dir, 'config.json');
  const env = { STAGE: stage, RESULT: JSON.stringify(result) };
  const runner = { kind: 'command', command: ['/bin/sh', '../runner.sh'], env };
  const file = {
    turns_roots: [dir],
    runners: { script: { ...runner, command: ['/bin/sh', join(dir, 'runner.sh')], cwd: dir } },
    agents: [{ id: 'ada', runner: 'script', subscribe: ['work'] }],
  };
  writeFileSync(config, JSON.stringify(file));
  return { dir, hubDir: join(dir, 'hub'), config };
}

async function start(
  { hubDir, config }: Scene,
  flags: readonly string[] = [],
): Promise<HubProcess> {
  const hub = await startHubProcess(hubDir, { args: ['--config', config, ...flags] });
  if (!isRunning(hub)) throw new Error(`the hub did not start: ${hub.stderr}`);
  hubs.push(hub);
  return hub;
}

async function ask(hub: HubProcess, { hubDir }: Scene, name: string, input: object): Promise<Json> {
  const owner = readFileSync(join(hubDir, 'credential'), 'utf8').trim();
  const isAgent =
    name === 'send' || name === 'subscribe' || name === 'recv' || name === 'receipts_get';
  const { status, body, text } = await fetchReply(`${hub.url}/v1/ops/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${owner}`, ...(isAgent && { 'x-sox-agent-id': 'bob' }) },
    body: JSON.stringify(input),
  });
  if (status !== 200) throw new Error(`${name}: ${text}`);
  return body;
}

const pidsOf = ({ dir }: Scene): string[] =>
  readFileSync(join(dir, 'pids'), 'utf8')
    .split('\n')
    .filter((pid) => pid !== '');

function isAlive(pid: string): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

const marked = ({ dir }: Scene): Promise<unknown> =>
  until(
    'the runner is there',
    () => setTimeout(10).then(() => existsSync(join(dir, 'marker'))),
    Boolean,
    LATE_MS,
  );

const noneAlive = (one: Scene): Promise<string[]> =>
  until(
    'nothing is left alive',
    () => setTimeout(10).then(() => pidsOf(one).filter(isAlive)),
    ({ length }) => length === 0,
  );

/** The turn is done by the next hub, its message read, its answer there once. */
async function concluded(hub: HubProcess, one: Scene, message_id: string): Promise<Json> {
  const [turn] = await until(
    'the turn is done',
    async () => (await ask(hub, one, 'turns_list', {})).turns,
    (turns: Json[]) => turns.length === 1 && turns[0].state === 'done',
    LATE_MS,
  );
  const { receipts } = await ask(hub, one, 'receipts_get', { message_id });
  expect(receipts.find(({ agent_id }: Json) => agent_id === 'ada').state).toBe('acted');
  const { messages } = await ask(hub, one, 'recv', {});
  const answers = messages.filter(({ sender }: Json) => sender === 'ada');
  expect(answers.map(({ body }: Json) => body.text)).toEqual(['answered']);
  return turn;
}

async function send(hub: HubProcess, one: Scene): Promise<string> {
  await ask(hub, one, 'subscribe', { pattern: 'work' });
  return (await ask(hub, one, 'send', { channel: 'work', body: { text: 'go' } })).message_id;
}

test.runIf(process.platform === 'linux')(
  '[RU19][RU6] killed while it runs: the reaper ends all of it, and it is tried again once',
  async () => {
    const one = scene('running');
    const first = await start(one);
    const message_id = await send(first, one);
    await marked(one);
    expect(pidsOf(one).filter(isAlive)).toHaveLength(3);
    await first.kill();
    await noneAlive(one);
    const second = await start(one);
    const turn = await concluded(second, one, message_id);
    expect(turn).toMatchObject({ attempt: 2, after_restart: true });
    expect(readFileSync(join(one.dir, 'attempts'), 'utf8')).toBe('\n1\n');
    expect(await second.stop()).toBe(0);
  },
  60_000,
);

test.runIf(process.platform === 'linux')(
  '[RU6] killed with its reaper: the next hub ends what is left, by its record',
  async () => {
    const one = scene('running');
    const first = await start(one);
    const message_id = await send(first, one);
    await marked(one);
    const pid = String(first.child.pid);
    const children = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', pid], { encoding: 'utf8' });
    const reaper = /^\s*(\d+) .*synod-reaper/m.exec(children)?.[1];
    // Stopped first: it must not act on the end of the hub.
    process.kill(Number(reaper), 'SIGSTOP');
    await first.kill();
    process.kill(Number(reaper), 'SIGKILL');
    expect(pidsOf(one).filter(isAlive)).toHaveLength(3);
    const second = await start(one);
    await noneAlive(one);
    await concluded(second, one, message_id);
  },
  60_000,
);

/** Dies as `kill -9` would, right behind the last answer of the first attempt. */
const DEADLY: PluginPackage = {
  package: 'deadly',
  manifest: `apiVersion: sox.dev/v1
kind: SoxPlugin
metadata: { id: org.acme.deadly, version: 1.0.0 }
spec:
  protocol_version: ">=1.0,<2.0"
  plugin_kind: interceptor
  signatures: []
`,
  source: `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
const count = fileURLToPath(new URL('./count', import.meta.url));
export default () => async (context, next) => {
  const said = await next();
  if (context.operation !== 'send' || context.agent_id !== 'ada') return said;
  const sent = (existsSync(count) ? readFileSync(count, 'utf8').length : 0) + 1;
  writeFileSync(count, '.'.repeat(sent));
  if (sent === 2) process.kill(process.pid, 'SIGKILL');
  return said;
};`,
};

test('[RU23] [GT16] killed between its answers and its end: each is said once, and the grave one waits again', async () => {
  const grave = { channel: 'ops', body: { tier: 2, text: 'drop the tables' } };
  const replies = [grave, { body: { text: 'answered' } }];
  const one = scene('none', { outcome: 'done', replies });
  await writePlugins(one.dir, [DEADLY]);
  const flags = ['--discovery', one.dir, '--allow-plugins', 'org.acme.deadly'];
  const first = await start(one, flags);
  await ask(first, one, 'channels_configure', { channel: 'ops', gate_tier2: true });
  await ask(first, one, 'subscribe', { pattern: 'ops' });
  const person = { name: 'mia', passphrase: 'correct horse battery' };
  await ask(first, one, 'people_add', person);
  const message_id = await send(first, one).catch(() => 'm0');
  await until(
    'the hub is dead',
    () => setTimeout(10).then(() => first.child.signalCode),
    (signal) => signal === 'SIGKILL',
    LATE_MS,
  );
  const second = await start(one, flags);
  expect(await concluded(second, one, message_id)).toMatchObject({ attempt: 2 });
  const { gates } = await ask(second, one, 'gates_list', { state: 'all' });
  expect(gates.map(({ state }: Json) => state).sort()).toEqual(['pending', 'withdrawn']);
  const [{ gate_id }] = gates.filter(({ state }: Json) => state === 'pending');
  const { proof } = await ask(second, one, 'people_prove', person);
  await ask(second, one, 'gates_decide', { gate_id, decision: 'approve', proof });
  const { messages } = await ask(second, one, 'recv', {});
  expect(messages.map(({ body }: Json) => body.text)).toEqual(['drop the tables']);
});

test('[RU19] killed before it began, it begins; killed behind its answer, nothing is lost', async () => {
  const one = scene('answered');
  const first = await start(one);
  const message_id = await send(first, one);
  await first.kill();
  const second = await start(one);
  await marked(one);
  await second.kill();
  await noneAlive(one);
  const third = await start(one);
  await concluded(third, one, message_id);
});
