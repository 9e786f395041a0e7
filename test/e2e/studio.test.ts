/**
 * The software studio of examples/studio, as it is told: eight roles lead a brief to a release that works, with
 * a person's word before it; killed half way it goes on where it was; and what cannot be made is said.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { openStudio } from '../../examples/studio/open-studio.ts';
import { ROLES, runnerFor, VENDORS } from '../../examples/studio/roles.ts';
import { readWitness, writeStandIn } from '../../src/server/runners/vendors/stand-in.fixture.ts';
import { runnerSpec } from '../../src/wire/operations/runner-spec.ts';
import { until, within } from './deadline.ts';
import type { Json } from './running-hub.ts';

const STUDIO = fileURLToPath(new URL('../../examples/studio/studio.ts', import.meta.url));
const BRIEF = readFileSync(new URL('../../examples/studio/brief.md', import.meta.url), 'utf8');
const PERSON = { name: 'ada', passphrase: 'correct horse battery' };

const base = mkdtempSync(join(tmpdir(), 'synod-studio-'));
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children.filter((one) => one.exitCode === null && one.signalCode === null)) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(base, { recursive: true, force: true });
});

interface Door {
  readonly url: string;
  readonly token: string;
}

async function ask({ url, token }: Door, operation: string, input: object = {}): Promise<Json> {
  const answer = await fetch(`${url}/v1/ops/${operation}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  return answer.json();
}

/** The one gate of a run, once it is asked. */
async function approve(door: Door): Promise<void> {
  const { gates } = await until(
    'the studio asks before it publishes',
    () => pause(50).then(() => ask(door, 'gates_list')),
    ({ gates }: Json) => gates.length > 0,
  );
  await ask(door, 'people_add', PERSON);
  const { proof } = await ask(door, 'people_prove', PERSON);
  const { gate_id } = gates[0];
  const decided = await ask(door, 'gates_decide', { gate_id, decision: 'approve', proof });
  expect(decided.state).toBe('approved');
}

/** What was released, as somebody unpacks it who was not there. */
function checkRelease(work: string): void {
  const away = mkdtempSync(join(base, 'unpacked-'));
  execFileSync('tar', ['-xf', join(work, 'dist/convert-v1.0.0.tar'), '-C', away]);
  const say = (...args: string[]): string =>
    execFileSync(process.execPath, ['bin/convert.js', ...args], { cwd: away, encoding: 'utf8' });
  expect(Number(say('2', 'inch', 'centimetre'))).toBe(5.08);
  expect(Number(say('5.08', 'centimetre', 'inch'))).toBe(2);
  execFileSync(process.execPath, ['--test'], { cwd: away, stdio: 'ignore' });
  expect(readFileSync(join(away, 'docs/personas.md'), 'utf8')).toContain('the packer');
}

test('a brief becomes a release: eight roles, review until there is no objection, a person’s word', async () => {
  await using studio = await openStudio({ dir: join(base, 'first') });
  const run = await studio.start({ brief: BRIEF, project: 'tea' });
  await approve(studio);
  expect(await run.result({ timeoutMs: 60_000 })).toEqual({ tag: 'v1.0.0', tests: 12, rounds: 2 });
  checkRelease(studio.work);
  const { turns } = await ask(studio, 'turns_list', { limit: 100 });
  expect(new Set(turns.map(({ agent_id }: Json) => agent_id))).toEqual(new Set(Object.keys(ROLES)));
  expect(turns.every(({ state }: Json) => state === 'done')).toBe(true);
  const { tasks } = await ask(studio, 'plan_board', { project: 'tea' });
  expect(tasks).toHaveLength(5);
  expect(tasks.every(({ status }: Json) => status === 'done')).toBe(true);
  const { claims } = await ask(studio, 'claims_list');
  expect(claims).toEqual([]);
  const steps = await run.steps();
  const named = (name: string): Json => steps.find(({ key }) => key === name);
  // Side by side: the later of the two began before the earlier one ended.
  for (const [one, other] of [
    ['personas', 'architecture'],
    ['unit-tests', 'command-tests'],
  ] as const) {
    const began = Math.max(named(one).started_at, named(other).started_at);
    expect(began).toBeLessThan(Math.min(named(one).ended_at, named(other).ended_at));
  }
}, 120_000);

test('killed with everything it runs, it goes on where it was and does nothing twice', async () => {
  const dir = join(base, 'killed');
  mkdirSync(dir);
  const brief = join(base, 'scales.md');
  writeFileSync(brief, BRIEF);
  const start = () => {
    const child = spawn(process.execPath, [STUDIO, brief, '--dir', dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, XDG_STATE_HOME: join(base, 'state') },
    });
    children.push(child);
    return child;
  };
  const doorOf = async (): Promise<Door> => {
    const { url } = await until(
      'its hub is there',
      () => pause(50).then(() => readJson(join(dir, 'hub/hub.json'))),
      (file) => file !== null,
    );
    return { url, token: readFileSync(join(dir, 'hub/credential'), 'utf8').trim() };
  };
  const first = start();
  const seen = await until(
    'the planner has been asked',
    async () => {
      await pause(50);
      const door = await doorOf();
      return ask(door, 'turns_list', { agent_id: 'planner' }).catch(() => ({ turns: [] }));
    },
    ({ turns = [] }: Json) => turns.length > 0,
  );
  expect(seen.turns).toHaveLength(1);
  first.kill('SIGKILL');
  await once(first, 'exit');
  rmSync(join(dir, 'hub/hub.json'), { force: true });

  const second = start();
  let said = '';
  second.stdout.on('data', (chunk) => {
    said += chunk;
  });
  const door = await doorOf();
  await approve(door);
  const { runs } = await ask(door, 'workflows_list', { state: 'all' });
  const { steps } = await ask(door, 'workflows_steps', { id: runs[0].id, limit: 100 });
  const [code] = await within('it ends', once(second, 'exit'));
  expect(code).toBe(0);
  expect(said).toContain('v1.0.0 is in');
  checkRelease(join(dir, 'work'));
  expect(runs).toHaveLength(1);
  expect(runs[0].attempts).toBeGreaterThan(1);
  const keys = steps.map(({ step, key }: Json) => `${step} ${key}`);
  expect(new Set(keys).size).toBe(keys.length);
}, 120_000);

test('a brief that names nothing to make fails at intake, and says why', async () => {
  await using studio = await openStudio({ dir: join(base, 'empty') });
  const run = await studio.start({ brief: '# Nothing\n\nPlease hurry.\n', project: 'nothing' });
  await expect(run.result({ timeoutMs: 30_000 })).rejects.toThrow(
    /the brief names nothing to convert/,
  );
  expect((await run.steps()).map(({ key }) => key)).toEqual(['intake']);
});

test('with the word of a vendor its agent plays all eight roles, and is told each of them', async () => {
  const bin = join(base, 'bin');
  mkdirSync(bin);
  const [program = '', ...words] = writeStandIn(bin)('claude', 'good');
  const stand = [program, ...words].map((word) => `'${word}'`).join(' ');
  writeFileSync(join(bin, 'answer.mjs'), ANSWER);
  const answer = `[ -z "$SYNOD_TURN" ] || '${program}' '${join(bin, 'answer.mjs')}'`;
  const shim = `#!/bin/sh\n${answer}\nexec ${stand} "$@"\n`;
  writeFileSync(join(bin, 'claude'), shim, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: base };
  await using studio = await openStudio({ dir: join(base, 'vendor'), vendor: 'claude', env });
  const run = await studio.start({ brief: 'Anything at all.', project: 'any' });
  await approve(studio);
  await run.result({ timeoutMs: 60_000 });
  const { turns } = await ask(studio, 'turns_list', { limit: 100 });
  expect(new Set(turns.map(({ agent_id }: Json) => agent_id))).toEqual(new Set(Object.keys(ROLES)));
  expect(new Set(turns.map(({ runner }: Json) => runner))).toEqual(new Set(['claude']));
  // The last one that was asked is the analyst.
  expect(readWitness(studio.work).heard).toContain(ROLES.analyst);
}, 120_000);

test.each(VENDORS)('the word %s is a runner that the hub knows', (vendor) => {
  expect(runnerSpec().safeParse(runnerFor(vendor, base)).success).toBe(true);
});

/** What a vendor's agent does with its tools: it reads its mail, and answers it. */
const ANSWER = `
const ask = (name, input) => fetch(process.env.SYNOD_URL + '/v1/ops/' + name, {
  method: 'POST',
  headers: { authorization: 'Bearer ' + process.env.SYNOD_TOKEN, 'content-type': 'application/json' },
  body: JSON.stringify(input),
}).then((answer) => answer.json());
for (const { channel, message_id } of (await ask('recv', {})).messages) {
  await ask('send', { channel, reply_to: message_id, body: { text: 'It is done.' } });
}
`;

function readJson(path: string): Json {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}
