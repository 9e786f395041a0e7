/**
 * Goal: a team is started, shown and stopped from one file, and what is wrong changes nothing.
 * Method: the command line against a hub, with the sample that ships; its vendors are stand-ins, its model an
 * endpoint on loopback. Programs that stay are real, and the command that hosts them is interrupted and killed.
 */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type StandIn, writeStandIn } from '../../src/server/runners/vendors/stand-in.fixture.ts';
import { type Home, openHome } from './cli-run.ts';
import { until } from './deadline.ts';
import type { Json } from './running-hub.ts';
import { gone, isAlive } from './supervised-scene.ts';

const SAMPLE = fileURLToPath(new URL('../../examples/team/team.yaml', import.meta.url));
let home: Home;
let folder = '';
let standIn: StandIn;
let model: Server;
let modelUrl = '';

beforeAll(async () => {
  home = openHome();
  folder = join(realpathSync(dirname(home.dir)), 'project');
  mkdirSync(folder);
  standIn = writeStandIn(folder);
  model = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const choices = [{ message: { content: 'It says hello now.' }, finish_reason: 'stop' }];
    response.end(JSON.stringify({ choices, usage: { prompt_tokens: 1, completion_tokens: 1 } }));
  });
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
  modelUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`;
  expect(await home.run(['up', '--port', '0'])).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await home.close();
  model.close();
});

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** The sample, with programs that are here. */
function sampleHere(): string {
  const text = readFileSync(SAMPLE, 'utf8')
    .replace(
      'kind: claude\n',
      `kind: claude\n      command: ${JSON.stringify(standIn('claude', 'good'))}\n`,
    )
    .replace(
      'kind: codex\n',
      `kind: codex\n      command: ${JSON.stringify(standIn('codex', 'good'))}\n`,
    )
    .replace('http://127.0.0.1:11434/v1', modelUrl);
  return write('pond.yaml', text);
}

const managed = async (): Promise<string[]> =>
  ((await home.json(['agents', 'list', '--managed'])) as Json).agents.map(
    ({ agent_id: agent }: Json) => agent,
  );

test('[TE2] [TE3] [TE4] the sample is started, works, is shown and is stopped', async () => {
  const path = sampleHere();
  const check = await home.run(['team', path, '--check']);
  expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining('pond: 3 agents') });
  expect(await managed()).toEqual([]);

  const started = (await home.json(['team', path])) as Json;
  expect(started.agents).toMatchObject([
    { agent_id: 'heron', roles: ['builder'], runner: 'claude', state: 'asleep' },
    { agent_id: 'otter', roles: ['reviewer'], runner: 'codex' },
    { agent_id: 'newt', roles: ['writer'], runner: 'model' },
  ]);
  expect(started.plan).toMatchObject([
    { task_id: 'pond-1', status: 'open' },
    { task_id: 'pond-2', status: 'open' },
    { task_id: 'pond-3', status: 'open' },
  ]);
  // Again is the same.
  const again = (await home.json(['team', path])) as Json;
  expect(again.agents.map(({ since }: Json) => since)).toEqual(
    started.agents.map(({ since }: Json) => since),
  );

  for (const channel of ['pond/work', 'pond/notes']) {
    await home.run(['send', channel, 'say hello, please', '--person']);
  }
  const turned = await until(
    'heron and newt had a turn',
    () => home.json(['team', 'show', path]) as Promise<Json>,
    ({ agents }) => [0, 2].every((at) => agents[at].turns > 0 && agents[at].state === 'asleep'),
  );
  // Otter is woken by heron alone.
  expect(turned.agents[1].turns).toBe(0);
  const { stdout } = await home.run(['team', 'show', path]);
  expect(stdout).toMatch(/^pond:\n {2}heron +builder +claude +asleep for .* 1 turn/);
  expect(stdout).toMatch(/plan:\n {2}pond-1 +open/);
  const told = await home.run(['replay', 'pond/notes', '--as', 'newt']);
  expect(told.stdout).toContain('It says hello now.');

  const stop = await home.run(['team', 'stop', path]);
  expect(stop.stdout).toBe('stopped: heron, otter, newt\n');
  expect(await managed()).toEqual([]);
  const off = (await home.json(['team', 'show', path])) as Json;
  expect(off.agents.map(({ state }: Json) => state)).toEqual(['off', 'off', 'off']);
  expect(off.plan[0].status).toBe('open');
  const twice = await home.run(['team', 'stop', path]);
  expect(twice.stdout).toBe('nobody of pond was running\n');
}, 120_000);

test('[TE1] a file with flaws is refused with their lines, and nothing is changed', async () => {
  const path = write(
    'bad.yaml',
    'team: t\nagents:\n  ada:\n    runner: { kind: claud }\n    rol: x\n',
  );
  const ran = await home.run(['team', path]);
  expect(ran.code).toBe(65);
  expect(ran.stderr).toContain('team.invalid');
  const one = await home.run(['team', write('one.yaml', 'team: t\n'), '--json']);
  expect(JSON.parse(one.stderr)).toMatchObject({
    error_code: 'team.invalid',
    detail: { problems: [expect.stringMatching(/one\.yaml:1:1: agents: it is missing$/)] },
  });
  expect(await managed()).toEqual([]);
});

test('[TE2] what the hub refuses half-way is told, and nobody of it is left running', async () => {
  const good = JSON.stringify(standIn('claude', 'good'));
  const path = write(
    'half.yaml',
    `team: half\nagents:\n  one:\n    follows: [x]\n    runner: { kind: claude, command: ${good}, cwd: . }\n  two:\n    follows: [x]\n    runner: { kind: claude, command: [/no/such/program], cwd: . }\n`,
  );
  const ran = await home.run(['team', path]);
  expect(ran.code).not.toBe(0);
  expect(ran.stderr).toContain('runner.unusable: there is no program "/no/such/program" to run');
  expect(await managed()).toEqual([]);
});

const STAYS = 'echo "pid $$"; echo listening; while :; do sleep 0.1; done';

test('[TE5] programs that stay are hosted until Ctrl-C, and gone with a killed host', async () => {
  const path = write(
    'stays.yaml',
    `team: stays\nagents:\n  minnow:\n    role: indexer\n    process:\n      command: [/bin/sh, -c, '${STAYS}']\n      ready: ^listening$\n      limits: { files: 64 }\n      can: [index]\n`,
  );
  const first = home.start(['team', path]);
  const [, pid = '0'] = await first.printed(/minnow: pid (\d+)/);
  await first.printed(/minnow: running \(i\d+, process \d+\)/);
  const shown = (await home.json(['team', 'show', path])) as Json;
  expect(shown.agents).toMatchObject([{ agent_id: 'minnow', state: 'running', runner: '/bin/sh' }]);
  const found = (await home.json(['agents', 'find', 'index', '--up'])) as Json;
  expect(found.agents).toMatchObject([{ agent_id: 'minnow', instances: 1, limits: { files: 64 } }]);
  first.child.kill('SIGINT');
  expect(await first.exited()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('stopped'),
  });
  expect(isAlive(Number(pid))).toBe(false);

  const second = home.start(['team', path]);
  const [, next = '0'] = await second.printed(/minnow: pid (\d+)/);
  await second.printed(/minnow: running/);
  const stop = await home.run(['team', 'stop', path]);
  expect(stop.stdout).toBe('stopped: minnow\n');
  expect(await second.exited()).toMatchObject({ code: 0 });
  expect(isAlive(Number(next))).toBe(false);

  const third = home.start(['team', path]);
  const [, last = '0'] = await third.printed(/minnow: pid (\d+)/);
  third.child.kill('SIGKILL');
  await gone(Number(last));
}, 120_000);

test('[TE5] agents are defined, run, listed and stopped one by one', async () => {
  const define = await home.run([
    ...['agents', 'define', 'carp', '--can', 'count', '--limit', 'files=64', '--singleton'],
  ]);
  expect(define).toMatchObject({ code: 0, stdout: 'carp may be there once\n' });
  const hosted = home.start([
    'agents',
    'run',
    'carp',
    '--ready',
    'listening',
    '--',
    '/bin/sh',
    '-c',
    STAYS,
  ]);
  await hosted.printed(/carp: running \((i\d+)/);
  const { stdout } = await home.run(['agents', 'instances', 'carp']);
  expect(stdout).toMatch(/^i\d+ +carp +running for .* process \d+/);
  const second = await home.run(['agents', 'run', 'carp', '--', '/bin/true']);
  expect(second).toMatchObject({ code: 1, stdout: expect.stringContaining('is a singleton') });
  const stop = await home.run(['agents', 'stop', 'carp', '--reason', 'enough']);
  expect(stop.stdout).toMatch(/^stopped: i\d+\n$/);
  expect(await hosted.exited()).toMatchObject({ code: 0 });
  const over = await home.run(['agents', 'instances', 'carp', '--all']);
  expect(over.stdout).toMatch(/stopped for .*enough/);
  const crash = await home.run([
    ...['agents', 'run', 'carp', '--restart', 'never', '--ready', 'x', '--'],
    ...['/bin/sh', '-c', 'echo "the reason" >&2; exit 3'],
  ]);
  expect(crash).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/given_up: it exited with code 3.*the reason/s),
  });
  expect(await home.run(['agents', 'undefine', 'carp'])).toMatchObject({ code: 0 });
}, 120_000);
