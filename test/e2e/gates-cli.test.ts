/**
 * `synod gates` and `synod person` as a person runs them: a terminal, a passphrase that is not shown, and
 * a refusal where nobody sits.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_TMUX, openTerminal, type Terminal } from './chat-terminal.ts';
import { type Home, openHome } from './cli-run.ts';
import { fetchReply, type Json } from './running-hub.ts';
import { createSoftPasskey } from './soft-passkey.ts';

const SECRET = 'correct horse battery';

describe.skipIf(NO_TMUX !== null)('at a terminal', () => {
  let home: Home;
  let terminal: Terminal;

  beforeAll(async () => {
    home = openHome();
    await home.run(['up', '--port', '0']);
    terminal = await openTerminal(home, 110, 40);
  });
  afterAll(async () => {
    await terminal.close();
    await home.close();
  });

  test('[GT12] a passphrase is typed unseen, and nothing but a terminal will do', async () => {
    const piped = await home.run(['person', 'add', 'mia'], { input: `${SECRET}\n${SECRET}\n` });
    expect(piped.code).toBe(66);
    expect(piped.stderr).toContain('nobody sits at a terminal');
    expect((await home.json(['person', 'list'])).people).toEqual([]);
    await terminal.synod('person add mia');
    await terminal.shows(/A passphrase for mia/);
    await terminal.enter(SECRET);
    await terminal.shows(/The same again/);
    await terminal.enter(SECRET);
    const screen = await terminal.shows(/mia is a person here[\s\S]*left with 0/);
    expect(screen).not.toContain('horse');
    expect((await home.json(['person', 'list'])).people).toMatchObject([{ name: 'mia' }]);
  });

  test('[GT12] [GT2] a person approves with the passphrase, and who waited leaves with 0', async () => {
    const asked = ['gates', 'ask', 'push', 'origin main', '--as', 'ada'];
    const { gate_id } = await home.json([...asked, '--payload', '{"force":false}']);
    const waiting = home.start(['gates', 'wait', String(gate_id), '--as', 'ada']);
    const piped = await home.run(['gates', 'approve', String(gate_id)], { input: SECRET });
    expect(piped.code).toBe(66);
    await terminal.synod(`gates approve ${gate_id} --reason fine`);
    await terminal.shows(/ada wants to push: origin main/);
    await terminal.shows(/Passphrase of mia:/);
    await terminal.enter(SECRET);
    await terminal.shows(new RegExp(`${gate_id} is approved by mia: fine`));
    const { code, stdout } = await waiting.exited();
    expect([code, stdout]).toEqual([0, expect.stringContaining('is approved by mia')]);
    const other = ['gates', 'consume', String(gate_id), '--as', 'ada', '--payload'];
    expect((await home.run([...other, '{"force":true}'])).code).toBe(12);
    expect(await home.json([...other, '{"force":false}'])).toMatchObject({ state: 'consumed' });
  });

  test('[PK1] passkeys are listed, and one is dropped by who proves it, or not at all', async () => {
    expect((await home.json(['person', 'passkeys'])).passkeys).toEqual([]);
    for (const id of ['abc', '-w9aK_x', '--person2']) {
      const piped = await home.run(['person', 'drop-passkey', id], { input: SECRET });
      expect([piped.code, piped.stderr]).toEqual([66, expect.stringContaining('nobody sits')]);
    }
    await terminal.synod('person drop-passkey abc');
    await terminal.shows(/drop-passkey abc[\s\S]*Passphrase of mia:/);
    await terminal.enter(SECRET);
    await terminal.shows(/passkey\.not-found[\s\S]*left with [1-9]/);

    const id = await addPasskey();
    const listed = await home.run(['person', 'passkeys']);
    expect(listed.stdout).toMatch(new RegExp(`^${id} +mia +her laptop +since `));
    await terminal.clear();
    await terminal.synod(`person drop-passkey ${id}`);
    await terminal.shows(/drop-passkey[\s\S]*Passphrase of mia:/);
    await terminal.enter(SECRET);
    await terminal.shows(/mia cannot prove it with[\s\S]*left with 0/);
    expect((await home.json(['person', 'passkeys'])).passkeys).toEqual([]);
  });

  /** As the page does it, with a device in software. */
  async function addPasskey(): Promise<string> {
    const { url } = await home.json(['status']);
    const key = createSoftPasskey(`http://localhost:${new URL(String(url)).port}`);
    const { proof } = await asOwner('people_prove', { name: 'mia', passphrase: SECRET });
    const { challenge } = await asOwner('people_passkey_begin', { purpose: 'add', proof });
    const offer = { ...key.offer(challenge), label: 'her laptop', proof };
    return (await asOwner('people_passkey_add', offer)).passkey_id;

    async function asOwner(operation: string, input: object): Promise<Json> {
      const owner = (await readFile(join(home.dir, 'credential'), 'utf8')).trim();
      const { status, body, text } = await fetchReply(`${url}/v1/ops/${operation}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${owner}` },
        body: JSON.stringify(input),
      });
      expect([status, text]).toEqual([200, text]);
      return body;
    }
  }

  test('[GT12] a denial says why, and whoever waits leaves with 1', async () => {
    const { gate_id } = await home.json(['gates', 'ask', 'drop', 'the table', '--as', 'ada']);
    const mute = await home.run(['gates', 'deny', String(gate_id)]);
    expect([mute.code, mute.stderr]).toEqual([2, expect.stringContaining('--reason TEXT')]);
    await terminal.clear();
    await terminal.synod(`gates deny ${gate_id} --reason 'not backed up'`);
    await terminal.shows(/the table[\s\S]*Passphrase of mia:/);
    await terminal.enter(SECRET);
    await terminal.shows(/is denied by mia: not backed up/);
    const waited = await home.run(['gates', 'wait', String(gate_id), '--as', 'ada']);
    expect([waited.code, waited.stdout]).toEqual([1, expect.stringContaining('denied by mia')]);
    const { stdout } = await home.run(['gates', 'show', String(gate_id)]);
    expect(stdout).toMatch(/asked by: +ada/);
    const late = await home.run(['gates', 'wait', 'g99']);
    expect([late.code, late.stderr]).toEqual([21, expect.stringContaining('synod gates list')]);
  });

  test('[GT14] who sends what waits for a person is told so, and by which gate', async () => {
    await home.run(['call', 'channels.configure', '{"channel":"ops","gate_tier2":true}']);
    const grave = ['send', 'ops', '--body', '{"tier":2,"text":"drop the old tables"}'];
    const sent = await home.run([...grave, '--as', 'ada']);
    expect(sent.stdout).toMatch(/^sent ops #1 /);
    expect(sent.stderr).toMatch(/^it is held until a person decides on g\d+: synod gates$/m);
  });
});
