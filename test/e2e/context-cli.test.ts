/** Context as a person types it: set, got, compared and followed, and how what is refused is told. */
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Home, openHome, type Running } from './cli-run.ts';

let home: Home;
let hub: Running;
beforeAll(async () => {
  home = openHome();
  await serve();
});

async function serve(): Promise<void> {
  hub = home.start(['serve', '--json', '--port', '0']);
  await hub.printed(/"ready":true/);
}

afterAll(() => home.close());

const said = async (...args: string[]) => {
  const ran = await home.run(['context', ...args]);
  expect(ran.code, ran.stderr).toBe(0);
  return ran.stdout.trimEnd();
};

test('[CX9] values are set and got, as JSON or as text, and a late write is told', async () => {
  const set = await said('set', 'plan', 'goal', '{"text": "ship"}', '--as', 'ada');
  const version = Number(/^plan goal is at version (\d+)$/.exec(set)?.[1]);
  expect(await said('get', 'plan', 'goal', '--as', 'bob')).toBe('{"text":"ship"}');
  await said('set', 'plan', 'note', 'plain words', '--ttl', '1h', '--as', 'ada');
  expect(await said('get', 'plan', 'note', '--as', 'bob')).toBe('"plain words"');
  await said('set', 'plan', 'goal', '7', '--if-version', String(version), '--as', 'bob');
  const late = await home.run([
    ...['context', 'set', 'plan', 'goal', '8', '--if-version', String(version), '--as', 'ada'],
  ]);
  expect([late.code, late.stdout]).toEqual([12, '']);
  expect(late.stderr).toMatch(/^context\.version: .*"synod context get"/);
  const none = await home.run(['context', 'get', 'plan', 'nothing', '--as', 'ada']);
  expect([none.code, none.stdout]).toEqual([1, '']);
  expect(none.stderr).toContain('there is no nothing in plan');
  expect(await said('list', 'plan', '--as', 'ada')).toMatch(/^goal +version \d+ +1 bytes/);
  expect(await said('--as', 'ada')).toMatch(/^plan +2 keys/);
});

test('[CX9] a snapshot is compared with now, and changes are followed', async () => {
  const snapshot = await said('snapshot', '--as', 'ada');
  await said('set', 'plan', 'goal', '"\\u001b[31mred\\u202e"', '--as', 'ada');
  const watched = await said('watch', 'plan', '--since', snapshot, '--once', '--as', 'bob');
  expect(watched).toMatch(/^changed goal by ada: 7 -> ".*"$/);
  for (const hidden of ['\u001b', '\u202e']) expect(watched).not.toContain(hidden);
  expect(await said('diff', 'plan', snapshot, '--as', 'bob')).toBe(watched);
  expect(await said('get', 'plan', 'goal', '--at', snapshot, '--as', 'bob')).toBe('7');
  expect(await said('delete', 'plan', '--prefix', '', '--as', 'bob')).toBe('2 deleted');
  const quiet = await home.run(['context', 'watch', 'plan', '--for', '1ms', '--as', 'bob']);
  expect([quiet.code, quiet.stdout]).toEqual([0, '']);
  const other = await home.run(['context', 'list', 'private/ada', '--as', 'bob']);
  expect([other.code, other.stdout]).toEqual([11, '']);
});

test('[CX5] [CX6] after kill -9 values, versions and snapshots are as they were, and lapse in time', async () => {
  const set = await said('set', 'kept', 'stays', '{"n": 1}', '--as', 'ada');
  await said('set', 'kept', 'short', '2', '--ttl', '3s', '--as', 'ada');
  const snapshot = await said('snapshot', '--as', 'ada');
  const gone = once(hub.child, 'close');
  hub.child.kill('SIGKILL');
  await gone;
  await serve();
  const late = await said('watch', 'kept', '--since', snapshot, '--once', '--as', 'bob');
  expect(late).toBe('removed short by __server__');
  expect(await said('get', 'kept', 'short', '--at', snapshot, '--as', 'bob')).toBe('2');
  const version = String(/\d+$/.exec(set));
  const next = await said('set', 'kept', 'stays', '3', '--if-version', version, '--as', 'bob');
  expect(next).toMatch(/^kept stays is at version \d+$/);
});
