/**
 * Turns as the hub runs them, met at its doors: mail starts a program, the program answers as the
 * agent, people watch it and stop it, and whatever it does the hub goes on.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findSandbox } from '../../src/guard/sandbox.ts';
import { until } from './deadline.ts';
import { openEventStream } from './event-stream.ts';
import { type Json, openRunningHub, type RunningHub } from './running-hub.ts';

let hub: RunningHub;
let base = '';
let work = '';
beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'synod-turns-')));
  work = join(base, 'project');
  mkdirSync(work);
  hub = await openRunningHub({
    dir: join(base, 'hub'),
    hooks: { env: { PATH: process.env.PATH, HUB_API_KEY: 'sk-of-the-hub' } },
    file: {
      ...{ turns_parallel_max: 2, turns_roots: [base] },
      runners: { greeter: { kind: 'rule', rules: GREETING } },
    },
  });
});
afterAll(async () => {
  await hub.close();
  rmSync(base, { recursive: true, force: true });
});

const GREETING = [{ pattern: '^hello', answer: 'hello yourself' }];
const DONE = `echo '{"outcome":"done"}'`;

const sh = (script: string, more: object = {}): Json => ({
  ...{ kind: 'command', command: ['/bin/sh', '-c', script], cwd: work },
  ...more,
});

/** An agent that is run so, and told something. */
async function tell(agent: string, runner: Json, limits: object = {}): Promise<string> {
  await hub.ask(agent, 'subscribe', { pattern: `to/${agent}` });
  await hub.admin('agents_manage', { agent_id: agent, runner, limits });
  const { message_id } = await hub.ask('bob', 'send', {
    ...{ channel: `to/${agent}`, body: { text: 'hello there' } },
  });
  return message_id;
}

async function turnOf(agent: string): Promise<Json> {
  const { turns } = await hub.admin('turns_list', { agent_id: agent });
  return turns[0] ?? { state: 'none' };
}

const turnIn = (agent: string, ...states: string[]): Promise<Json> =>
  until(
    `the turn of ${agent} is ${states.join(' or ')}`,
    () => turnOf(agent),
    ({ state }) => states.includes(state),
  );

function isAlive(pid: string): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid.trim()}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** What is not asked over the wire leaves the hub, which runs here too, time in between. */
const look = <T>(what: string, see: () => T, isWanted: (seen: T) => boolean): Promise<T> =>
  until(what, () => setTimeout(10).then(see), isWanted);

const fileIn = (name: string): Promise<string> =>
  look(
    `the file ${name}`,
    () => (existsSync(join(work, name)) ? readFileSync(join(work, name), 'utf8') : ''),
    (text) => text.endsWith('\n'),
  );

describe('a turn that the hub runs', () => {
  test('[RU16][RU17] is started by mail, answers as the agent, and its token dies with it', async () => {
    await hub.ask('bob', 'subscribe', { pattern: 'to/ada' });
    const message_id = await tell(
      'ada',
      sh(
        `read line; echo "$line" > given; echo "$SYNOD_TOKEN" > token; pwd > where; env > env; echo thinking; ` +
          `echo '{"outcome":"done","note":"greeted","cost":{"usd":0.01},"replies":[{"body":{"text":"hi bob"}}]}'`,
      ),
    );
    const turn = await turnIn('ada', 'done');
    expect(turn).toMatchObject({
      note: 'greeted',
      runner: 'command',
      attempt: 1,
      fruitless: false,
    });
    expect(turn.cost.usd).toBe(0.01);
    expect(turn.reason.message_ids).toEqual([message_id]);
    const { messages } = await hub.ask('bob', 'recv');
    const [answer] = messages.filter(({ sender }: Json) => sender === 'ada');
    expect(answer).toMatchObject({ body: { text: 'hi bob' }, reply_to: message_id });
    const { receipts } = await hub.ask('bob', 'receipts_get', { message_id });
    expect(receipts.find(({ agent_id }: Json) => agent_id === 'ada').state).toBe('acted');
    expect((await fileIn('where')).trim()).toBe(work);
    expect(await fileIn('env')).not.toContain('sk-of-the-hub');
    const given = JSON.parse(await fileIn('given'));
    expect(given.turn).toMatchObject({ turn_id: turn.turn_id, agent_id: 'ada', attempt: 1 });
    expect(given.messages[0]).toMatchObject({
      message_id,
      sender: 'bob',
      body: { text: 'hello there' },
    });
    const stale = await hub.post(
      'whoami',
      {},
      {
        authorization: `Bearer ${(await fileIn('token')).trim()}`,
      },
    );
    expect([stale.status, stale.body.detail.reason]).toEqual([409, 'turn.stale']);
  });

  test('[RU11] can be read and watched while it runs, and cancelled: nothing is left of it', async () => {
    const headers = { authorization: `Bearer ${hub.owner}` };
    const stream = await openEventStream(hub.url, headers, '?turns=1&channels=none');
    await tell('eve', sh(`trap '' TERM; sleep 300 & echo $! > child; echo working; wait`));
    const { body } = await stream.next('turn.output');
    expect(body).toMatchObject({ agent_id: 'eve', lines: [{ from: 'out', text: 'working' }] });
    const child = await fileIn('child');
    const running = await hub.admin('turns_get', { turn_id: body.turn_id });
    expect(running).toMatchObject({ state: 'busy', output: body.lines });
    expect(isAlive(String(running.pid))).toBe(true);
    const cancelled = { turn_id: body.turn_id, reason: 'enough' };
    expect(await hub.admin('turns_cancel', cancelled)).toMatchObject({ state: 'cancelled' });
    await look(
      'nothing is left',
      () => [child, String(running.pid)].filter(isAlive),
      ({ length }) => length === 0,
    );
    stream.close();
  });

  test('[RU4] that takes longer than its runner allows is ended and has failed', async () => {
    await tell('tim', sh('sleep 300', { timeout_ms: 1_000 }));
    expect((await turnIn('tim', 'failed')).note).toContain('it took longer than 1000 ms');
  });

  test('[RU10] that fails is told with its last words, and without its secrets', async () => {
    await tell('sue', sh('echo "my token is $SYNOD_TOKEN" >&2; exit 7'));
    const { note, turn_id } = await turnIn('sue', 'failed');
    expect(note).toMatch(/^it exited with code 7\nmy token is syt_\S+\.\[secret\]/);
    const { output } = await hub.admin('turns_get', { turn_id });
    expect(JSON.stringify(output)).toContain('[secret]');
  });

  test('[RU18] runs with others, as many as the space allows', async () => {
    // Each waits until a second one runs, however busy the machine is; a third would be seen in the time behind it.
    const second = 'until [ "$(grep -c + count)" -ge 2 ]; do sleep 0.02; done';
    const script = `echo + >> count; ${second}; sleep 0.2; echo - >> count; ${DONE}`;
    const agents = ['p1', 'p2', 'p3', 'p4', 'p5'];
    await Promise.all(agents.map((agent) => tell(agent, sh(script))));
    await Promise.all(agents.map((agent) => turnIn(agent, 'done')));
    let now = 0;
    const most = (await fileIn('count')).split('\n').map((sign) => {
      now += sign === '+' ? 1 : sign === '-' ? -1 : 0;
      return now;
    });
    expect(Math.max(...most)).toBe(2);
    expect(most).toHaveLength(11);
  });

  test('[RU17] a turn that is told of by name runs as the configuration says', async () => {
    await hub.ask('bob', 'subscribe', { pattern: 'to/gus' });
    await tell('gus', 'greeter');
    expect(await turnIn('gus', 'done')).toMatchObject({ note: null });
    const { messages } = await hub.ask('bob', 'recv', { channels: ['to/gus'] });
    expect(messages.map(({ body }: Json) => body.text)).toContain('hello yourself');
  });
});

test('[RU17] a turn that gives up puts its question on the docket', async () => {
  const rules = [{ pattern: 'hello', answer: 'which hello do you mean?', outcome: 'gave_up' }];
  await tell('ivy', { kind: 'rule', rules });
  const note = 'which hello do you mean?';
  expect(await turnIn('ivy', 'gave_up')).toMatchObject({ note });
  const { items } = await hub.admin('docket_list', {});
  const asked = items.filter(({ agent_id }: Json) => agent_id === 'ivy');
  expect(asked).toMatchObject([{ reason: 'gave_up', count: 1 }]);
  expect(JSON.stringify(asked)).toContain(note);
});

describe('what cannot work', () => {
  // A turn that failed above is tried again some time, and what is stored must not change meanwhile.
  beforeAll(() => hub.admin('turns_pause', { all: true }));
  afterAll(() => hub.admin('turns_resume', { all: true }));
  const readable = (): string => {
    const path = join(work, 'key');
    writeFileSync(path, 'sk-1');
    chmodSync(path, 0o644);
    return path;
  };
  const model = { kind: 'model', base_url: 'http://127.0.0.1:1/v1', model: 'm' };
  test.each<[string, () => Json, string, string]>([
    ['an unknown name', () => 'greeter2', 'runner.unknown', 'runner'],
    ['an unknown kind', () => ({ kind: 'robot' }), 'runner.unknown', 'runner.kind'],
    [
      'no such program',
      () => ({ kind: 'command', command: ['nope-x'] }),
      'runner.unusable',
      'runner.command',
    ],
    ['a directory outside', () => sh(DONE, { cwd: '/' }), 'runner.cwd-outside', 'runner.cwd'],
    [
      'a readable secret',
      () => ({ ...model, secret: { file: readable() } }),
      'runner.secret-readable',
      'runner.secret.file',
    ],
    ['a secret in env', () => sh(DONE, { env: { A_TOKEN: 'x' } }), 'input.invalid', 'runner'],
    ['no bus', () => ({ kind: 'pool', pool: 'x' }), 'runner.unusable', 'runner.pool'],
  ])('[RU1] %s is refused when it is configured, by field', async (_, runner, code, field) => {
    await hub.ask('zoe', 'subscribe', { pattern: 'to/zoe' });
    const before = await hub.mark();
    const { body } = await hub.post(
      'agents_manage',
      { agent_id: 'zoe', runner: runner() },
      {
        authorization: `Bearer ${hub.owner}`,
      },
    );
    expect(body.detail.reason).toBe(code);
    expect(body.detail.violations[0].field).toMatch(new RegExp(`^${field}`));
    expect(await hub.mark()).toBe(before);
  });
});

test('[RU19][RU20] a stopped hub ends its turns, and the next one goes on, unasked', async () => {
  const script = `read -r given; case $given in *'"after_restart":true'*) echo yes > again; ${DONE} ;; *) echo $$ > stopped; sleep 300 ;; esac`;
  const dir = join(base, 'second');
  const open = (): Promise<RunningHub> =>
    openRunningHub({
      ...{ dir, hooks: { env: { PATH: process.env.PATH } } },
      file: { turns_roots: [base] },
    });
  const first = await open();
  await first.ask('ada', 'subscribe', { pattern: 'to/ada' }, 'den');
  expect(existsSync(join(dir, 'turns'))).toBe(false);
  await first.admin('agents_manage', { agent_id: 'ada', runner: sh(script) }, 'den');
  await first.ask('bob', 'send', { channel: 'to/ada', body: { text: 'go' } }, 'den');
  const pid = await fileIn('stopped');
  await first.close();
  expect(isAlive(pid)).toBe(false);
  const second = await open();
  await fileIn('again');
  const { turns } = await until(
    'it is done',
    () => second.admin('turns_list', {}, 'den'),
    (page: Json) => page.turns[0]?.state === 'done',
  );
  expect(turns).toMatchObject([{ attempt: 2, after_restart: true }]);
  await second.close();
});

const { isThere, why } = await findSandbox();
test.skipIf(!isThere)(
  `[RU24] a turn under a policy reaches its hub and nothing else, on the record (${why})`,
  async () => {
    writeFileSync(join(base, 'secret'), 'sk-1\n');
    const ask = (url: string): string => `
      const say = (what) => { console.error(what); process.exit(); };
      require('node:http').get(${url}, (r) => say(r.statusCode)).on('error', (e) => say(e.code));`;
    const script = [
      ...[`cat ${base}/secret`, `'${process.execPath}' -e "$HUB" 2> hub.txt`],
      ...[`'${process.execPath}' -e "$AWAY" 2> away.txt`, DONE],
    ].join('; ');
    // Of several servers its hub is the one that runs it, as the turn is told.
    const env = {
      HUB: ask("process.env.SYNOD_URL + '/health'"),
      AWAY: ask("'http://169.254.169.254/latest'"),
    };
    const policy = { read: [dirname(process.execPath)] };
    await tell('policed', sh(script, { env, policy }));
    await turnIn('policed', 'done');
    expect(await fileIn('hub.txt')).toBe('200\n');
    expect(await fileIn('away.txt')).toBe('403\n');
    const { deeds } = await hub.admin('audit', { action: 'guard.recorded' });
    const told = deeds.filter(({ subject }: Json) => subject === 'policed');
    const sum = (field: string): number =>
      told.reduce((all: number, { detail }: Json) => all + detail[field], 0);
    expect([sum('allowed'), sum('refused')]).toEqual([2, 1]);
  },
  60_000,
);
