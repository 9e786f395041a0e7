/** The doctor on a machine that is well, and with each hop broken once: it must name that hop. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { VENDORS } from '../../src/wire/tool-names.ts';
import { type Home, openHome } from './cli-run.ts';
import { until } from './deadline.ts';
import { type DoctorScene, openDoctorScene } from './doctor-scene.ts';

/** One hub is asked about every machine here: what is broken is the machine. */
let hub: Home;
let scene: DoctorScene;
beforeAll(async () => {
  hub = openHome();
  expect(await hub.run(['up', '--port', '0'])).toMatchObject({ code: 0 });
});
afterAll(() => hub.close());
beforeEach(async () => {
  scene = await openDoctorScene(hub);
});
afterEach(async () => await scene.close());

async function install(...args: string[]): Promise<void> {
  expect(await scene.synod(['install', ...args])).toMatchObject({ code: 0 });
}

/** Puts a script of the test before the script that every hook calls. */
function wrapHook(lines: string): void {
  scene.put('home/.synod/bin/hook-before', scene.read('home/.synod/bin/hook'), 0o755);
  scene.put('home/.synod/bin/hook', `#!/bin/sh\n${lines}\n`, 0o755);
}

describe.each(VENDORS)('%s', (vendor) => {
  test('[DO1] on a machine that is well every hop is tried and holds', async () => {
    await install(vendor);
    const { hops, of } = await scene.doctor([vendor, '--quick']);
    const states = hops
      .filter((hop) => hop.vendor === vendor)
      .map(({ hop, state }) => [hop, state]);
    const wanted = ['files', 'mcp', 'message', 'hook', 'guard'];
    expect(states.filter(([hop]) => wanted.includes(hop as string)).map(([hop]) => hop)).toEqual(
      wanted,
    );
    // A busy machine may be slow, and says so; nothing may fail.
    expect(hops.filter(({ state }) => state === 'fail')).toEqual([]);
    expect(of('message')[0]).toMatch(/^ok: sent by the tool, taken by another .*receipt consumed/);
    expect(of('hook')[0]).toContain('brought a message that waited');
    expect(of('guard')[0]).toMatch(/^ok: refused an edit of what another holds/);
  });
});

test('[DO1] text for a person: a line for each hop, what to do below it, and a table of wakes', async () => {
  await install('claude');
  const well = await scene.doctorText(['claude']);
  expect(well).toMatchObject({ code: 0, stderr: '' });
  expect(well.stdout).toMatch(
    /^\[OK\] {3}hub +http:\/\/127\.0\.0\.1:\d+, version \S+, process \d+/,
  );
  expect(well.stdout).toMatch(/^Claude Code, for this user:$/m);
  expect(well.stdout).toMatch(/^wake +means +works here +latency/m);
  expect(well.stdout).toMatch(/^claude +its socket +yes +[\d.]+ ms/m);
  expect(well.stdout).toMatch(/^all hops hold: /m);
  scene.put('home/.claude.json', '{"mcpServers": {"synod": {"command": "false"}}}');
  const ill = await scene.doctorText(['claude', '--quick']);
  expect(ill.code).toBe(1);
  expect(ill.stdout).toMatch(/^\[FAIL\] mcp +the server registered in .*\.claude\.json does not/m);
  expect(ill.stdout).toMatch(/^ {18}run it by hand/m);
});

test('[DO2] run inside somebody’s session, it neither speaks as that session nor through its socket', async () => {
  await install('claude');
  const path = join(scene.root, 'person.sock');
  let touched = 0;
  const server = createServer(() => touched++);
  await new Promise<void>((done) => server.listen(path, done));
  const { hops, wake } = await scene.doctor(['claude'], {
    ...{ CLAUDE_CODE_SESSION_ID: 'of-a-person', CLAUDE_CODE_MESSAGING_SOCKET: path },
    ...{ SYNOD_AGENT: 'ada', SYNOD_PROJECT: 'app' },
  });
  server.close();
  expect(hops.filter(({ state }) => state === 'fail')).toEqual([]);
  expect(wake[0]).toMatchObject({ means: 'its socket', works: true });
  expect(touched).toBe(0);
  const decisions = readFileSync(join(scene.dir, 'logs/decisions.jsonl'), 'utf8');
  expect(decisions).toContain('doctor-claude');
  expect(decisions).not.toMatch(/of-a-person|"ada"|app\//);
});

test('[DO9] nothing is left behind: no claim, no mail, no file, and other agents see none of it', async () => {
  await install('claude');
  await scene.synod(['subscribe', 'team/*', '--as', 'bob']);
  const before = readFileSync(join(scene.root, 'home/.claude/settings.json'), 'utf8');
  const seen = async () => {
    const listed = [['channels'], ['agents'], ['board'], ['groups', 'list']].map((args) =>
      scene.cli.json([...args, '--as', 'bob']),
    );
    return (await Promise.all(listed)).map((one) => JSON.stringify(one));
  };
  const known = await seen();
  await scene.doctor(['claude']);
  expect((await seen()).join()).not.toContain('doctor');
  expect((await seen()).length).toBe(known.length);
  expect(scene.read('home/.claude/settings.json')).toBe(before);
  expect(await scene.cli.json(['claims'])).toMatchObject({ claims: [] });
  expect(await scene.cli.json(['recv', '--as', 'bob'])).toMatchObject({ messages: [] });
});

describe('[DO4] the tools', () => {
  test('a server that ends at once is named, with its last words', async () => {
    await install('codex');
    const config = scene.read('home/.codex/config.toml');
    scene.put(
      'home/.codex/config.toml',
      config
        .replace(/^command = .*$/m, 'command = "sh"')
        .replace(/^args = .*$/m, 'args = ["-c", "echo no such luck >&2; exit 3"]'),
    );
    const { code, of } = await scene.doctor(['codex', '--quick']);
    expect(code).toBe(1);
    expect(of('mcp')[0]).toMatch(
      /^fail: .*config\.toml does not answer: it ended \(exit 3\); it says: no such luck/,
    );
    expect(of('message')).toEqual(['skip: needs the server > null']);
    expect(of('hook')[0]).toMatch(/^(ok|warn): /);
  });

  test('a server that would look for a hub elsewhere is not started, and no hub either', async () => {
    await install('gemini');
    const settings = JSON.parse(scene.read('home/.gemini/settings.json'));
    settings.mcpServers.synod.env = { SYNOD_DIR: '$HOME/other' };
    scene.put('home/.gemini/settings.json', JSON.stringify(settings));
    const { of } = await scene.doctor(['gemini', '--quick']);
    expect(of('mcp')[0]).toMatch(
      /^fail: the server would look for its hub in .*\/home\/other, where none runs/,
    );
    expect(existsSync(join(scene.root, 'home/other'))).toBe(false);
  });

  test('a server that speaks to another hub is told from one whose message is lost', async () => {
    await install('opencode');
    const other = join(scene.root, 'other');
    await scene.synod(['up', '--port', '0', '--dir', other]);
    try {
      const path = 'home/.config/opencode/opencode.json';
      const config = JSON.parse(scene.read(path));
      config.mcp.synod.environment = { SYNOD_DIR: other };
      scene.put(path, JSON.stringify(config));
      const { of } = await scene.doctor(['opencode', '--quick']);
      expect(of('mcp')[0]).toMatch(/^(ok|warn)/);
      expect(of('message')[0]).toMatch(
        /^fail: .*opencode\.json speaks to another hub than this one > let both/,
      );
    } finally {
      await scene.synod(['down', '--dir', other]);
    }
  });

  test('a token that was revoked since it was written into the registration', async () => {
    await install('claude');
    const made = await scene.cli.json(['token', 'create', 'ada']);
    const config = JSON.parse(scene.read('home/.claude.json'));
    config.mcpServers.synod.env = { SYNOD_TOKEN: made.token };
    scene.put('home/.claude.json', JSON.stringify(config));
    const held = await scene.doctor(['claude', '--quick']);
    expect(held.of('message')[0]).toMatch(/^ok: .*sent as ada; receipt consumed/);
    await scene.cli.run(['token', 'revoke', String(made.token_id)]);
    const { stdout, of } = await scene.doctor(['claude', '--quick']);
    expect(of('message')[0]).toMatch(
      /^fail: the token \w+ of ada in SYNOD_TOKEN .* was revoked at 20.* > make a new one/,
    );
    expect(stdout).not.toContain(String(made.token).split('.')[2]);
  });
});

describe('[DO5] the hooks', () => {
  test('a line that is gone from the vendor’s file', async () => {
    await install('claude');
    const settings = JSON.parse(scene.read('home/.claude/settings.json'));
    delete settings.hooks.SessionStart;
    scene.put('home/.claude/settings.json', JSON.stringify(settings));
    const { of } = await scene.doctor(['claude', '--quick']);
    expect(of('files')[0]).toMatch(/^fail: an entry in hooks.SessionStart is missing/);
    expect(of('hook')[0]).toMatch(/^fail: SessionStart: no hook of ours is registered/);
    expect(of('guard')).toEqual(['skip: needs the hook > null']);
  });

  test('a script that says nothing', async () => {
    await install('codex');
    scene.put('home/.synod/bin/hook', '#!/bin/sh\nexit 0\n', 0o755);
    const { of } = await scene.doctor(['codex', '--quick']);
    expect(of('hook')[0]).toMatch(
      /^fail: SessionStart was run as registered, and nothing came back from the hub of /,
    );
  });

  test('a script that fails', async () => {
    await install('gemini');
    scene.put('home/.synod/bin/hook', '#!/bin/sh\necho broken >&2\nexit 4\n', 0o755);
    const { of } = await scene.doctor(['gemini', '--quick']);
    expect(of('hook')[0]).toMatch(/^fail: SessionStart: it ended with exit code 4: broken/);
  });

  test('a plugin that does not load, and one that is gone', async () => {
    await install('opencode');
    scene.put('home/.config/opencode/plugins/synod.js', 'export const Synod = (;');
    const broken = await scene.doctor(['opencode', '--quick']);
    expect(broken.of('hook')[0]).toMatch(/^fail: chat.message: .*synod\.js: /);
    rmSync(join(scene.root, 'home/.config/opencode/plugins/synod.js'));
    const gone = await scene.doctor(['opencode', '--quick']);
    expect(gone.of('hook')[0]).toMatch(/^fail: the plugin is not where opencode looks for it/);
  });
});

test('[DO6] a guard that lets an edit through is named, and one that is switched off is no fault', async () => {
  await install('claude');
  wrapHook(`event=$(cat)
case $event in *held.txt*) exit 0 ;; esac
printf '%s' "$event" | "\${0%/*}/hook-before" "$@"`);
  const { code, of } = await scene.doctor(['claude', '--quick']);
  expect(code).toBe(1);
  expect(of('hook')[0]).toMatch(/^(ok|warn)/);
  expect(of('guard')[0]).toMatch(
    /^fail: an edit of a file that another agent holds was let through/,
  );
  const policy = join(scene.dir, 'policy.toml');
  writeFileSync(policy, '[guard]\nmode = "off"\n');
  const off = await scene.doctor(['claude', '--quick']);
  rmSync(policy);
  expect(off.of('guard')[0]).toMatch(/^warn: the guard is switched off/);
  // The hub looks at the file once a second at the most: whoever comes next finds the guard on.
  await install('claude');
  await until(
    'the guard is on again',
    async () => (await scene.doctor(['claude', '--quick'])).of('guard')[0] ?? '',
    (line) => line.startsWith('ok'),
  );
});

describe('[DO7] waking', () => {
  test('the hub wakes an idle session of ours, and its receipt says presented', async () => {
    await install('all');
    const { wake, of, hops } = await scene.doctor([]);
    expect(hops.filter(({ state }) => state === 'fail')).toEqual([]);
    expect(wake.map(({ vendor, means, works }) => [vendor, means, works])).toEqual([
      ['claude', 'its socket', true],
      ['codex', 'its daemon', null],
      ['gemini', 'none', false],
      ['opencode', 'the plugin', true],
      ['any', 'synod arm', true],
    ]);
    expect(wake[0]?.ms).toBeGreaterThan(0);
    expect(of('wake').filter((line) => line.includes('receipt presented'))).toHaveLength(2);
  });

  test('Codex’s daemon is greeted, and asked nothing of anybody’s threads', async () => {
    await install('codex');
    const folder = join(scene.root, 'home/.codex/app-server-control');
    mkdirSync(folder);
    const server = createHttpServer().listen(join(folder, 'app-server-control.sock'));
    const asked: string[] = [];
    new WebSocketServer({ server }).on('connection', (socket) =>
      socket.on('message', (frame) => {
        const { id, method } = JSON.parse(String(frame));
        asked.push(method);
        socket.send(JSON.stringify({ id, result: {} }));
      }),
    );
    const { wake } = await scene.doctor(['codex']);
    server.close();
    expect(wake[0]).toMatchObject({ vendor: 'codex', means: 'its daemon', works: true });
    expect(asked).toEqual(['initialize']);
  });

  test('a session the hub cannot reach is a fault', async () => {
    await install('claude');
    wrapHook(`unset CLAUDE_CODE_MESSAGING_SOCKET\nexec "\${0%/*}/hook-before" "$@"`);
    const { code, of } = await scene.doctor(['claude']);
    expect(code).toBe(1);
    expect(of('wake')[0]).toMatch(/^fail: by its socket: the hub did not wake it within 5000 ms/);
  });
});
