/** `synod docket` as a person runs it: in a pipe one thing at a time, at a terminal line by line. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_TMUX, openTerminal } from './chat-terminal.ts';
import { type Home, openHome } from './cli-run.ts';

const SECRET = 'correct horse battery';
let home: Home;
beforeAll(async () => {
  home = openHome();
  await home.run(['up', '--port', '0']);
});
afterAll(() => home.close());

test('[DK11] in a pipe it lists what needs you first, and each verb does one thing', async () => {
  const asked = await home.json(['docket', 'ask', 'Which', 'port?', '--as', 'ada']);
  expect(asked).toMatchObject({ item: { item_id: 'd1', agent_id: 'ada' }, question: 'q1' });
  await home.json(['docket', 'ask', 'Shall I?', '--as', 'bob', '--to', 'hana', '--for', '1h']);
  const { stdout } = await home.run(['docket']);
  const lines = stdout.split('\n').map((line) => line.replaceAll(/\d+ s/g, 'N s'));
  expect(lines.slice(0, 4)).toEqual([
    'Needs you (1)',
    expect.stringMatching(/^ {2}d1 {2}question {2}ada {2}N s {2}Which port\?$/),
    'With others (1)',
    expect.stringMatching(/^ {2}d2 {2}question {2}bob {2}N s {2}\(to hana\) Shall I\?$/),
  ]);
  expect((await home.run(['docket', 'answer', 'd1', '8080', 'is', 'free'])).stdout).toBe(
    'ada is told\n',
  );
  const heard = await home.run(['recv', '--as', 'ada']);
  expect(heard.stdout).toContain('8080 is free');
  expect((await home.run(['docket', 'close', 'd2', '--dismiss'])).code).toBe(0);
  const again = await home.run(['docket', 'close', 'd2']);
  expect([again.code, again.stderr]).toEqual([
    12,
    expect.stringMatching(/closed by \S+ \(dismissed\)/),
  ]);
});

test('[DK11] a held message is read before it is decided, and approving releases it', async () => {
  const { token } = await home.json(['token', 'create', 'mal', '--tier', 'untrusted']);
  await home.json(['send', 'inbound', 'trust me'], { env: { SYNOD_TOKEN: String(token) } });
  const { items } = (await home.json(['docket', 'list', '--kind', 'held'])) as {
    items: { item_id: string }[];
  };
  const id = items[0]?.item_id ?? '';
  expect((await home.run(['docket', 'show', id])).stdout).toContain('  │ trust me');
  const { stdout } = await home.run(['docket', 'approve', id]);
  expect(stdout).toMatch(/^m\d+ is released to its readers\n$/);
});

test('[DK5] a gate is not closed in a pipe, nor approved there', async () => {
  await home.json(['gates', 'ask', 'deploy', 'release 1.4', '--as', 'cyd']);
  const { items } = (await home.json(['docket', 'list', '--kind', 'gate'])) as {
    items: { item_id: string }[];
  };
  const id = items[0]?.item_id ?? '';
  const closed = await home.run(['docket', 'close', id]);
  expect([closed.code, closed.stderr]).toEqual([12, expect.stringContaining('g1 waits for')]);
  const piped = await home.run(['docket', 'approve', id], { input: SECRET });
  expect([piped.code, piped.stderr]).toEqual([66, expect.stringContaining('terminal')]);
});

describe.skipIf(NO_TMUX !== null)('at a terminal', () => {
  test('[DK11] one process offers to make a person known, asks once, and decides line by line', async () => {
    const terminal = await openTerminal(home, 80, 24);
    await home.json(['gates', 'ask', 'delete', 'the old bucket', '--as', 'cyd']);
    await terminal.synod('docket');
    await terminal.shows(/Needs you[\s\S]*Your name, or Enter to leave it:/);
    await terminal.enter('hana');
    await terminal.shows(/A passphrase for hana/);
    await terminal.enter(SECRET);
    await terminal.shows(/The same again/);
    await terminal.enter(SECRET);
    await terminal.shows(/hana is a person here[\s\S]*docket>/);
    await terminal.enter('approve g1 go ahead');
    await terminal.shows(/Passphrase of hana:/);
    await terminal.enter(SECRET);
    await terminal.shows(/g1 is approved by hana: go ahead/);
    await terminal.enter('deny g2');
    await terminal.shows(/a denial says why/);
    await terminal.enter('deny g2 not today');
    const screen = await terminal.shows(/g2 is denied by hana: not today/);
    expect(screen).not.toContain('horse');
    expect(screen.match(/Passphrase of/g)).toHaveLength(1);
    await terminal.enter('');
    await terminal.shows(/nothing waits for a person[\s\S]*left with 0/);
    await terminal.close();
  });

  test('[DK11] [GT12] in the chat a gate is approved with a passphrase that nobody sees', async () => {
    const { gate_id } = await home.json(['gates', 'ask', 'merge', 'main', '--as', 'dan']);
    const terminal = await openTerminal(home, 80, 24);
    await terminal.synod('chat --as hana');
    await terminal.shows(/Needs you +1[\s\S]*dan/);
    await terminal.keys('C-o');
    await terminal.shows(new RegExp(`/approve ${gate_id}`));
    await terminal.enter(`/approve ${gate_id}`);
    await terminal.shows(/^Passphrase of hana:/m);
    await terminal.enter(SECRET);
    const screen = await terminal.shows(new RegExp(`${gate_id} is approved`));
    expect(screen).toContain('Nothing waits for a person');
    // It is not among the lines that Up brings back.
    await terminal.keys('Up');
    expect(await terminal.shows(/^> \/approve/m)).not.toContain('horse');
    await terminal.close();
  });
});
