import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { COMMAND_ROWS } from '../../src/tui/commands.ts';
import { MARKS } from '../../src/tui/receipts.ts';
import { listFiles, readText } from '../tidy/repository.ts';
import { NO_TMUX, openTerminal, type Terminal } from './chat-terminal.ts';
import { type Home, openHome } from './cli-run.ts';
import { until } from './deadline.ts';

const LONG_MS = 90_000;
let home: Home;
let open: Terminal[] = [];

beforeEach(() => {
  home = openHome();
});

afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  open = [];
  await home.close();
});

async function terminal(columns: number, rows: number): Promise<Terminal> {
  const opened = await openTerminal(home, columns, rows);
  open.push(opened);
  return opened;
}

/** What bob says on the command line; answers the id. */
async function bobSays(channel: string, text: string): Promise<string> {
  const sent = await home.json(['send', channel, text, '--as', 'bob']);
  return String(sent.message_id);
}

/** What ada is owed on a channel, as the hub counts it. */
async function owed(channel: string): Promise<number> {
  const { channels } = await home.json(['call', 'inbox.peek', '{}', '--as', 'ada']);
  const rows = channels as { channel: string; owed: number }[];
  return rows.find((one) => one.channel === channel)?.owed ?? 0;
}

function count(text: string, pattern: RegExp): number {
  return text.match(new RegExp(pattern, 'g'))?.length ?? 0;
}

/** The terminal is as it was before: the main screen, a cursor, and a shell that echoes. */
async function expectRestored(person: Terminal): Promise<void> {
  await person.shows(/left with \d+\s+ready\$/);
  expect(await person.ask('#{alternate_on} #{cursor_flag}')).toBe('0 1');
  await person.enter(
    'echo raw:$(stty -a | grep -oE -e "-(icanon|echo|isig|icrnl)( |;|$)" | wc -l)',
  );
  await person.shows(/^raw:0$/m);
}

if (NO_TMUX !== null) console.warn(`the terminal face is not driven here: ${NO_TMUX}`);

describe.skipIf(NO_TMUX !== null)('in a terminal', () => {
  describe.each([
    [80, 24],
    [140, 40],
  ])('of %i by %i', (columns, rows) => {
    test('[TU3] [TU5] [TU6] a person talks with an agent, across a restart of the hub', {
      timeout: LONG_MS,
    }, async () => {
      const ada = await terminal(columns, rows);
      await ada.synod('chat --as ada --channel general');
      await ada.shows(/connected/);
      expect(await ada.ask('#{alternate_on}')).toBe('1');

      await home.run(['subscribe', 'general', '--as', 'bob']);
      const question = await bobSays('general', 'Is the build red?');
      await ada.shows(/bob \d\d:\d\d[\s\S]*Is the build red\? +m\d+/);
      await ada.shows(/[○●] bob +(here|idle)/);

      // Receipts: owed, then read, then acted on.
      await ada.keys('/rep', 'Tab');
      await ada.shows(/> \/reply/);
      await ada.enter(`${question} Green again.`);
      await ada.shows(new RegExp(`↳ ${question} bob: Is the build`));
      const [, id = ''] =
        /Green again\. +✓ (m\d+)/.exec(await ada.shows(/Green again\. +✓ m\d+/)) ?? [];
      await home.run(['recv', '--as', 'bob']);
      await ada.shows(new RegExp(`● ${id}\\b`));
      await home.run(['ack', id, 'done', '--as', 'bob']);
      await ada.shows(new RegExp(`★ ${id}\\b`));

      // Unread: what nobody turned to is not read, on the screen and at the hub.
      await bobSays('ticket:7', 'Elsewhere.');
      await ada.shows(/not joined[\s\S]*ticket:7/);
      await ada.enter('/join ticket:7');
      await ada.shows(/> ticket:7/);
      await ada.shows(/Elsewhere\./);
      await bobSays('general', 'Come back.');
      await ada.shows(/\* general +1/);
      expect(await owed('general')).toBe(1);
      await ada.keys('C-p');
      await ada.shows(/> general {2,}[\s\S]*── new ──[\s\S]*Come back\./);
      await until(
        'it counts as read',
        () => owed('general'),
        (left) => left === 0,
      );

      // A message is data.
      await bobSays('general', '\u001b[2J\u001b]0;owned\u0007boo');
      await ada.shows(/\\u\{1b\}\[2J\\u\{1b\}\]0;owned\\u\{7\}boo/);

      // The hub goes and comes back, and meanwhile both speak.
      await home.run(['down']);
      await ada.shows(/reconnecting/);
      await ada.enter('Said while it was away.');
      await ada.shows(/Said while it was away\. +sending/);
      await home.run(['up', '--port', '0']);
      for (const n of [1, 2, 3]) await bobSays('general', `After it, number ${n}.`);
      await ada.shows(/connected/);
      const back = await ada.shows(
        /number 3\.[\s\S]*away\. +\S* ?m\d+|away\. +\S* ?m\d+[\s\S]*number 3\./,
      );
      for (const n of [1, 2, 3]) expect(count(back, new RegExp(`number ${n}\\.`))).toBe(1);
      expect(count(back, /Said while it was away/)).toBe(1);
      const { messages } = await home.json(['replay', 'general', '--as', 'ada']);
      expect(count(JSON.stringify(messages), /Said while it was away/)).toBe(1);

      await ada.keys('C-c');
      await expectRestored(ada);
      expect(await ada.screen()).toMatch(/left with 0/);
    });
  });

  test('[TU7] [TU12] claims, agents, threads and the plan are a key or a word away', {
    timeout: LONG_MS,
  }, async () => {
    await home.run(['up', '--port', '0']);
    await home.run(['report', 'blocked', 'May I push?', '--as', 'codex']);
    await home.run([
      'call',
      'claims.take',
      '{"task_id":"auth-7","paths":["src/auth/**"],"worktree":"/repo"}',
      '--as',
      'bob',
    ]);
    await home.run([
      'call',
      'plan.declare',
      '{"task_id":"auth-7","title":"Rewrite the login"}',
      '--as',
      'bob',
    ]);
    const first = await bobSays('general', 'Who takes the lock test?');
    const ada = await terminal(80, 24);
    await ada.synod('chat --as ada --channel general --no-spawn');
    await ada.shows(/! codex +asks[\s\S]*May I push\?/);
    await ada.keys('C-t');
    await ada.shows(
      /Claims \(1\)[\s\S]*auth-7 held by bob until \d\d:\d\d \(\d+m\)[\s\S]*src\/auth/,
    );
    await ada.keys('C-g');
    await ada.shows(/! codex blocked on a human[\s\S]*"May I push\?"/);
    // As fast as tmux can: it sends Escape and the slash in one piece.
    await ada.keys('Escape', '/board', 'Enter');
    await ada.shows(/Board: [\s\S]*auth-7 \w+[\s\S]*Rewrite the login/);
    expect(await ada.screen()).not.toMatch(/ada \(you\) \d\d/);
    await ada.enter(`/thread ${first}`);
    await ada.shows(new RegExp(`general: thread ${first}`));
    await ada.enter('I do.');
    const answer = await ada.shows(/ {2}ada \(you\)[\s\S]*I do\. +m\d+/);
    const [, id = ''] = /I do\. +(m\d+)/.exec(answer) ?? [];
    await home.run([
      'call',
      'threads.mark',
      `{"message_id":"${first}","mark":"pin"}`,
      '--as',
      'bob',
    ]);
    await ada.shows(/▲ pinned[\s\S]*bob ▲ pinned it/);
    await ada.enter('/close');
    await ada.shows(/to close a thread, say why in note/);
    await ada.enter('/close ada does it');
    await ada.shows(/▲ pinned {2}closed[\s\S]*ada closed it \d\d:\d\d[\s\S]*│ ada does it/);
    await ada.enter('Too late.');
    await ada.shows(/not sent: the thread[\s\S]*ada does it[\s\S]*Up brings/);
    await ada.keys('Escape');
    await ada.shows(new RegExp(`1 reply {2}▲ pinned {2}closed[\\s\\S]*↳ ${first} bob: Who takes`));
    await ada.enter('/threads closed');
    await ada.shows(new RegExp(`Threads, closed[\\s\\S]*> ${first} bob`));
    await ada.enter('/search LOCK');
    await ada.shows(new RegExp(`Found 1: LOCK[\\s\\S]*> ${first} bob`));
    await ada.keys('Enter');
    await ada.shows(new RegExp(`general: thread ${first}`));
    await ada.enter('/reopen');
    await ada.shows(/ada opened it again/);
    await ada.enter(`/receipts ${id}`);
    await ada.shows(new RegExp(`Receipts of ${id}[\\s\\S]*ada consumed`));
    await ada.enter('/msg codex Yes, push.');
    await ada.shows(/> @codex[\s\S]*Yes, push\./);
    const { messages } = await home.json(['recv', '--as', 'codex']);
    expect(JSON.stringify(messages)).toContain('Yes, push.');
    await ada.enter('/nonsense');
    await ada.shows(/there is no \/nonsense; \/help lists/);
    await ada.keys('C-u');
    await ada.enter('/quit');
    await expectRestored(ada);
  });

  test('[TU2] panels give way as the terminal narrows, and come back', {
    timeout: LONG_MS,
  }, async () => {
    const ada = await terminal(80, 24);
    await ada.synod('chat --as ada --channel general');
    await ada.shows(/Channels +│ general +│ Agents/);
    await ada.resize(60, 16);
    await ada.shows(/^Channels +│ general *$/m);
    await ada.resize(40, 12);
    await ada.shows(/^general *$/m);
    await ada.resize(15, 4);
    await ada.shows(/too small/);
    await ada.resize(140, 40);
    await ada.shows(/Channels +│ general +│ Agents/);
    expect((await ada.screen()).split('\n').slice(0, 40).at(-1)).toMatch(/^>/);
  });

  test('[TU6] without colour there is none, and a signal leaves the terminal as it was', {
    timeout: LONG_MS,
  }, async () => {
    const colour = new RegExp(`${String.fromCharCode(27)}\\[([0-9]+;)*(3[1-7]|9[0-7]|38;)`);
    const ada = await terminal(80, 24);
    await ada.synod('chat --as ada --channel general');
    await ada.shows(/connected/);
    await home.run(['report', 'blocked', 'Shall I?', '--as', 'bob']);
    await ada.shows(/! bob +asks/);
    expect(await ada.screen({ hasStyles: true })).toMatch(colour);
    await ada.keys('C-c');
    await expectRestored(ada);

    const pidFile = join(dirname(home.dir), 'pid');
    await ada.clear();
    await ada.synod('chat --as ada', `NO_COLOR=1 sh -c 'echo $$ > ${pidFile}; exec "$@"' sh`);
    await ada.shows(/! bob +asks/);
    expect(await ada.screen({ hasStyles: true })).not.toMatch(colour);
    process.kill(Number(await readFile(pidFile, 'utf8')), 'SIGTERM');
    await expectRestored(ada);
  });

  test('[TU6] who closes the window has left: the hub is told, and nothing runs on', {
    timeout: LONG_MS,
  }, async () => {
    const ada = await terminal(80, 24);
    await ada.synod('chat --as ada --channel general');
    await ada.shows(/connected/);
    await ada.close();
    open = [];
    const stateOf = async () => {
      const { agents } = await home.json(['who']);
      const rows = agents as { agent_id: string; state: string }[];
      return rows.find((one) => one.agent_id === 'ada')?.state;
    };
    await until('ada is gone', stateOf, (state) => state === 'gone');
  });

  test('where no hub runs and none may be started, it says so and what to do', async () => {
    const ada = await terminal(80, 24);
    await ada.synod('chat --no-spawn');
    const screen = await ada.shows(/left with 69/);
    expect(screen).toMatch(/hub\.unreachable: no hub runs from/);
    expect(screen).toMatch(/synod up/);
    expect(await ada.ask('#{alternate_on}')).toBe('0');
  });

  test('a credential that opens nothing is refused before anything is drawn', async () => {
    await home.run(['up', '--port', '0']);
    const ada = await terminal(80, 24);
    await ada.synod('chat', 'SYNOD_TOKEN=syn_default.none.none');
    expect(await ada.shows(/left with \d+/)).toMatch(/access\.unknown/);
    expect(await ada.ask('#{alternate_on}')).toBe('0');
  });
});

test('without a terminal it starts nothing and names the commands for pipes', async () => {
  const { code, stderr } = await home.run(['chat', '--as', 'ada']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/needs a terminal[\s\S]*synod tail/);
  expect((await home.run(['status'])).code).not.toBe(0);
});

test('[TU8] no other command loads it: it is imported in one place, and only when asked for', () => {
  const importers = listFiles('src', '.ts').filter(
    (path) => !path.startsWith('src/tui/') && /['"]\.\.\/tui\//.test(readText(path)),
  );
  expect(importers).toEqual(['src/cli/chat.ts']);
  expect(readText('src/cli/chat.ts')).not.toMatch(/^import[^\n]*\.\.\/tui\//m);
});

test('the guide names every command as it is written, and every mark', () => {
  const page = readText('docs/guide/chat.md');
  const commands = COMMAND_ROWS.map(
    ({ name, usage }) => `| \`${`/${name} ${usage}`.trimEnd()}\` |`,
  );
  const marks = Object.entries(MARKS).map(([state, [mark]]) => `| \`${mark}\` | ${state} |`);
  expect([...commands, ...marks].filter((row) => !page.includes(row))).toEqual([]);
});
