/** `synod log compact`, as an operator runs it: stop, export, compact, verify, start, read on. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Home, openHome, type Running } from './cli-run.ts';

let home: Home;
beforeAll(() => {
  home = openHome();
});
afterAll(() => home.close());

async function serve(): Promise<Running> {
  const hub = home.start(['serve', '--json', '--port', '0']);
  await hub.printed(/^\{.*\}$/m);
  return hub;
}

async function stop(hub: Running): Promise<void> {
  hub.child.kill('SIGTERM');
  await hub.exited();
}

test('[G13] [G14] [RT1] [FT3] [FT6] [AU1] old bodies go, the chain is proved against the archive, and the hub reads on', async () => {
  let hub = await serve();
  const body = JSON.stringify({ text: `secret ${'x'.repeat(50_000)}` });
  await home.json(['subscribe', 'news', '--as', 'bob']);
  const sent = await home.json(['send', 'news', '--body', body, '--as', 'ada']);
  await home.json(['send', 'unread', '--body', body, '--as', 'ada']);
  await home.json(['subscribe', 'owed', '--as', 'bob']);
  await home.json(['send', 'owed', '--body', body, '--as', 'ada']);
  await home.json(['recv', '--as', 'bob', '--channel', 'news']);
  const found = async (): Promise<unknown[]> => {
    const { messages, complete } = await home.json(['search', 'secret', '--as', 'bob']);
    expect(complete).toBe(true);
    return (messages as { channel: string }[]).map(({ channel }) => channel);
  };
  expect(await found()).toEqual(['owed', 'unread', 'news']);
  const shown = await home.run(['search', 'secret', '--channel', 'news', '--since', '1h']);
  expect(shown.stdout).toMatch(/^\S+ news #1 ada: secret x+… \[m\d+\]\n$/);
  const audit = await home.run(['log', 'audit', '--action', 'message', '--limit', '1']);
  expect(audit.stdout).toMatch(/^\S+ ada message\.sent owed \(seq 1\) \[\d+\]\n$/);
  const age = ['--older-than', '0s'];
  const busy = await home.run(['log', 'compact', ...age]);
  expect(busy.code).not.toBe(0);
  expect(busy.stderr).toContain('in use');
  await stop(hub);

  const archive = join(home.dir, 'archive.ndjson');
  await home.run(['log', 'export', '--out', archive]);
  expect(existsSync(archive)).toBe(true);
  const path = join(home.dir, 'spaces', 'default.sqlite');
  const before = statSync(path).size;
  expect(await home.json(['log', 'compact', '--dry-run', ...age])).toMatchObject({
    is_dry_run: true,
    dropped: 2,
  });
  expect(statSync(path).size).toBe(before);
  const done = await home.json(['log', 'compact', ...age]);
  expect(done).toMatchObject({ is_dry_run: false, dropped: 2 });
  expect(statSync(path).size).toBeLessThan(before);
  // The words of what went are in no other file either [FT3].
  expect(existsSync(`${path}.SEARCH`)).toBe(false);
  expect(Number(done.bytes_after)).toBeLessThan(Number(done.bytes_before));
  const verified = await home.run(['log', 'verify', '--archive', archive]);
  expect(verified.stdout).toMatch(/^ok .*compacted below \d+: 2 bodies dropped.*\nok .*archive/);
  expect(verified.code).toBe(0);

  hub = await serve();
  expect(await found()).toEqual(['owed']);
  const replayed = await home.json(['replay', 'news', '--as', 'bob']);
  expect(replayed.messages).toMatchObject([
    { message_id: sent.message_id, body: {}, dropped: true },
  ]);
  const { receipts } = await home.json(['receipts', String(sent.message_id), '--as', 'ada']);
  expect(receipts).toMatchObject([{ agent_id: 'bob', state: 'consumed' }]);
  const owed = (await home.json(['recv', '--as', 'bob'])) as { messages: { body: object }[] };
  expect(JSON.stringify(owed.messages[0]?.body)).toBe(body);
  await stop(hub);
});
