/** `synod log at`, as somebody runs it: beside a hub, on a copy, and with moments that are none. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Home, openHome } from './cli-run.ts';
import { openRunningHub, type RunningHub } from './running-hub.ts';

let home: Home;
let hub: RunningHub;
let claimed = 0;
let asked = '';
beforeAll(async () => {
  home = openHome();
  hub = await openRunningHub({ dir: home.dir });
  await hub.ask('ada', 'plan_declare', { task_id: 'parse', title: 'Parse it' });
  await hub.ask('bob', 'claims_take', { task_id: 'parse', paths: ['src/a.ts'], worktree: '/' });
  await hub.ask('bob', 'docket_raise', { text: 'keep the old shape?' });
  asked = (await hub.ask('ada', 'send', { channel: 'news', body: { text: 'which shape?' } }))
    .message_id;
  await hub.ask('bob', 'send', { channel: 'news', body: { text: 'the old one' }, reply_to: asked });
  claimed = (await hub.admin('status')).entries;
  await hub.ask('bob', 'claims_release', { task_id: 'parse', evidence: 'done' });
});
afterAll(async () => {
  await hub.close();
  await home.close();
});

test('[PA7] a command shows what was so, beside a hub and as the hub itself says it', async () => {
  const at = (...what: string[]) => ['log', 'at', String(claimed), ...what];
  const [thread, claims, docket, board] = await Promise.all([
    home.run(at('thread', asked)),
    home.run(at('claims')),
    home.run(at('docket')),
    home.json(at('board')),
  ]);
  expect(claims.stdout).toMatch(/^parse +bob +\w+ +until .*src\/a\.ts\n$/);
  expect(claims.stderr).toMatch(new RegExp(`^position ${claimed}, `));
  expect(docket.stdout).toContain('keep the old shape?');
  expect(thread.stdout).toMatch(/ada.*: which shape\?.*\n.*bob.*: the old one/);
  const question = { position: claimed, operation: 'plan.board', input: {} };
  expect(board).toEqual(await hub.admin('record_at', question));
});

test('[PA7] any operation that reads can be named, on a copy that was exported and imported too', async () => {
  const file = join(home.dir, 'copy.ndjson');
  await home.run(['log', 'export', '--out', file]);
  const store = ['--store', `file://${join(home.dir, 'copy')}`];
  await home.run(['log', 'import', file, ...store]);
  const input = ['--input', '{"owner":"bob"}'];
  const listed = await home.json(['log', 'at', String(claimed), 'claims.list', ...input, ...store]);
  expect(listed).toMatchObject({ position: claimed, answer: { claims: [{ owner: 'bob' }] } });
});

test('[PA7] what is no moment or cannot be asked is refused with what to do', async () => {
  const cases = [
    ['1000000', 'board', 21, '0 to '],
    ['1.5', 'board', 2, 'is no moment'],
    ['1', 'channels.send', 20, 'read only'],
  ] as const;
  await Promise.all(
    cases.map(async ([moment, what, code, words]) => {
      const refused = await home.run(['log', 'at', moment, what]);
      expect([moment, what, refused.code]).toEqual([moment, what, code]);
      expect(refused.stderr).toContain(words);
    }),
  );
});
