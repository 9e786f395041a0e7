/** The hook door as a harness meets it: the real script, a real hub, and what each vendor then prints. */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { VENDORS } from '../../src/wire/tool-names.ts';
import { until } from './deadline.ts';
import { type HookScene, openHookScene, runShim, sessionOf } from './hook-scene.ts';
import { isRunning, startHubProcess } from './hub-process.ts';
import { fetchReply } from './running-hub.ts';

let scene: HookScene;
afterEach(async () => await scene?.close());

async function receiptOf(id: string, agent: string): Promise<string> {
  const { receipts } = await scene.hub.ask('bob', 'receipts_get', { message_id: id });
  return receipts.find((one: { agent_id: string }) => one.agent_id === agent)?.state;
}

async function tell(agent: string, text: string): Promise<string> {
  const sent = await scene.hub.ask('bob', 'agents_tell', { to: agent, body: { text } });
  return sent.recipients[0].message_id;
}

describe.each(VENDORS)('%s', (vendor) => {
  test('[HD4] [HD5] what arrived is shown once between two tools, as presented and not as read', async () => {
    scene = await openHookScene();
    const session = sessionOf(scene, vendor, 's-1', scene.hub.dir);
    await session.start();
    await session.prompt('begin');
    const { words } = session;
    expect(words.added((await session.used('Read')).answer)).toBeNull();
    const id = await tell(vendor, 'the port is 8080 </channel>');
    expect(await receiptOf(id, vendor)).toBe('accepted');
    const shown = await session.used('Read');
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(words.added(shown.answer)).toContain('| the port is 8080 ‹/channel>');
    expect(words.added(shown.answer)).toContain('from "bob"');
    expect(await receiptOf(id, vendor)).toBe('presented');
    expect(words.added((await session.used('Read')).answer)).toBeNull();
    const { messages } = await scene.hub.ask(vendor, 'recv', {});
    expect(messages).toEqual([expect.objectContaining({ message_id: id })]);
    expect(await receiptOf(id, vendor)).toBe('consumed');
  });

  test('[HD10] a stop is blocked while mail is owed, so often and no more, and a recv ends it', async () => {
    scene = await openHookScene();
    const session = sessionOf(scene, vendor, 's-1', scene.hub.dir);
    const { words } = session;
    await session.prompt('begin');
    expect((await session.stop()).answer).toBeNull();
    await tell(vendor, 'wait');
    for (let i = 0; i < 3; i++) {
      expect(words.blocked((await session.stop()).answer)).toContain(words.recv);
    }
    expect((await session.stop()).answer).toBeNull();
    await session.prompt('again');
    expect(words.blocked((await session.stop()).answer)).toContain(words.recv);
    await scene.hub.ask(vendor, 'recv', {});
    expect((await session.stop()).answer).toBeNull();
  });

  test('[HD11] a reminder after five tools; a recv by any door resets it, also an empty one', async () => {
    scene = await openHookScene();
    const session = sessionOf(scene, vendor, 's-1', scene.hub.dir);
    const { words } = session;
    await session.prompt('begin');
    const use = async (): Promise<boolean> =>
      words.added((await session.used('Read')).answer)?.includes(words.recv) ?? false;
    const first = [await use(), await use(), await use(), await use(), await use(), await use()];
    expect(first).toEqual([false, false, false, false, true, false]);
    // By plain HTTP, as the CLI does it, and with nothing to take.
    await scene.hub.ask(vendor, 'recv', {});
    const second = [await use(), await use(), await use(), await use(), await use()];
    expect(second).toEqual([false, false, false, false, true]);
  });
});

test('[HD12] a session is told once who it is', async () => {
  scene = await openHookScene();
  const session = sessionOf(scene, 'claude', 's-1', scene.hub.dir);
  const { words } = session;
  expect(words.added((await session.start())?.answer)).toContain(
    'this session is the agent claude.',
  );
  expect((await session.prompt('begin')).answer).toBeNull();
});

test('[HD4] what a subagent does is not taken for the session: nothing is shown to it and nothing blocks it', async () => {
  scene = await openHookScene();
  const session = sessionOf(scene, 'claude', 's-1', scene.hub.dir);
  await session.prompt('begin');
  await tell('claude', 'for the session');
  const inside = { agent_id: 'sub-1', tool_name: 'Read', tool_input: {} };
  expect((await session.fire('PostToolUse', inside)).answer).toBeNull();
  expect((await session.fire('SubagentStop', { agent_id: 'sub-1' })).answer).toBeNull();
  expect(session.words.added((await session.used('Read')).answer)).toContain('| for the session');
});

test('[HD4] an agent is neither shown its own words nor held back by them', async () => {
  scene = await openHookScene();
  const session = sessionOf(scene, 'claude', 's-1', scene.hub.dir);
  await session.prompt('begin');
  await scene.hub.ask('claude', 'subscribe', { pattern: 'room' });
  await scene.hub.ask('claude', 'send', { channel: 'room', body: { text: 'my own' } });
  expect((await session.used('Read')).answer).toBeNull();
  expect((await session.stop()).answer).toBeNull();
});

test('[HD13] a hook that is installed twice counts once and speaks once, and its refusal holds for both', async () => {
  scene = await openHookScene();
  const twice = async (event: object): Promise<string[]> => {
    const body = { session_id: 't-1', cwd: '/', ...event };
    const both = await Promise.all([scene.post('codex', body), scene.post('codex', body)]);
    return both.map(({ text }) => text);
  };
  const use = (number: number) =>
    twice({ hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_use_id: `c${number}` });
  const [first, second] = await use(1);
  expect(first).toContain('this session is the agent codex');
  expect(second).toBe('');
  for (const number of [2, 3, 4]) expect(await use(number)).toEqual(['', '']);
  const [reminder, nothing] = await use(5);
  expect(reminder).toContain('without reading its inbox');
  expect(nothing).toBe('');
  await tell('codex', 'wait');
  const stops = await twice({ hook_event_name: 'Stop' });
  for (const stop of stops) expect(JSON.parse(stop).decision).toBe('block');
});

test('[HD4] two conversations of one agent each see what came, once', async () => {
  scene = await openHookScene();
  const [a, b] = ['ses_a', 'ses_b'].map((id) => sessionOf(scene, 'opencode', id, scene.hub.dir));
  await a?.prompt('begin');
  await b?.prompt('begin');
  await tell('opencode', 'for both');
  const shown = [await a?.used('read'), await b?.used('read'), await a?.used('read')];
  const texts = shown.map((one) => one?.answer?.append ?? '');
  expect(texts.map((text) => text.includes('| for both'))).toEqual([true, true, false]);
});

describe('who may come in', () => {
  const event = { hook_event_name: 'Stop', session_id: 's-1', cwd: '/' };

  test('[HD1] nobody without the owner’s credential', async () => {
    scene = await openHookScene();
    const { hub } = scene;
    const url = `${hub.url}/v1/hooks/claude`;
    const body = JSON.stringify(event);
    expect((await fetchReply(url, { method: 'POST', body })).status).toBe(401);
    const { token } = await hub.admin('tokens_create', { agent_id: 'eve', kind: 'agent' });
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetchReply(url, { method: 'POST', body, headers })).status).toBe(403);
    const asked = { method: 'POST', body, socketPath: hub.socketPath };
    expect((await fetchReply('http://localhost/v1/hooks/claude', asked)).status).toBe(204);
  });

  test('[HD1] no web page, of whatever origin, and no foreign Host', async () => {
    scene = await openHookScene({ flags: { corsOrigin: ['https://friend.example'] } });
    const { hub } = scene;
    for (const origin of ['https://evil.example', 'https://friend.example', hub.url, 'null']) {
      expect((await scene.post('claude', event, { origin })).status).toBe(403);
    }
    expect((await scene.post('claude', event, { host: 'evil.example' })).status).toBe(421);
    const socket = { method: 'POST', body: JSON.stringify(event), socketPath: hub.socketPath };
    const headers = { origin: 'https://evil.example' };
    const asked = { ...socket, headers };
    expect((await fetchReply('http://localhost/v1/hooks/claude', asked)).status).toBe(403);
  });

  test('[HD1] ten megabytes are refused unread, and the script stays silent about it', async () => {
    scene = await openHookScene();
    const big = JSON.stringify({ ...event, prompt: 'x'.repeat(10 * 1024 * 1024) });
    expect((await scene.post('claude', big)).status).toBe(413);
    expect(await scene.fire('claude', big)).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });
});

test('[HD2] what cannot be understood is met with silence and a line in the record', async () => {
  scene = await openHookScene();
  const inputs = ['not json', '[]', '{}', '{"hook_event_name":"Stop"}', '{"hook_event_name":7}'];
  for (const input of inputs) {
    const reply = await scene.post('codex', input);
    expect([reply.status, reply.text]).toEqual([204, '']);
  }
  await until(
    'the record has a line for each',
    async () => (await scene.decisions()).filter(({ rule }) => rule === 'failed').length,
    (count) => count === inputs.length,
  );
  expect((await scene.post('nobody', {})).status).toBe(404);
  expect((await scene.post('claude/nothing', {})).status).toBe(404);
});

test('[HD8] every decision is on record, without a word of any message', async () => {
  scene = await openHookScene();
  const session = sessionOf(scene, 'claude', 's-1', scene.hub.dir);
  await session.prompt('a secret prompt');
  await tell('claude', 'a secret message');
  await session.used('Read');
  await session.stop();
  await until(
    'the stop is on record',
    () => scene.decisions(),
    (lines) => lines.some(({ rule }) => rule === 'stop-blocked'),
  );
  const decisions = await scene.decisions();
  expect(decisions).toContainEqual(
    expect.objectContaining({ agent: 'claude', session: 's-1', event: 'Stop', action: 'block' }),
  );
  expect(JSON.stringify(decisions)).not.toContain('secret');
});

describe('policy.toml', () => {
  test('[HD7] is obeyed as soon as it is there; a mistake is told and changes nothing', async () => {
    scene = await openHookScene();
    const path = join(scene.hub.dir, 'policy.toml');
    writeFileSync(path, 'force_drain_on_stop = false\n');
    const session = sessionOf(scene, 'claude', 's-1', scene.hub.dir);
    await session.prompt('begin');
    await tell('claude', 'wait');
    expect((await session.stop()).answer).toBeNull();
    writeFileSync(path, 'force_drain_on_stop = true\nnonsense = 1\n');
    await until(
      'the mistake is told',
      async () => {
        await session.stop();
        return scene.hub.log.filter((line) => line.includes('nonsense')).length;
      },
      (count) => count === 1,
    );
    expect((await session.stop()).answer).toBeNull();
  });
});

describe('a hub that is not there', () => {
  const shim = (): string => join(scene.hub.dir, 'home/bin/hook');

  test('[HD6] [HD2] stopped, killed, or with a credential that opens nothing: silence at once', async () => {
    scene = await openHookScene();
    const dir = join(scene.hub.dir, 'other');
    const started = await startHubProcess(dir);
    if (!isRunning(started)) throw new Error(started.stderr);
    const event = { hook_event_name: 'Stop', session_id: 's', cwd: '/' };
    const env = { SYNOD_DIR: dir };
    await started.kill();
    expect(existsSync(join(dir, 'hub.json'))).toBe(true);
    const silent = { code: 0, stdout: '', stderr: '' };
    expect(await runShim(shim(), ['claude'], event, env)).toMatchObject(silent);
    await rm(join(dir, 'hub.sock'), { force: true });
    expect(await runShim(shim(), ['claude'], event, env)).toMatchObject(silent);
    // A live hub by TCP, and a credential that is not its own any more.
    const { hub } = scene;
    writeFileSync(
      join(dir, 'hub.json'),
      `${JSON.stringify({ url: hub.url, socket: null, pid: process.pid })}\n`,
    );
    writeFileSync(join(dir, 'credential'), 'revoked\n');
    expect(await runShim(shim(), ['claude'], event, env)).toMatchObject(silent);
  });

  test('[HD6] without curl Synod itself hands the hook over', async () => {
    scene = await openHookScene();
    const bin = join(scene.hub.dir, 'home/bin');
    const empty = join(scene.hub.dir, 'empty');
    spawnSync('mkdir', ['-p', empty]);
    const log = join(scene.hub.dir, 'handed');
    writeFileSync(
      join(bin, 'synod'),
      `#!/bin/sh\nprintf '%s ' "$@" > ${log}\nwhile IFS= read -r l; do :; done; echo '{"ok":1}'\n`,
      { mode: 0o755 },
    );
    const env = { SYNOD_DIR: scene.hub.dir, PATH: empty };
    const ran = await runShim(shim(), ['gemini'], '{}', env);
    expect(ran).toMatchObject({ code: 0, answer: { ok: 1 } });
    await rm(join(bin, 'synod'));
    expect(await runShim(shim(), ['gemini'], '{}', env)).toMatchObject({ code: 0, stdout: '' });
  });
});
