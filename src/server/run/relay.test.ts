/** The relay file of a running hub: what is in it, what never is, and that it keeps its place. */
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../test/e2e/deadline.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';

let dir: string;
let path: string;
let hub: RunningHub | null = null;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'synod-relay-'));
  path = join(dir, 'feed.ndjson');
});
afterEach(async () => {
  await hub?.close();
  hub = null;
  await rm(dir, { recursive: true, force: true });
});

async function open(lines = 5000): Promise<RunningHub> {
  hub = await openRunningHub({
    dir: join(dir, 'hub'),
    flags: { relay: path, relayLines: String(lines) },
  });
  return hub;
}

async function close(): Promise<void> {
  await hub?.close();
  hub = null;
}

/** Every line but the one that says where the file begins. */
async function readLines(): Promise<Json[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .filter(({ ty }) => ty !== 'relay.start');
}

function untilLines(count: number): Promise<Json[]> {
  return until(`${count} lines`, readLines, (lines) => lines.length >= count);
}

describe('what is in it', () => {
  test('[RL1] a public message is one short line, for the owner’s eyes alone', async () => {
    const { ask } = await open();
    const sent = await ask('ada', 'send', { channel: 'team/x', body: { text: 'hello\n  world' } });
    await ask('ada', 'send', { channel: 'team/x', body: { question: `${'😀'.repeat(200)}?` } });
    await ask('ada', 'send', { channel: 'team/x', body: { n: 1 } });
    const [first, second, third] = await untilLines(3);
    expect(first).toEqual({
      v: 2,
      n: expect.any(Number),
      i: sent.message_id,
      ty: 'message',
      s: 'ada',
      to: 'team/x',
      p: 'hello world',
      t: expect.any(Number),
      h: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(Math.abs(first.t - Date.now())).toBeLessThan(60_000);
    expect(second.p.length).toBeLessThanOrEqual(280);
    expect(second.p).toMatch(/^(😀)+…$/u);
    expect(third.p).toBe('{"n":1}');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('[RL1] claims are told though nobody follows them; private channels never are', async () => {
    const { ask } = await open();
    await ask('ada', 'agents_tell', { to: 'ada', body: { text: 'secret' } }).catch(() => {});
    await ask('bob', 'subscribe', { pattern: 'x' });
    await ask('ada', 'send', { channel: 'dm/ada~bob', body: { text: 'secret' } });
    await ask('ada', 'group_create', { group_id: 'g', members: ['bob'] }).catch(() => {});
    await ask('ada', 'send', { channel: 'group/g', body: { text: 'secret' } }).catch(() => {});
    const { claim } = await ask('ada', 'claims_take', { task_id: 'api', note: 'the routes' });
    await ask('bob', 'claims_wait', { task_id: 'api' });
    await ask('ada', 'claims_checkpoint', { task_id: 'api', checkpoint: 'secret' }).catch(() => {});
    await ask('ada', 'claims_release', { task_id: 'api', epoch: claim.epoch });
    await ask('ada', 'send', { channel: 'x', body: { text: 'last' } });
    const lines = await until('the last', readLines, (all) => all.at(-1)?.p === 'last');
    expect(lines.map(({ ty, s, i, to }) => [ty, s, i, to])).toEqual([
      ['claim.taken', 'ada', 'api', 'sox/claims'],
      ['claim.released', 'ada', 'api', 'sox/claims'],
      ['message', 'ada', expect.any(String), 'x'],
    ]);
    expect(lines[0].p).toBe('takes api: the routes');
    expect(await readFile(path, 'utf8')).not.toContain('secret');
  });
});

test('[RL1] what is held for review comes when it is released, and never when it is refused', async () => {
  const { ask, admin, post } = await open();
  await admin('spaces_configure', { hold_untrusted: true });
  const { token } = await admin('tokens_create', { agent_id: 'eve', tier: 'untrusted' });
  const say = async (text: string) =>
    (await post('send', { channel: 'c', body: { text } }, { authorization: `Bearer ${token}` }))
      .body;
  const good = await say('good');
  const bad = await say('bad');
  await ask('ada', 'send', { channel: 'c', body: { text: 'between' } });
  await untilLines(1);
  await admin('held_review', { message_id: bad.message_id, decision: 'refuse' });
  await admin('held_review', { message_id: good.message_id, decision: 'release' });
  const lines = await untilLines(2);
  expect(lines.map(({ p }) => p)).toEqual(['between', 'good']);
  expect(lines[1]).toMatchObject({ i: good.message_id, s: 'eve' });
  expect(lines[1].n).toBeGreaterThan(lines[0].n);
});

describe('the cursor', () => {
  test('[RL2] a restart goes on after the last line, without a gap or a repeat', async () => {
    const expected: string[] = [];
    for (let round = 0; round < 3; round++) {
      const { ask } = await open();
      for (let n = 0; n < 5; n++) {
        const text = `${round}-${n}`;
        expected.push(text);
        await ask('ada', 'send', { channel: 'c', body: { text } });
      }
      await close();
      // A hub without the relay goes on; what it stores is not lost to the relay.
      hub = await openRunningHub({ dir: join(dir, 'hub') });
      expected.push(`between ${round}`);
      await hub.ask('ada', 'send', { channel: 'c', body: { text: `between ${round}` } });
      await close();
      await appendFile(path, '{"v":2,"n":99999,"to');
    }
    await open();
    const lines = await untilLines(expected.length);
    expect(lines.map(({ p }) => p)).toEqual(expected);
    const positions = lines.map(({ n }) => n);
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
  });

  test('[RL2] holds N to 2 N lines, and positions say what a reader has missed', async () => {
    const { ask } = await open(10);
    for (let n = 0; n < 95; n++)
      await ask('ada', 'send', { channel: 'c', body: { text: `m${n}` } });
    const lines = await until('the last', readLines, (all) => all.at(-1)?.p === 'm94');
    expect(lines.length).toBeGreaterThanOrEqual(10);
    expect(lines.length).toBeLessThanOrEqual(20);
    const names = lines.map(({ p }) => p);
    expect(names).toEqual(
      Array.from({ length: names.length }, (_, i) => `m${95 - names.length + i}`),
    );
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await readdir(dir)).filter((name) => name.includes('draft'))).toEqual([]);
    await close();
    await open(10);
    await hub?.ask('ada', 'send', { channel: 'c', body: { text: 'after' } });
    const after = await until('one more', readLines, (all) => all.at(-1)?.p === 'after');
    expect(after.at(-2).p).toBe('m94');
  });

  test('[RL2] a file of another log begins anew', async () => {
    await open();
    for (let n = 0; n < 9; n++) await hub?.ask('ada', 'send', { channel: 'c', body: { n } });
    await close();
    await rm(join(dir, 'hub'), { recursive: true });
    const { log, ask } = await open();
    expect(log.join('\n')).toContain('of another log');
    await ask('ada', 'send', { channel: 'c', body: { text: 'first' } });
    expect((await untilLines(1)).map(({ p }) => p)).toEqual(['first']);
  });
});

describe('trouble', () => {
  test('[RL1] a folder that is not there is made, for the owner alone', async () => {
    path = join(dir, 'not', 'there', 'feed.ndjson');
    const { ask } = await open();
    await ask('ada', 'send', { channel: 'c', body: { text: 'here' } });
    expect((await untilLines(1)).map(({ p }) => p)).toEqual(['here']);
    expect((await stat(join(dir, 'not'))).mode & 0o777).toBe(0o700);
  });

  test('[RL3] a file that cannot be written is complained of once; nothing is lost when it can', async () => {
    const { ask, log } = await open();
    const said = async () => {
      await ask('ada', 'whoami');
      return log.join('\n');
    };
    await ask('ada', 'send', { channel: 'c', body: { text: '0' } });
    await untilLines(1);
    await rm(path);
    await mkdir(path);
    for (let n = 1; n < 4; n++) await ask('ada', 'send', { channel: 'c', body: { text: `${n}` } });
    await until('a complaint', said, (text) => text.includes('cannot be written'));
    await ask('ada', 'send', { channel: 'c', body: { text: '4' } });
    await rm(path, { recursive: true });
    const lines = await untilLines(5);
    expect(lines.map(({ p }) => p)).toEqual(['0', '1', '2', '3', '4']);
    await until('the all-clear', said, (text) => text.includes('written again'));
    expect(log.filter((line) => line.includes('cannot be written'))).toHaveLength(1);
  });

  test('[RL4] a file that holds something else is left alone, and the hub does not start', async () => {
    const mine = 'milk\neggs\n';
    await writeFile(path, mine);
    await expect(open()).rejects.toMatchObject({ code: 'relay.not-ours' });
    expect(await readFile(path, 'utf8')).toBe(mine);
  });
});
