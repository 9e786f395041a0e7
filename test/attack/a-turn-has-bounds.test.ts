/**
 * Bad input about turns, runners and gates: each has a code of its own, names the field, and changes
 * nothing. One table at the HTTP door, where a stranger's program meets it.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../e2e/deadline.ts';
import type { Json } from '../e2e/running-hub.ts';
import { type AttackedHub, type Holder, openAttackedHub } from './attacked-hub.ts';

const SECRET = 'correct horse battery';
let hub: AttackedHub;
let base = '';
let proof = '';
/** A turn that runs, one gate that waits and one that is decided. */
let held: Json;
let waiting = '';
let decided = '';

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'synod-bounds-')));
  mkdirSync(join(base, 'work'));
  hub = await openAttackedHub({
    file: { turns_roots: [join(base, 'work')], turns_parallel_max: 20 },
    hooks: { env: { PATH: process.env.PATH } },
  });
  await hub.owned.ask('people_add', { name: 'mia', passphrase: SECRET });
  proof = (await hub.owned.ask('people_prove', { name: 'mia', passphrase: SECRET })).proof;
  const ask = async (subject: string): Promise<string> =>
    (await hub.agent.ask('gates_ask', { action: 'push', subject })).gate_id;
  waiting = await ask('main');
  decided = await ask('next');
  await hub.owned.ask('gates_decide', { gate_id: decided, decision: 'approve', proof });
  await hub.ask('wes', 'subscribe', { pattern: 'to/wes' });
  await hub.owned.ask('agents_manage', { agent_id: 'wes', runner: { kind: 'outside' } });
  await hub.other.ask('send', { channel: 'to/wes', body: { text: 'go' } });
  const { turn } = await hub.owned.ask('turns_take', { agents: ['wes'], wait_ms: 20_000 });
  held = { turn_id: turn.turn_id, epoch: turn.epoch };
});
afterAll(async () => {
  await hub.close();
  rmSync(base, { recursive: true, force: true });
});

function openToAll(): string {
  const path = join(base, 'work', 'key');
  writeFileSync(path, 'sk-1');
  chmodSync(path, 0o644);
  return path;
}

function pipe(): string {
  const path = join(base, 'work', 'pipe');
  execFileSync('/bin/sh', ['-c', 'mkfifo -m 600 "$0"', path]);
  return path;
}

const program = (more: object): object => ({ kind: 'command', command: ['/bin/sh'], ...more });
const manage = (runner: unknown, more: object = {}) => ({ agent_id: 'ada', runner, ...more });
const model = { kind: 'model', base_url: 'http://127.0.0.1:1/v1', model: 'm' };
const limits = (some: object): object => manage({ kind: 'outside' }, { limits: some });

type Case = readonly [
  what: string,
  operation: string,
  input: () => object,
  code: string,
  field: string | null,
  by?: () => Holder,
];

const CASES: readonly Case[] = [
  ['an unknown runner', 'agents_manage', () => manage('nope'), 'runner.unknown', 'runner'],
  [
    'an unknown kind of runner',
    'agents_manage',
    () => manage({ kind: 'robot' }),
    'runner.unknown',
    'runner.kind',
  ],
  [
    'an unknown agent',
    'agents_manage',
    () => manage({ kind: 'outside' }, { agent_id: 'nobody-here' }),
    'agent.not-found',
    'agent_id',
  ],
  [
    'a limit out of range',
    'agents_manage',
    () => limits({ hops: 0 }),
    'turn.limit-invalid',
    'limits.hops',
  ],
  [
    'an unknown limit',
    'agents_manage',
    () => limits({ constructor: 1 }),
    'turn.limit-invalid',
    'limits.constructor',
  ],
  [
    'a limit that is no number',
    'agents_manage',
    () => limits({ turn_usd: 'all' }),
    'turn.limit-invalid',
    'limits.turn_usd',
  ],
  [
    'a command that is not there',
    'agents_manage',
    () => manage({ kind: 'command', command: ['no-such-program-x'] }),
    'runner.unusable',
    'runner.command',
  ],
  [
    'a working directory outside the roots',
    'agents_manage',
    () => manage(program({ cwd: '/' })),
    'runner.cwd-outside',
    'runner.cwd',
  ],
  [
    'a way out of the roots',
    'agents_manage',
    () => manage(program({ cwd: join(base, 'work', '..') })),
    'runner.cwd-outside',
    'runner.cwd',
  ],
  [
    'the hub’s own directory',
    'agents_manage',
    () => manage(program({ cwd: hub.dir })),
    'runner.cwd-outside',
    'runner.cwd',
  ],
  [
    'a secret that others can read',
    'agents_manage',
    () => manage({ ...model, secret: { file: openToAll() } }),
    'runner.secret-readable',
    'runner.secret.file',
  ],
  [
    'a secret in a pipe that nobody writes to',
    'agents_manage',
    () => manage({ ...model, secret: { file: pipe() } }),
    'runner.unusable',
    'runner.secret.file',
  ],
  [
    'a secret in the environment of a runner',
    'agents_manage',
    () => manage(program({ env: { OPENAI_API_KEY: 'sk-1' } })),
    'input.invalid',
    'runner.env',
  ],
  [
    'a stale epoch at finish',
    'turns_finish',
    () => ({ ...held, epoch: held.epoch + 1, outcome: 'done' }),
    'turn.stale',
    null,
  ],
  [
    'a stale epoch at renew',
    'turns_renew',
    () => ({ ...held, epoch: held.epoch + 1 }),
    'turn.stale',
    null,
  ],
  [
    'a message the turn was not given',
    'turns_finish',
    () => ({ ...held, outcome: 'done', consumed: ['m1'] }),
    'input.invalid',
    'consumed',
  ],
  [
    'a note that draws on the terminal',
    'turns_finish',
    () => ({ ...held, outcome: 'done', note: '\u001b[2J' }),
    'input.invalid',
    'note',
  ],
  ['an unknown turn', 'turns_cancel', () => ({ turn_id: 't999' }), 'turn.not-found', null],
  [
    'a decided gate',
    'gates_decide',
    () => ({ gate_id: decided, decision: 'deny', reason: 'no', proof }),
    'gate.ended',
    null,
  ],
  [
    'an unknown gate',
    'gates_decide',
    () => ({ gate_id: 'g-none', decision: 'approve', proof }),
    'gate.not-found',
    null,
  ],
  [
    'a denial without a reason',
    'gates_decide',
    () => ({ gate_id: waiting, decision: 'deny', proof }),
    'gate.reason-needed',
    'reason',
  ],
  [
    'a denial with an empty reason',
    'gates_decide',
    () => ({ gate_id: waiting, decision: 'deny', reason: '  ', proof }),
    'gate.reason-needed',
    'reason',
  ],
  [
    'an agent’s token on gates.decide',
    'gates_decide',
    () => ({ gate_id: waiting, decision: 'approve', proof }),
    'gate.not-decider',
    null,
    () => hub.other,
  ],
];

/** What the law keeps of turns, agents and gates; a refusal itself may be on the record. */
async function kept(): Promise<string> {
  const of = async (operation: string, input = {}): Promise<Json> =>
    hub.owned.ask(operation, input);
  return JSON.stringify([
    await of('agents_managed'),
    await of('turns_list'),
    await of('gates_list', { state: 'all' }),
    (await of('docket_list')).items,
  ]);
}

describe('[TN10] [GT2] [RU1] bad input is refused with a code of its own, and changes nothing', () => {
  const names = CASES.map(([what], at) => [what, at] as const);
  test.each(names)('%s', async (_, at) => {
    const [, operation, input, code, field, by] = CASES[at] as Case;
    const before = await kept();
    const { status, body } = await (by?.() ?? hub.owned).post(operation, input());
    expect([status >= 400 && status < 500, body.detail?.reason]).toEqual([true, code]);
    if (field !== null) expect(body.detail.violations[0].field).toBe(field);
    expect(await kept()).toBe(before);
  });
});

describe('[RU3] [RU5] a result that cannot be used fails the turn, and consumes nothing', () => {
  const RESULTS: readonly (readonly [string, string, RegExp])[] = [
    ['is not JSON', 'echo "all is well"', /no result/],
    ['has no outcome', 'echo \'{"outcome":"great"}\'', /outcome/],
    ['drains what it was not given', 'echo \'{"outcome":"done","consumed":["m1"]}\'', /consumed/],
    // Far more than a line or a transcript may have; a gigabyte is the same, only slower.
    [
      'is 4 MB long',
      'echo \'{"outcome":"done",\'; head -c 4000000 /dev/zero',
      /no result|MiB|line/,
    ],
  ];
  test.each(RESULTS)('one that %s', async (what, script, note) => {
    const agent = `res-${RESULTS.findIndex(([one]) => one === what)}`;
    await hub.ask(agent, 'subscribe', { pattern: `to/${agent}` });
    await hub.owned.ask('agents_manage', {
      agent_id: agent,
      runner: { kind: 'command', command: ['/bin/sh', '-c', script] },
    });
    await hub.other.ask('send', { channel: `to/${agent}`, body: { text: 'go' } });
    const turn = await until(
      `the turn of ${agent} has failed`,
      async () => (await hub.owned.ask('turns_list', { agent_id: agent })).turns[0],
      (one: Json) => one?.failures > 0,
    );
    expect(turn.note).toMatch(note);
    await hub.owned.ask('agents_unmanage', { agent_id: agent });
    expect((await hub.ask(agent, 'recv')).messages).toHaveLength(1);
  });
});
