/** The command line against a real hub: what a person types, what is printed, how it ends. Its hub: `cli-hub.test.ts`. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Home, openHome } from './cli-run.ts';

let home: Home;
let url: string;

beforeAll(async () => {
  home = openHome();
  const hub = home.start(['serve', '--json', '--port', '0']);
  const [line] = await hub.printed(/^\{.*\}$/m);
  const ready = JSON.parse(line);
  expect(ready).toMatchObject({ ready: true, dir: home.dir, pid: hub.child.pid });
  url = ready.url;
});
afterAll(async () => home.close());

const text = (ran: { stdout: string }) => ran.stdout.trimEnd();

describe('talking', () => {
  test('[CL2] two agents talk as the README shows', async () => {
    expect(text(await home.run(['subscribe', 'team/plan', '--as', 'ada']))).toContain(
      'subscribed to team/plan',
    );
    const sent = await home.run(['send', 'team/plan', 'hello', '--as', 'bob']);
    expect(text(sent)).toMatch(/^sent team\/plan #1 \[\S+\]$/);
    const got = await home.run(['recv', '--as', 'ada']);
    expect(text(got)).toMatch(/^\d\d:\d\d:\d\d team\/plan #1 bob: hello \[\S+\]$/);
    const again = await home.run(['recv', '--as', 'ada']);
    expect(again).toMatchObject({ code: 0, stdout: '', stderr: 'no messages\n' });
  });

  test('[CL2] with --json each command prints one document', async () => {
    await home.json(['subscribe', 'json', '--as', 'ada']);
    const sent = await home.json(['send', 'json', '--body', '{"n":1}', '--as', 'bob']);
    expect(sent).toMatchObject({ seq: 1, backpressure: { state: 'ok' } });
    const got = await home.json(['recv', '--as', 'ada', '--channel', 'json', '--max', '1']);
    expect(got.messages).toMatchObject([{ channel: 'json', sender: 'bob', body: { n: 1 } }]);
    for (const args of [
      ['channels'],
      ['agents'],
      ['groups'],
      ['status'],
      ['token', 'list'],
      ['call', 'whoami'],
    ]) {
      expect(typeof (await home.json(args))).toBe('object');
    }
  });

  test('a text and a body can come from standard input', async () => {
    await home.json(['subscribe', 'stdin', '--as', 'ada']);
    await home.run(['send', 'stdin', '-', '--as', 'bob'], { input: 'two\nlines\n' });
    await home.run(['send', 'stdin', '--body', '-', '--as', 'bob'], { input: '{"x":[]}' });
    const got = await home.json(['recv', '--as', 'ada', '--channel', 'stdin']);
    expect((got.messages as { body: unknown }[]).map(({ body }) => body)).toEqual([
      { text: 'two\nlines' },
      { x: [] },
    ]);
  });

  test('a key stores once, a reply is threaded, a lease is acked, receipts tell', async () => {
    await home.json(['subscribe', 'work', '--as', 'ada']);
    const key = ['send', 'work', 'do it', '--idempotency-key', 'k', '--as', 'bob'];
    const first = await home.json(key);
    expect((await home.json(key)).message_id).toBe(first.message_id);
    const id = String(first.message_id);
    await home.json(['send', 'work', 'done?', '--reply-to', id, '--as', 'bob']);
    const got = await home.json([
      'recv',
      '--as',
      'ada',
      '--lease',
      '60',
      '--channel',
      'work',
      '--thread-depth',
      '-1',
    ]);
    expect(got.messages).toMatchObject([
      { message_id: id },
      { reply_to: id, ancestors: [{ message_id: id }] },
    ]);
    expect(text(await home.run(['ack', id, 'done', '--as', 'ada']))).toBe(`acked ${id}: done`);
    expect(text(await home.run(['receipts', id, '--as', 'bob']))).toMatch(/^ada +acted /);
    const history = await home.run([
      'replay',
      'work',
      '--since',
      '1',
      '--limit',
      '1',
      '--as',
      'ada',
    ]);
    expect(text(history)).toContain('bob: do it');
    expect(history.stderr).toContain('there is more: --since 2');
  });

  test('recv --wait answers when mail comes', async () => {
    await home.json(['subscribe', 'wait', '--as', 'waiter']);
    const waiting = home.start(['recv', '--wait', '14', '--as', 'waiter']);
    await home.run(['send', 'wait', 'here', '--as', 'bob']);
    expect((await waiting.exited()).stdout).toContain('bob: here');
  });

  test('groups, from creation to leaving', async () => {
    expect(text(await home.run(['groups', 'create', 'red', '--as', 'ada']))).toBe(
      'created group/red',
    );
    await home.json(['groups', 'invite', 'red', 'bob', '--as', 'ada']);
    expect(text(await home.run(['groups', 'join', 'red', '--as', 'bob']))).toContain(
      'now 2 members',
    );
    expect(text(await home.run(['groups', 'members', 'red', '--as', 'ada']))).toMatch(
      /ada +active[\s\S]*bob +active/,
    );
    expect(text(await home.run(['groups', '--as', 'bob']))).toMatch(
      /^group\/red +active +2 members/,
    );
    expect(text(await home.run(['groups', 'leave', 'red', '--as', 'bob']))).toBe('left group/red');
  });

  test('[CL4] a peer cannot move the cursor or colour the screen of a reader', async () => {
    await home.json(['subscribe', 'evil', '--as', 'ada']);
    const body = JSON.stringify({ text: '\u001b[2J\u009b31m\r\nfake' });
    await home.json(['send', 'evil', '--body', body, '--as', 'mallory']);
    const { stdout } = await home.run(['recv', '--as', 'ada', '--channel', 'evil']);
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}]/u);
    expect(stdout).toContain('  │ fake');
  });
});

describe('tail', () => {
  test('[CL7] shows messages as they come, and goes on after a restart of the hub without a gap or a repeat', async () => {
    const own = openHome();
    try {
      await own.json(['up', '--port', '0']);
      const tail = own.start(['tail', 'news/*', '--as', 'reader']);
      await tail.printed(/following/);
      await own.json(['send', 'news/a', 'one', '--as', 'bob']);
      await tail.printed(/bob: one/);
      await own.json(['down']);
      await tail.printed(/the hub is gone/);
      await own.json(['up', '--port', '0']);
      await own.json(['send', 'news/b', 'two', '--as', 'bob']);
      await tail.printed(/bob: two/);
      tail.child.kill('SIGTERM');
      const { stdout } = await tail.exited();
      expect(stdout.match(/bob: \w+/g)).toEqual(['bob: one', 'bob: two']);
    } finally {
      await own.close();
    }
  });

  test('with --json it prints a message a line, what is owed first when asked', async () => {
    await home.json(['subscribe', 'owed', '--as', 'late']);
    await home.json(['send', 'owed', 'earlier', '--as', 'bob']);
    const tail = home.start(['tail', '--from', 'inbox', '--as', 'late', '--json']);
    const [line] = await tail.printed(/^\{.*\}$/m);
    expect(JSON.parse(line)).toMatchObject({ channel: 'owed', body: { text: 'earlier' } });
    tail.child.kill('SIGTERM');
    await tail.exited();
    // Looking took nothing.
    expect(await home.json(['call', 'inbox.peek', '--as', 'late'])).toMatchObject({ owed: 1 });
  });
});

describe('errors', () => {
  test.each([
    ['a refusal', ['recv', '--channel', 'nope', '--as', 'x'], 21, 'subscription.not-found: '],
    ['an unknown operation', ['call', 'nope'], 2, 'operation.unknown: '],
    ['a bad input', ['call', 'send', '{"channel":1}'], 20, 'input.invalid: '],
    ['no JSON', ['call', 'send', '{'], 2, 'cli.usage: '],
    [
      'an unknown command',
      ['sned'],
      2,
      'cli.usage: there is no command sned\n  did you mean send?',
    ],
    [
      'a misspelt verb, though another is meant when none is said',
      ['agents', '--space', 'x', 'mange', 'ada'],
      2,
      'cli.usage: synod agents has no mange, but list, ',
    ],
    ['an unknown option', ['send', 'a', 'b', '--nope'], 2, 'cli.usage: '],
    [
      'a missing argument of a verb',
      ['token', 'create'],
      2,
      "cli.usage: missing required argument 'agent'\n  see: synod token create --help",
    ],
    [
      'a flag that npm kept for itself',
      ['8790'],
      2,
      'cli.usage: there is no command 8790\n  a flag is missing before it; npm wants two dashes: npm start -- --port 8790',
    ],
    [
      'a misspelt option of a store',
      ['serve', '--store', 'nats://127.0.0.1:1/synod?durabilty=relaxed'],
      78,
      'config.invalid: --store (a flag): must have known options: nats: has no "durabilty", but ',
    ],
    ['a missing argument', ['send'], 2, 'cli.usage: '],
    [
      'nobody there',
      ['channels', '--url', 'http://127.0.0.1:9'],
      69,
      'hub.unreachable: no hub at http://127.0.0.1:9',
    ],
    ['a bad token', ['channels', '--token', 'syn_default.x.y'], 10, 'access.unknown: '],
    ['a bad setting', ['serve', '--port', 'x'], 78, 'config.invalid: --port'],
    [
      'open to the world',
      ['serve', '--auth', 'open', '--host', '0.0.0.0'],
      78,
      'config.open-not-loopback: ',
    ],
    ['a missing config', ['serve', '--config', 'nope.json'], 66, 'cli.no-input: '],
    [
      'a directory in use',
      ['serve', '--port', '0'],
      75,
      'log.locked: a hub is running already at http',
    ],
  ])('[CL1] %s: code, message and exit code, as text and as JSON', async (_, args, exit, start) => {
    const plain = await home.run(args);
    expect(plain).toMatchObject({ code: exit, stdout: '' });
    expect(plain.stderr.startsWith(start)).toBe(true);
    expect(plain.stderr).not.toMatch(/^\s+at /m);
    const json = await home.run([...args, '--json']);
    expect(json).toMatchObject({ code: exit, stdout: '' });
    expect(JSON.parse(json.stderr)).toMatchObject({
      error_code: expect.any(String),
      message: expect.any(String),
    });
  });

  test('[CL1] a taken port is named', async () => {
    const own = openHome();
    const { port } = new URL(url);
    const ran = await own.run(['serve', '--port', port]);
    expect(ran).toMatchObject({ code: 71, stdout: '' });
    expect(ran.stderr).toContain(`hub.port-taken: 127.0.0.1:${port} is in use`);
    await own.close();
  });

  test('a reader that stops reading is no failure', async () => {
    const ran = home.start(['ops']);
    ran.child.stdout?.destroy();
    expect((await ran.exited()).code).toBe(0);
  });
});

describe('identity', () => {
  test('a token opens the hub for its agent alone, until it is revoked', async () => {
    const created = await home.run(['token', 'create', 'carl', '--ttl', '1d', '--label', 'laptop']);
    const token = text(created);
    expect(token).toMatch(/^syn_default\./);
    // A stranger: no data directory, so no socket and no credential.
    const env = { SYNOD_DIR: join(home.dir, 'none'), SYNOD_URL: url, SYNOD_TOKEN: token };
    expect(await home.json(['call', 'whoami'], { env })).toMatchObject({
      agent_id: 'carl',
      tier: 'standard',
    });
    expect((await home.run(['token', 'list'], { env })).code).toBe(11);
    expect((await home.run(['call', 'whoami', '--as', 'ada'], { env })).code).toBe(10);
    const [listed] = (await home.json(['token', 'list'])).tokens as {
      token_id: string;
      label: string;
    }[];
    expect(listed).toMatchObject({ label: 'laptop' });
    expect(JSON.stringify(listed)).not.toContain(token.split('.')[2]);
    expect(text(await home.run(['token', 'revoke', String(listed?.token_id)]))).toContain(
      'revoked',
    );
    expect((await home.run(['call', 'whoami'], { env })).code).toBe(10);
  });

  test('[CL3] without the directory the hub is closed', async () => {
    const env = { SYNOD_DIR: join(home.dir, 'none'), SYNOD_URL: url };
    expect((await home.run(['channels', '--as', 'ada'], { env })).code).toBe(10);
  });

  test('spaces are apart', async () => {
    await home.json(['subscribe', 'x', '--as', 'ada', '--space', 'red']);
    expect(
      await home.json(['call', 'whoami', '--as', 'ada'], { env: { SOX_NAMESPACE: 'red' } }),
    ).toMatchObject({
      space: 'red',
      subscriptions: ['x'],
    });
    const here = await home.json(['call', 'whoami', '--as', 'ada']);
    expect(here.subscriptions).not.toContain('x');
  });

  test('[GA1] [GA2] [GR8] a channel, a group and an agent are taken away', async () => {
    const call = (name: string, input: object, ...rest: string[]) =>
      home.json(['call', name, JSON.stringify(input), '--space', 'tidy', ...rest]);
    await call('channels.send', { channel: 'old', body: { n: 1 } }, '--as', 'tim');
    expect(await call('channels.retire', { channel: 'old' })).toMatchObject({ retired: true });
    await call('group.create', { group_id: 'band' }, '--as', 'tim');
    expect(await call('group.remove', { group_id: 'band' }, '--as', 'tim')).toMatchObject({
      removed: true,
    });
    expect(await call('agents.remove', { agent_id: 'tim', force: true })).toMatchObject({
      agent_id: 'tim',
    });
    const { agents } = (await call('channels.list_agents', {})) as { agents: unknown[] };
    expect(JSON.stringify(agents)).not.toContain('tim');
  });

  test('[SP4] a space is removed and made again', async () => {
    const call = (name: string, input: object) => home.run(['call', name, JSON.stringify(input)]);
    await home.json(['subscribe', 'x', '--as', 'ada', '--space', 'brown']);
    expect(await call('spaces.remove', { name: 'brown' })).toMatchObject({ code: 0 });
    const late = await home.run(['send', 'x', 'hello', '--as', 'ada', '--space', 'brown']);
    expect([late.code, late.stderr]).toEqual([21, expect.stringContaining('spaces.create')]);
    expect(await call('spaces.create', { name: 'brown' })).toMatchObject({ code: 0 });
  });

  test('[SP3] a space that is misspelt is told and not made', async () => {
    await home.json(['subscribe', 'x', '--as', 'ada', '--space', 'green']);
    const { code, stderr } = await home.run(['recv', '--as', 'ada', '--space', 'gren']);
    expect([code, stderr]).toEqual([21, expect.stringContaining('Did you mean green')]);
    expect(readdirSync(join(home.dir, 'spaces'))).not.toContain('gren.sqlite');
  });
});

test('the completion of each shell names every command', async () => {
  const help = (await home.run(['--help'])).stdout;
  const names = [...help.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name as string);
  expect(names.length).toBeGreaterThan(20);
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await home.run(['completion', shell]);
    for (const name of names) expect(stdout).toMatch(new RegExp(`\\b${name}\\b`));
    expect(stdout).toContain('idempotency-key');
  }
});
