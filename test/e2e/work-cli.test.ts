/**
 * Working together from the command line, against a real hub in a process of its own: claims and
 * waiting, the plan, being woken, and how what is typed wrong is refused. Git and the guard: `git-cli.test.ts`.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commit, git, initRepository, tempFolder } from '../place/real-repository.ts';
import { type Home, openHome } from './cli-run.ts';

let home: Home;
/** No repository, and nobody's home. */
let folder: string;

beforeAll(async () => {
  home = openHome();
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'synod-work-')));
  await home.start(['serve', '--json', '--port', '0']).printed(/"ready":true/);
});
afterAll(async () => {
  await home.close();
  rmSync(folder, { recursive: true, force: true });
});

const as = (agent: string, cwd: string = folder) => ({ cwd, env: { SYNOD_AGENT: agent } });
const text = (ran: { stdout: string }) => ran.stdout.trimEnd();
const words = (line: string) => line.split(' ');

function makeRepository(): string {
  const app = initRepository(join(tempFolder(), 'app'));
  commit(app, { 'src/a.ts': 'a', 'docs/x': 'x' });
  return app;
}

describe('claims', () => {
  test('[CL10] two agents and one file: the second is refused, waits, is told, gets the claim and the checkpoint', async () => {
    const app = makeRepository();
    const src = join(app, 'src');
    const first = await home.run(words('claim parser a.ts --note parsing'), as('ada', src));
    expect(text(first)).toMatch(/^claimed parser until .+ \(1 h\), epoch 1: src\/a\.ts$/);

    const refused = await home.run(words('claim lexer --paths src/**/*.ts'), as('bob', app));
    expect(refused.code).toBe(12);
    expect(refused.stderr).toMatch(/^claim\.overlap: lexer is not free/);
    expect(refused.stderr).toMatch(/^ {2}holder +ada \(parser\)$/m);
    expect(refused.stderr).toMatch(/^ {2}overlap +src\/\*\*\/\*\.ts meets "src\/a\.ts"$/m);
    expect(refused.stderr).toMatch(/^ {2}lapses +.+ \(1 h\)$/m);
    expect(refused.stderr).toMatch(/^ {2}wait +synod claim lexer 'src\/\*\*\/\*\.ts' --wait 10m$/m);

    const same = await home.run([...words('claim parser a.ts'), '--json'], as('bob', src));
    expect(same).toMatchObject({ code: 12, stdout: '' });
    expect(JSON.parse(same.stderr).detail).toMatchObject({ reason: 'claim.held', holder: 'ada' });

    const waiting = home.start(words('claim parser a.ts --wait 12'), as('bob', src));
    await waiting.printed(/^waiting; 0 before you$/m);
    await home.run(['checkpoint', 'parser', '-'], { ...as('ada', app), input: 'half\ndone\n' });
    expect(text(await home.run(words('release parser --evidence r1'), as('ada', app)))).toBe(
      'released parser',
    );
    const got = await waiting.exited();
    expect(got.code).toBe(0);
    expect(text(got)).toMatch(/^claimed parser until/);
    expect(text(got)).toContain('the last holder left a checkpoint:\n  │ half\n  │ done');
    const told = await home.json(['recv'], as('bob'));
    expect(told.messages).toMatchObject([{ channel: 'sox/to/bob', body: { event: 'claim_free' } }]);
    await home.json(words('release parser'), as('bob'));
  });

  test('[CL10] a wait that runs out says who holds it, and leaves the queue', async () => {
    await home.json(words('claim w1 --no-paths'), as('ada'));
    const late = await home.run(words('claim w1 --no-paths --wait 300ms'), as('bob'));
    expect(late.code).toBe(12);
    expect(late.stderr).toMatch(/^ {2}holder +ada \(w1\)$/m);
    const stopped = home.start(words('claim w1 --no-paths --wait 14'), as('bob'));
    await stopped.printed(/waiting/);
    stopped.child.kill('SIGINT');
    expect(await stopped.exited()).toMatchObject({ code: 130, stdout: '' });
    await home.json(words('release w1'), as('ada'));
    const free = await home.json(words('claim w1 --no-paths'), as('carol'));
    expect(free.claim).toMatchObject({ owner: 'carol' });
    await home.json(words('release w1'), as('carol'));
  });

  test('[CL10] a wait that would close a circle is refused at once, and the circle named', async () => {
    await home.json(words('claim left --no-paths'), as('ada'));
    await home.json(words('claim right --no-paths'), as('bob'));
    const { wait } = await home.json(words('claims wait right'), as('ada'));
    const circle = await home.run(words('claim left --no-paths --wait 14'), as('bob'));
    expect(circle).toMatchObject({ code: 12, stderr: expect.stringMatching(/^claim\.cycle: /) });
    expect(circle.stderr).toContain('ada waits for right, held by bob');
    await home.json(['claims', 'unwait', String(wait)], as('ada'));
    await home.json(words('release left'), as('ada'));
    await home.json(words('release right'), as('bob'));
  });

  test('a claim without paths is the whole worktree, with --no-paths none of it', async () => {
    const app = makeRepository();
    const all = await home.json(words('claim all'), as('ada', join(app, 'src')));
    expect(all.claim).toMatchObject({ worktree: app, branch: 'main', paths: [] });
    const work = await home.json(words('claim work --no-paths'), as('bob', app));
    expect(work.claim).toMatchObject({ worktree: '', paths: [] });
    const held = await home.run(words('claims check docs/x'), as('bob', app));
    expect(held).toMatchObject({ code: 12, stdout: expect.stringMatching(/^ada +all /) });
    const outside = await home.run(words('claim pure'), as('ada'));
    expect(outside).toMatchObject({ code: 0, stderr: expect.stringContaining('no files') });
    for (const [id, who] of [
      ['all', 'ada'],
      ['work', 'bob'],
      ['pure', 'ada'],
    ] as const) {
      await home.json(['release', id], as(who));
    }
    expect(text(await home.run(words('claims check docs/x'), as('bob', app)))).toBe('free');
  });

  test('a renewal keeps the paths, and renews nothing that is not held', async () => {
    const app = makeRepository();
    await home.json(words('claim keep --paths src docs'), as('ada', app));
    const again = await home.json(words('claim keep --renew --ttl 2h'), as('ada', app));
    expect(again).toMatchObject({ renewed: true, claim: { paths: ['src', 'docs'] } });
    const plain = await home.json(words('claim keep'), as('ada', app));
    expect(plain).toMatchObject({ renewed: true, claim: { paths: ['src', 'docs'] } });
    const nothing = await home.run(words('claim other --renew'), as('ada', app));
    expect(nothing).toMatchObject({ code: 21, stderr: expect.stringContaining('claim.not-found') });
    const mine = await home.run(words('claims --mine'), as('ada'));
    expect(text(mine)).toMatch(/^keep +ada +claimed +until .+src, docs on main$/);
    await home.json(words('claims update keep working --note hm'), as('ada'));
    expect(text(await home.run(words('claims --owner ada'), as('bob')))).toMatch(/working .+: hm$/);
    await home.json(words('release keep'), as('ada'));
  });

  test('a claim is offered to somebody who is here and takes it, and force is for administrators', async () => {
    await home.json(words('claim gift --no-paths'), as('ada'));
    const absent = await home.run(words('handoff gift nobody'), as('ada'));
    expect(absent).toMatchObject({ code: 12, stderr: expect.stringContaining('synod who') });
    await home.json(words('report idle'), as('bob'));
    const offered = await home.run(words('handoff gift bob'), as('ada'));
    expect(text(offered)).toBe('offered gift to bob, who takes it with: synod claim gift');
    const taken = await home.json(words('claim gift'), as('bob'));
    expect(taken).toMatchObject({ claim: { owner: 'bob' } });
    const forced = await home.run(words('release gift --force'), as('ada'));
    expect(text(forced)).toBe('released gift, which bob held');
  });
});

test('the plan: declared, ready in order, worked on, noted and taken off', async () => {
  const run = (line: string[], who = 'ada') => home.run(line, as(who));
  expect(text(await run(['task', 'declare', 'p1', 'Read', '--project', 'app']))).toBe(
    'declared p1: open, version 1',
  );
  await run(['task', 'declare', 'p2', 'Write', '--project', 'app', '--needs', 'p1']);
  expect(text(await run(words('board --ready --project app')))).toMatch(/^p1 +ready +- +Read\n/);
  expect(text(await run(words('board --project app')))).toMatch(/^p2 +open +needs p1 +Write$/m);
  await home.json(words('claim p1 --no-paths'), as('bob'));
  expect(text(await run(words('board --project app')))).toMatch(
    /^p1 +in_progress +bob \(claimed\) until/m,
  );
  await run(['task', 'progress', 'p1', 'half of it'], 'bob');
  expect(text(await run(words('task notes p1')))).toMatch(/bob +half of it$/m);
  await home.json(words('claims update p1 done'), as('bob'));
  expect(text(await run(words('board --ready --project app')))).toMatch(/^p2 +ready/);
  const cycle = await run(['task', 'declare', 'p1', 'Read', '--needs', 'p2']);
  expect(cycle).toMatchObject({ code: 12, stderr: expect.stringMatching(/^task\.cycle/) });
  expect((await run(words('task update p2 done'))).code).toBe(0);
  expect((await run(words('task remove p2'))).code).toBe(0);
  expect(await run(words('task update nope done'))).toMatchObject({
    code: 21,
    stderr: expect.stringContaining('synod board'),
  });
  const page = await home.json(words('board --limit 1'));
  expect(page.tasks).toHaveLength(1);
});

describe('arm', () => {
  test('[CL11] wakes for a word in private, takes nothing, and goes on behind it', async () => {
    const armed = home.start(words('arm --timeout 12'), as('armed'));
    await armed.printed(/^armed$/m);
    expect(text(await home.run(['tell', 'armed', 'wake up'], as('ada')))).toMatch(
      /^told armed +\[/,
    );
    const woken = await armed.exited();
    expect(woken).toMatchObject({ code: 0, stdout: expect.stringContaining('ada: wake up') });
    const [, position] = /--from (\d+)/.exec(woken.stderr) ?? [];
    const rest = await home.run(words(`arm --from ${position} --timeout 200ms`), as('armed'));
    expect(rest).toMatchObject({ code: 2, stdout: '' });
    const again = await home.run(words('arm --timeout 12'), as('armed'));
    expect(again.stdout).toContain('ada: wake up');
    const taken = await home.run(words('arm --take --timeout 12 --json'), as('armed'));
    expect(JSON.parse(taken.stdout)).toMatchObject({ sender: 'ada', body: { text: 'wake up' } });
    const none = await home.run(words('arm --timeout 200ms'), as('armed'));
    expect(none).toMatchObject({ code: 2, stdout: '', stderr: 'armed\nnothing came\n' });
    const bare = await home.run(words('arm --take --timeout 200ms'), as('armed'));
    expect(bare).toMatchObject({ code: 2, stdout: '' });
  });

  test('[CL11] stays armed while the hub is away', async () => {
    const own = openHome();
    try {
      await own.json(['up', '--port', '0']);
      const armed = own.start(words('arm'), as('armed'));
      await armed.printed(/^armed$/m);
      await own.json(['down']);
      await own.json(['up', '--port', '0']);
      await own.json(['tell', 'armed', 'back'], as('ada'));
      expect(await armed.exited()).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('ada: back'),
      });
    } finally {
      await own.close();
    }
  });

  test('[CL11] wakes for a subscription and for a claim that is free', async () => {
    await home.json(words('subscribe news'), as('armed'));
    const armed = home.start(words('arm'), as('armed'));
    await armed.printed(/^armed$/m);
    await home.json(['send', 'news', 'hot'], as('ada'));
    expect((await armed.exited()).stdout).toContain('news #1 ada: hot');
    await home.json(['recv'], as('armed'));

    await home.json(words('claim q1 --no-paths'), as('ada'));
    const queued = await home.run(words('claims wait q1'), as('armed'));
    expect(text(queued)).toMatch(/^in the queue: you are next, until .+ \(1 h\)$/);
    const waiting = home.start(words('arm --json'), as('armed'));
    await waiting.printed(/^$|armed/);
    await home.json(words('release q1'), as('ada'));
    const told = JSON.parse((await waiting.exited()).stdout);
    expect(told).toMatchObject({ channel: 'sox/to/armed', body: { event: 'claim_free' } });
    const reserved = await home.run(words('claim q1 --no-paths'), as('ada'));
    expect(reserved).toMatchObject({ code: 12, stderr: expect.stringMatching(/^claim\.reserved/) });
    await home.json(words('claim q1 --no-paths'), as('armed'));
    await home.json(words('release q1'), as('armed'));
  });
});

const LESSON = {
  subkind: 'lesson',
  evidence_kind: 'measured',
  claim_status: 'bounded-support',
  evidence_ref: 'src/a.ts:1',
  provenance: { session: 's' },
  validity: {},
};

test('[CL13] ingest goes on where its cursor file says', async () => {
  const cursor = join(folder, 'ingest.cursor');
  const ingest = async (...more: string[]) =>
    text(await home.run(['ingest', '--cursor', cursor, ...more], as('memory')))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  const finding = (statement: string) =>
    home.json(['call', 'findings.record', JSON.stringify({ ...LESSON, statement })], as('ada'));
  await ingest();
  await finding('one');
  await finding('two');
  const found = await ingest('--kind', 'finding');
  expect(found.map(({ kind }) => kind)).toEqual(['finding', 'finding']);
  expect(await ingest()).toEqual([]);
  await finding('three');
  expect(await ingest()).toMatchObject([{ kind: 'finding' }]);
  const since = readFileSync(cursor, 'utf8').trim();
  const rest = await home.run(['ingest', '--since', since]);
  expect(rest).toMatchObject({ code: 0, stdout: '' });
  writeFileSync(cursor, 'not a number');
  expect(await home.run(['ingest', '--cursor', cursor])).toMatchObject({ code: 2, stdout: '' });
});

test('[CL14] relay shows each line once, whatever was trimmed meanwhile', async () => {
  const file = join(folder, 'relay.ndjson');
  const cursor = join(folder, 'relay.cursor');
  const line = (n: number, to: string, s = 'ada', ty = 'message') =>
    `${JSON.stringify({ v: 2, n, i: `m${n}`, ty, s, to, p: `text ${n} for bob`, t: n, h: 'x' })}\n`;
  const relay = async (...more: string[]) =>
    text(await home.run(['relay', file, ...more]))
      .split('\n')
      .filter(Boolean)
      .map((shown) => /text (\d+)/.exec(shown)?.[1]);
  const start = line(-1, '', 'synod', 'relay.start');
  writeFileSync(file, [start, line(0, 'all'), 'broken\n', line(5, 'x'), line(8, 'y')].join(''));
  expect(await relay('--cursor', cursor)).toEqual(['0', '5', '8']);
  expect(await relay('--cursor', cursor)).toEqual([]);
  const half = line(20, 'all').slice(0, -4);
  writeFileSync(file, `${line(12, 'x')}${line(13, 'app')}${half}`);
  expect(await relay('--cursor', cursor)).toEqual(['12', '13']);
  writeFileSync(
    file,
    `${line(13, 'app')}${line(20, 'app/plan', 'app/eve')}${line(21, 'z', 'bob')}`,
  );
  expect(await relay('--for', 'bob')).toEqual(['13', '20']);
  expect(await relay('--for', 'app/eve')).toEqual(['13']);
  expect(await relay('--project', 'app', '--since', '13')).toEqual(['20']);
  expect(await relay('--cursor', cursor)).toEqual(['20', '21']);
  writeFileSync(file, `${start}${line(3, 'x')}`);
  const anew = await home.run(['relay', file, '--cursor', cursor, '--json']);
  expect(JSON.parse(anew.stdout)).toMatchObject({ n: 3, to: 'x' });
  expect(readFileSync(cursor, 'utf8')).toBe('3\n');
});

describe('who is who', () => {
  test('who shows states with their evidence; report and roles reach it', async () => {
    await home.json(
      ['report', 'blocked', 'which database?', '--role', 'dba', '--process', '1'],
      as('app/eve'),
    );
    const who = await home.run(words('who --project app'), as('ada'));
    expect(text(who)).toMatch(
      /^app\/eve +blocked for .+"which database\?"; .+process 1, roles dba$/m,
    );
    const told = await home.json(['tell', 'role:dba', 'any'], as('ada'));
    expect(told.recipients).toMatchObject([{ agent_id: 'app/eve' }]);
    const nobody = await home.run(['tell', 'role:none', 'any'], as('ada'));
    expect(nobody).toMatchObject({ code: 21, stderr: expect.stringContaining('synod who') });
  });

  test('offers, cards and routing by them', async () => {
    await home.json(words('offers make llm big --capacity 2 --ttl 10m'), as('ada'));
    expect(text(await home.run(words('offers --kind llm')))).toMatch(/^llm +big +ada +2 at a time/);
    await home.json(
      ['manifest', 'advertise', '{"skills":["sql"],"task_classes":["db"]}'],
      as('app/eve'),
    );
    expect(text(await home.run(['manifest']))).toMatch(/^app\/eve +db, sql/);
    await home.json(words('report idle'), as('app/eve'));
    expect(text(await home.run(words('route --class db')))).toMatch(/^app\/eve +idle/);
    expect((await home.json(words('manifest withdraw'), as('app/eve'))).withdrawn).toBe(true);
    expect((await home.run(words('route --class db'))).code).toBe(21);
    await home.json(words('offers withdraw llm big'), as('ada'));
    expect((await home.run(words('offers withdraw llm big'), as('ada'))).code).toBe(21);
  });

  test('[CL12] whoami says how the identity came about, and warns when it looks accidental', async () => {
    const app = makeRepository();
    const chosen = await home.json(['whoami'], as('app/ada', app));
    expect(chosen).toMatchObject({ agent_id: 'app/ada', project: 'app', warnings: [] });
    expect(chosen.parts).toMatchObject([
      { part: 'agent', from: 'SYNOD_AGENT' },
      { part: 'project' },
    ]);
    const unnamed = await home.run(['whoami'], { cwd: app });
    expect(unnamed.code).toBe(0);
    expect(text(unnamed)).toMatch(new RegExp(`^agent +${userInfo().username}\\n`));
    expect(text(unnamed)).toMatch(/^project from +the git common directory .+: app$/m);
    expect(text(unnamed)).toMatch(/^warning: nobody chose a name/m);
    const joined = await home.json(['whoami'], {
      cwd: app,
      env: { SYNOD_AGENT: 'ada', SYNOD_PROJECT: 'shop' },
    });
    expect(joined.agent_id).toBe('shop/ada');
    const token = await home.json(words('token create zoe'));
    const overruled = await home.json(['whoami'], {
      cwd: app,
      env: { SYNOD_AGENT: 'ada', SYNOD_TOKEN: String(token.token) },
    });
    expect(overruled).toMatchObject({
      agent_id: 'zoe',
      warnings: [{ warning: 'identity.overruled' }],
    });
    const lost = await home.json(['whoami'], as('ada'));
    expect(lost.warnings).toMatchObject([{ warning: 'identity.no-project' }]);
  });
});

describe('bad input', () => {
  test.each([
    [['claim'], 2, 'missing required argument'],
    [['claim', 'x', '--paths', '../../etc'], 1, 'path.escapes'],
    [['claim', 'x', '--worktree', 'nowhere', '--paths', 'a'], 2, 'there is no folder'],
    [['claim', 'x', 'a', '--no-paths'], 2, 'not both'],
    [['claim', 'x', '--no-paths', '--ttl', 'NaN'], 2, '--ttl must be'],
    [['claim', 'x', '--no-paths', '--ttl=-5'], 2, '--ttl must be'],
    [['claim', 'x', '--no-paths', '--ttl', '9999d'], 20, 'ttl.too-long'],
    [['claim', '', '--no-paths'], 20, 'task_id'],
    [['claim', 'x', 'a', '--renew'], 2, '--renew keeps the paths'],
    [['release', 'nothing'], 21, 'claim.not-found'],
    [['release', 'nothing', '--epoch', 'x'], 2, '--epoch must be'],
    [['checkpoint', 'nothing', 'text'], 21, 'claim.not-found'],
    [['claims', '--mine', '--owner', 'x'], 2, 'not both'],
    [['claims', 'wait'], 2, 'say what to wait for'],
    [['claims', 'unwait', '999'], 21, 'wait.not-found'],
    [['board', '--status', 'silly'], 20, 'status'],
    [['board', '--limit', 'many'], 2, '--limit must be'],
    [['task'], 2, 'wants one of declare, update, progress, notes, remove'],
    [['task', 'update', 'x'], 2, 'say what to change'],
    [['tell', 'x'], 2, 'say what to send'],
    [['tell', 'x', '--body', '[]'], 2, 'JSON object'],
    [['report', 'asleep'], 20, 'state'],
    [['offers', 'make', 'a', 'b', '--meta', '7'], 2, 'JSON object'],
    [['manifest', 'advertise', '{"nonsense":1}'], 20, 'card'],
    [['route'], 2, 'say what is to be done'],
    [['arm', '--from', 'yesterday'], 2, '--from must be'],
    [['ingest', '--since', '1', '--cursor', 'f'], 2, 'not both'],
    [['ingest', '--kind', 'gossip'], 20, 'kinds'],
    [['relay', 'nowhere.ndjson'], 66, 'cannot be read'],
    [['guard'], 2, 'name a path'],
    [['git', 'claim', 'x'], 1, 'git.not-a-repository'],
  ])('%j leaves with %i', async (args, code, said) => {
    const ran = await home.run(args, as('mallory'));
    expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(said) });
    expect(ran.stderr).not.toMatch(/\n {4}at /);
  });

  test('a claim with a branch is refused where there is none', async () => {
    const cwd = initRepository(tempFolder());
    commit(cwd, { a: 'x' });
    git(cwd, 'checkout', '-q', '--detach');
    const { stderr } = await home.run(['git', 'claim', 'x', 'a'], { ...as('mallory'), cwd });
    expect(stderr).toContain('git.detached');
  });
  test('nothing of it was kept', async () => {
    expect((await home.json(words('claims --owner mallory'))).claims).toEqual([]);
  });
});
