/** The extension against a real hub, in a stand-in for the editor; and the package as the editor reads it. */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import { until } from '../../../test/e2e/deadline.ts';
import { openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';
import { pack } from '../pack.ts';
import { createFakeEditor, type FakeEditor } from './fake-editor.fixture.ts';
import { type Running, start } from './start.ts';

let hub: RunningHub;
let dir: string;
let folder: string;
let editor: FakeEditor;
let running: Running;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'synod-editor-'));
  hub = await openRunningHub({ dir });
  folder = join(realpathSync(hub.dir), 'work');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.ts'), 'a\nb\nc\n');
  editor = createFakeEditor();
  running = start(editor.api, {
    open: () => connect({ url: hub.url, token: hub.owner, agent: 'hilda', isPerson: true }),
    iconPath: 'held.svg',
    retryMs: 50,
  });
  await seen('the hub', () => editor.context.get('synod.state') === 'here');
});
afterAll(async () => {
  await running.close();
  await hub.close();
  await rm(dir, { recursive: true, force: true });
});

/** What the editor shows changes without anybody asking; in between others have their turn. */
const seen = (what: string, isSo: () => boolean): Promise<unknown> =>
  until(
    what,
    async () => {
      await setImmediate();
      return isSo();
    },
    (so) => so,
  );

const take = (note: string): Promise<unknown> =>
  hub.ask('ada', 'claims_take', { task_id: 'parse', worktree: folder, paths: ['a.ts'], note });

test('[ED1] a question is in the tree as it is asked, and the answer reaches who asked', async () => {
  await hub.ask('bob', 'docket_raise', { text: 'keep the [old](command:evil) shape?' });
  await seen('the question', () => editor.rows('synod.docket').length === 1);
  const [row] = editor.rows('synod.docket');
  expect(row?.label).toContain('bob: keep the [old] (command:evil) shape?');
  expect(editor.status.text).toBe('$(organization) 1');
  editor.input = 'yes, keep it';
  await editor.run('synod.answer', row);
  expect(editor.errors).toEqual([]);
  await seen('that it is answered', () => editor.rows('synod.docket').length === 0);
  const { messages } = await hub.ask('bob', 'recv', {});
  expect(JSON.stringify(messages)).toContain('yes, keep it');
  // What cannot be done is told, and nothing comes of it.
  await editor.run('synod.take', { id: 'd999' });
  expect(editor.errors).toHaveLength(1);
});

test('[ED1] a thread is in the tree once somebody replied, and is read as text', async () => {
  const { message_id } = await hub.ask('ada', 'send', { channel: 'news', body: { text: 'one?' } });
  await hub.ask('bob', 'send', { channel: 'news', body: { text: 'two' }, reply_to: message_id });
  await seen('the thread', () => editor.rows('synod.threads').length === 1);
  expect(editor.rows('synod.threads')[0]?.label).toContain('one?');
  const text = await editor.read(`synod-thread:${message_id}`);
  expect(text).toMatch(/^ada .*\n {4}one\?\n\nbob .*\n {4}two\n$/);
});

test('[ED1] a gate is decided at a terminal, and its return key is the person’s', async () => {
  await hub.ask('bob', 'gates_ask', { action: 'push', subject: 'main', deadline: 3600 });
  await seen('the gate', () => editor.rows('synod.docket').length === 1);
  await editor.run('synod.decide', editor.rows('synod.docket')[0]);
  expect(editor.typed.at(-1)).toMatch(/^synod docket approve \w+$/);
});

test('[ED2] a file that somebody else holds is marked and warned of once, until it is held anew', async () => {
  const file = editor.open(join(folder, 'a.ts'));
  await running.session.holders(join(folder, 'a.ts'));
  expect(file.marks).toEqual([]);
  await take('splitting\u202e the [lexer](command:evil)');
  await seen('the mark', () => file.marks.length === 3);
  expect(file.marks[0]?.hoverMessage.value).toMatch(
    /^ada holds this file \(parse: splitting.*\) until/,
  );
  expect(editor.warnings).toHaveLength(1);
  expect(editor.warnings[0]).not.toMatch(/\u202e|\]\(/);
  // Looked at again: nothing new is said.
  editor.open(join(folder, 'a.ts'));
  await running.session.refresh();
  await running.session.holders(join(folder, 'a.ts'));
  expect(editor.warnings).toHaveLength(1);
  await hub.ask('ada', 'claims_release', { task_id: 'parse' });
  await seen('that the mark goes', () => file.marks.length === 0);
  await take('again');
  await seen('the second warning', () => editor.warnings.length === 2);
  await hub.ask('ada', 'claims_release', { task_id: 'parse' });
  editor.settings.set('warn', false);
  await take('and again');
  await seen('the mark alone', () => file.marks.length === 3);
  expect(editor.warnings).toHaveLength(2);
});

test('[ED2] one’s own claim, a name that is a pattern, and another hub’s silence warn of nothing', async () => {
  await hub.ask('hilda', 'claims_take', { task_id: 'mine', worktree: folder, paths: ['b.ts'] });
  expect(await running.session.holders(join(folder, 'b.ts'))).toEqual([]);
  await hub.ask('ada', 'claims_take', { task_id: 'page', worktree: folder, paths: ['x[id].ts'] });
  expect(await running.session.holders(join(folder, '{*[]}.ts'))).toBeInstanceOf(Array);
});

test('[ED3] the package is what the editor reads, and its code runs in the editor’s kind of module', async () => {
  const { name, bytes } = await pack();
  expect(name).toMatch(/^synod-\d+\.\d+\.\d+\.vsix$/);
  const files = unzip(bytes);
  expect([...files.keys()]).toEqual(
    expect.arrayContaining([
      '[Content_Types].xml',
      'extension.vsixmanifest',
      'extension/package.json',
    ]),
  );
  const manifest = JSON.parse(String(files.get('extension/package.json')));
  const commands = manifest.contributes.commands.map((one: { command: string }) => one.command);
  const code = String(files.get(`extension/${manifest.main.replace('./', '')}`));
  for (const path of [manifest.contributes.viewsContainers.activitybar[0].icon, 'media/held.svg']) {
    expect(files.has(`extension/${path}`)).toBe(true);
  }
  const real = createRequire(import.meta.url);
  const stage = createFakeEditor();
  stage.settings.set('directory', join(hub.dir, 'nowhere'));
  const loaded = {
    exports: {} as { activate(context: object): void; deactivate(): Promise<void> },
  };
  const load = new Function('require', 'module', 'exports', code);
  load((id: string) => (id === 'vscode' ? stage.api : real(id)), loaded, loaded.exports);
  const context = { subscriptions: [], asAbsolutePath: (path: string) => path };
  loaded.exports.activate(context);
  await seen('that no hub is found', () => stage.context.get('synod.state') === 'absent');
  for (const command of commands) expect(code).toContain(command);
  await loaded.exports.deactivate();
});

test('[ED1] a hub that goes is seen to go, and found again when it is back', async () => {
  const { port } = hub;
  await hub.close();
  await seen('that it is gone', () => editor.context.get('synod.state') === 'absent');
  expect(editor.rows('synod.docket')).toEqual([]);
  hub = await openRunningHub({ dir, flags: { port: String(port) } });
  await seen('that it is back', () => editor.context.get('synod.state') === 'here');
}, 30_000);

/** Read by the list at the end, as those who open one do. */
function unzip(bytes: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    const length = bytes.readUInt16LE(at + 28);
    const start = bytes.readUInt32LE(at + 42);
    const name = bytes.toString('utf8', at + 46, at + 46 + length);
    const from = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28);
    files.set(name, inflateRawSync(bytes.subarray(from, from + bytes.readUInt32LE(at + 20))));
    at += 46 + length;
  }
  return files;
}
