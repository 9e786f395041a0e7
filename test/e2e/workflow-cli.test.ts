/** Runs of workflows as a person types: started, executed by a program, shown as a tree, retried, forked. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Home, openHome } from './cli-run.ts';

let home: Home;
beforeAll(async () => {
  home = openHome();
  await home.start(['serve', '--json', '--port', '0']).printed(/"ready":true/);
});
afterAll(() => home.close());

const said = async (...args: string[]): Promise<string> => {
  const ran = await home.run([...args, '--as', 'ada']);
  expect(ran.code, ran.stderr).toBe(0);
  return ran.stdout.trimEnd();
};
const workflow = (...args: string[]): Promise<string> => said('workflow', ...args);
const call = async (operation: string, input: unknown) =>
  JSON.parse(await said('call', operation, JSON.stringify(input), '--json'));
const take = (name: string) =>
  call('workflows.take', { workflows: [{ name }], executor: 'box/1', lease_ms: 600_000 });

test('[WF19] a run is shown as a tree with times, attempts and cost, and its children on their step', async () => {
  expect(await workflow('start', 'land', '{"branch":"topic"}', '--id', 'land-1')).toBe(
    'land-1 is queued; no executor has asked for land yet',
  );
  expect(await workflow('start', 'land', '{"branch":"topic"}', '--id', 'land-1')).toBe(
    'land-1 is queued; no executor has asked for land yet (it was there before)',
  );
  expect((await take('land')).runs[0].run.input).toEqual({ branch: 'topic' });
  const record = (...entries: unknown[]) =>
    call('workflows.record', { id: 'land-1', epoch: 1, entries });
  const error = { name: 'Error', message: 'red \u001b[31m' };
  await record(
    { kind: 'completed', step: 'rebase', result: { at: 'abc' }, cost: { usd: 0.25 }, took_ms: 400 },
    { kind: 'failed', step: 'test', key: 'unit', error, retry_ms: 0 },
    { kind: 'failed', step: 'test', key: 'unit', error },
  );
  const parent = { id: 'land-1', step: 'build' };
  await call('workflows.start', { name: 'build', id: 'build-1', parent });
  await record(
    { kind: 'waiting', step: 'build', step_kind: 'child', on: { child: 'build-1' } },
    { kind: 'waiting', step: 'word', on: { signal: 'go' } },
    { kind: 'released' },
  );
  const lines = (await workflow('show', 'land-1')).split('\n');
  expect(lines).toEqual([
    'land-1 land: running, waits for child build-1, signal go (4 steps, $0.25)',
    '├─ rebase completed  0.4 s, $0.25, {"at":"abc"}',
    expect.stringMatching(/^├─ test unit failed {2}2 attempts, [\d.]+ s, Error: red \S*\[31m$/),
    '├─ build pending  child, waits for child build-1',
    '│  └ build-1 build: queued; no executor has asked for build yet (0 steps)',
    '└─ word pending  waits for signal go',
  ]);
  expect(lines.join('')).not.toContain('\u001b');
  expect(await workflow('signal', 'land-1', 'go', '1')).toBe('land-1 has it');
  expect(await workflow('signal', 'land-1', 'later')).toBe(
    'kept: land-1 does not wait for later yet',
  );
  const listed = (await workflow('list')).split('\n');
  expect(listed).toHaveLength(2);
  expect(listed[1]).toMatch(/^land-1 +land +running +4 steps/);
});

test('[WF19] what is stuck is retried with another name, forked, and cancelled, and what is refused is told', async () => {
  await workflow('start', 'odd', '--id', 'odd-1');
  await take('odd');
  const entries = [
    ...['one', 'two'].map((step) => ({ kind: 'completed', step, result: step })),
    { kind: 'stuck', difference: 'two is gone\n├─ forged' },
  ];
  await call('workflows.record', { id: 'odd-1', epoch: 1, entries });
  expect(await workflow('show', 'odd-1')).toMatch(
    /\n {2}stuck: two is gone\n {4}├─ forged\n├─ one completed/,
  );
  const row = (await said('docket')).split('\n').find((line) => line.includes('two is gone'));
  expect(row).toMatch(/two is gone …$/);
  expect(await workflow('fork', 'odd-1', '--at', 'two', '--id', 'odd-2')).toBe(
    'odd-2 is queued, from two of odd-1 on',
  );
  expect(await workflow('show', 'odd-2')).toContain('forked from odd-1\n└─ one completed');
  expect(await workflow('retry', 'odd-1', '--map', 'two=zwei')).toBe('odd-1 is running');
  expect(await workflow('cancel', 'odd-2', '--reason', 'enough')).toBe(
    'odd-2 is queued, being cancelled',
  );
  const refused = await home.run(['workflow', 'retry', 'odd-1', '--as', 'ada']);
  expect([refused.code, refused.stdout]).toEqual([12, '']);
  expect(refused.stderr).toMatch(/^workflow\.state: odd-1 is running.*"synod workflow cancel"/);
  const usage = await home.run(['workflow', 'retry', 'odd-1', '--map', 'two', '--as', 'ada']);
  expect(usage.stderr).toContain('as old=new; found two');
  const none = await home.run(['workflow', 'show', 'nobody', '--as', 'ada']);
  expect(none.stderr).toMatch(/^workflow\.not-found: .*"synod workflow list"/);
});

test('[WF21] a start that nobody takes says so with the nearest name, and a version that is nowhere is refused', async () => {
  const offer = (...versions: (string | undefined)[]) =>
    call('workflows.take', {
      ...{ executor: 'box/1', limit: 0 },
      workflows: versions.map((version) => ({ name: 'ship', version })),
    });
  await offer('1', '2');
  const alone = 'queued; no executor has asked for shp yet; perhaps ship is meant';
  expect(await workflow('start', 'shp', '--id', 'shp-1')).toBe(`shp-1 is ${alone}`);
  expect(await workflow('show', 'shp-1')).toBe(`shp-1 shp: ${alone} (0 steps)`);
  expect(await workflow('list', '--name', 'shp')).toContain(alone);
  expect(await workflow('start', 'ship', '--pin', '2', '--id', 'ship-2')).toBe('ship-2 is queued');
  const refused = await home.run(['workflow', 'start', 'ship', '--pin', '3', '--as', 'ada']);
  expect([refused.code, refused.stdout]).toEqual([21, '']);
  expect(refused.stderr).toMatch(
    /^workflow\.no-version: no executor has version 3 of ship; there is 1, 2/,
  );
  expect(await workflow('list', '--name', 'ship')).not.toContain('executor has');
});

test('[WF19] whose answer a run waits for is named', async () => {
  const { message_id } = await call('channels.send', {
    channel: 'dm/ada~bob',
    body: { text: '?' },
  });
  await workflow('start', 'ask', '--id', 'ask-1');
  await take('ask');
  const on = { turn: { message_id } };
  const entries = [
    { kind: 'waiting', step: 'turn:bob', step_kind: 'turn', on },
    { kind: 'released' },
  ];
  await call('workflows.record', { id: 'ask-1', epoch: 1, entries });
  expect(await workflow('show', 'ask-1')).toContain(
    `running, waits for bob's answer to ${message_id} (`,
  );
});
