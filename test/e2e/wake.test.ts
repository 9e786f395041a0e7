/**
 * Waking, with a session's own means played by real sockets: a Claude Code session is a Unix socket that
 * keeps the lines it gets, a Codex daemon is a WebSocket on one. What confirms is a hook, as in life.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { hookShimPath } from '../../src/harness/install/shim.ts';
import { until, within } from './deadline.ts';
import { type HookScene, openHookScene, runShim, sessionOf } from './hook-scene.ts';
import { fetchReply, type Json } from './running-hub.ts';

let scene: HookScene;
let servers: { close(): unknown }[] = [];
afterEach(async () => {
  await scene?.close();
  for (const server of servers) server.close();
  servers = [];
});

const TIMES = { settleMs: 30, confirmMs: 400 };
const open = async (wake = TIMES): Promise<HookScene> => {
  scene = await openHookScene({ hooks: { wake, env: { PATH: process.env.PATH ?? '' } } });
  return scene;
};

const tell = async (to: string, text: string, by = 'bob'): Promise<string> =>
  (await scene.hub.ask(by, 'agents_tell', { to, body: { text } })).recipients[0].message_id;

async function receiptOf(id: string, agent: string): Promise<string> {
  const { receipts } = await scene.hub.ask('bob', 'receipts_get', { message_id: id });
  return receipts.find((one: Json) => one.agent_id === agent)?.state;
}

/** What was tried, in order: `handed-over claude-socket`, `confirmed claude-socket`, … */
async function wakes(): Promise<string[]> {
  const lines = (await scene.decisions()).filter(({ event }) => event === 'wake');
  return lines.map(({ action, reason }) => `${action} ${String(reason).split(/[ :]/)[0]}`);
}

const seen = (what: string): Promise<string[]> =>
  until(`the record says ${what}`, wakes, (lines) => lines.includes(what));

interface Listener {
  readonly path: string;
  readonly lines: Json[];
  next(): Promise<Json>;
}

/** A Claude Code session as far as its messaging socket goes: it takes lines and answers nothing. */
async function openSession(): Promise<Listener> {
  const path = join(scene.hub.dir, `c${servers.length}.sock`);
  const lines: Json[] = [];
  const waiting: ((line: Json) => void)[] = [];
  const server: Server = createServer((socket) => {
    let rest = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      rest += chunk;
      const whole = rest.split('\n');
      rest = whole.pop() ?? '';
      for (const line of whole.map((one) => JSON.parse(one))) {
        lines.push(line);
        if (line.type === 'user') waiting.shift()?.(line.message.content);
      }
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const next = (): Promise<Json> =>
    within('a line on the socket', new Promise((resolve) => waiting.push(resolve)));
  return { path, lines, next };
}

/** An idle Claude Code session that has told the hub its socket. */
async function openIdle(socket: string) {
  const words = sessionOf(scene, 'claude', 's-1', scene.hub.dir);
  const env = { CLAUDE_CODE_MESSAGING_SOCKET: socket };
  const fire = (name: string, rest: object = {}) => {
    const known = { hook_event_name: name, session_id: 's-1', cwd: scene.hub.dir };
    const event = { ...known, said: performance.now(), ...rest };
    return scene.fire('claude', event, env);
  };
  await fire('UserPromptSubmit', { prompt: 'begin' });
  await fire('Stop');
  return { ...words, fire };
}

describe('Claude Code, by its messaging socket', () => {
  test('[WA2] [AU2] it is presented when the hook brings the text back, and not before', async () => {
    await open({ settleMs: 30, confirmMs: 5_000 });
    const socket = await openSession();
    const session = await openIdle(socket.path);
    const line = socket.next();
    const id = await tell('claude', 'the build is red');
    const text = await line;
    expect(text).toContain('| the build is red');
    expect(text).toMatch(
      /^Synod \(wake-[0-9a-f-]+\): mail came for the agent claude while it was idle/,
    );
    await seen('handed-over claude-socket');
    expect(await receiptOf(id, 'claude')).toBe('accepted');
    const turn = await session.fire('UserPromptSubmit', { prompt: text });
    expect(await receiptOf(id, 'claude')).toBe('presented');
    // It has just read it in the prompt; it is not shown again.
    expect(session.words.added(turn.answer) ?? '').not.toContain('the build is red');
    await seen('confirmed claude-socket');
    const { deeds } = await scene.hub.admin('audit', { action: 'wake' });
    const facts = { session: 's-1', vendor: 'claude', means: 'claude-socket', messages: 1 };
    expect(deeds).toMatchObject([{ subject: 'claude', outcome: 'confirmed', detail: facts }]);
    await scene.hub.ask('claude', 'recv', {});
    expect(await receiptOf(id, 'claude')).toBe('consumed');
    await session.fire('Stop');
    expect(socket.lines).toHaveLength(1);
  });

  test('[WA2] without the hook it is owed as before, and the attempt is on record', async () => {
    await open();
    const socket = await openSession();
    await openIdle(socket.path);
    const id = await tell('claude', 'held by its permission mode');
    await seen('unconfirmed claude-socket');
    expect(await receiptOf(id, 'claude')).toBe('accepted');
    expect((await scene.hub.ask('claude', 'inbox_peek', {})).owed).toBe(1);
  });

  test('[WA2] another prompt confirms nothing; what came is then shown as ever', async () => {
    await open({ settleMs: 30, confirmMs: 5_000 });
    const socket = await openSession();
    const session = await openIdle(socket.path);
    const line = socket.next();
    await tell('claude', 'the build is red');
    await line;
    const turn = await session.fire('UserPromptSubmit', { prompt: 'typed by a person' });
    expect(session.words.added(turn.answer)).toContain('| the build is red');
    await seen('unconfirmed claude-socket');
    expect(await wakes()).not.toContain('confirmed claude-socket');
  });

  /** Another idle session is woken: so much time has passed that the first would have been, too. */
  async function passTime(): Promise<void> {
    const other = await openSession();
    const env = { CLAUDE_CODE_MESSAGING_SOCKET: other.path, SYNOD_AGENT: 'ada' };
    const event = { hook_event_name: 'Stop', session_id: 's-2', cwd: '/' };
    await scene.fire('claude', { ...event, said: performance.now() }, env);
    const line = other.next();
    await tell('ada', 'for ada');
    const prompt = await line;
    await scene.fire('claude', { ...event, hook_event_name: 'UserPromptSubmit', prompt }, env);
  }

  test('[WA1] never for one’s own words, while it works, or after its end', async () => {
    await open();
    const socket = await openSession();
    const session = await openIdle(socket.path);
    await scene.hub.ask('claude', 'subscribe', { pattern: 'room' });
    await scene.hub.ask('claude', 'send', { channel: 'room', body: { text: 'mine' } });
    await passTime();
    await session.fire('UserPromptSubmit', { prompt: 'work' });
    await tell('claude', 'while it works');
    await scene.hub.ask('ada', 'recv', {});
    await passTime();
    await scene.hub.ask('claude', 'recv', {});
    await session.fire('Stop');
    await session.fire('SessionEnd', { reason: 'other' });
    await tell('claude', 'too late');
    await scene.hub.ask('ada', 'recv', {});
    await passTime();
    expect(socket.lines).toEqual([]);
  });

  test('[WA8] a greeting on a channel wakes nobody; by name it does, and the greeting is shown', async () => {
    await open({ settleMs: 30, confirmMs: 5_000 });
    const socket = await openSession();
    await openIdle(socket.path);
    await scene.hub.ask('claude', 'subscribe', { pattern: 'room' });
    const send = (text: string) =>
      scene.hub.ask('bob', 'send', { channel: 'room', body: { text } });
    await send('hi');
    await scene.hub.ask('ada', 'recv', {});
    await passTime();
    expect(socket.lines).toEqual([]);
    const line = socket.next();
    await send('@claude, look');
    const text = await line;
    for (const one of ['| hi', '| @claude, look']) expect(text).toContain(one);
    expect(socket.lines).toHaveLength(1);
  });

  test('[WA3] mail that comes together wakes once, and a wake on its way is not repeated', async () => {
    await open({ settleMs: 1_000, confirmMs: 10_000 });
    const socket = await openSession();
    const session = await openIdle(socket.path);
    const line = socket.next();
    await Promise.all(['one', 'two', 'three'].map((text) => tell('claude', text)));
    const text = await line;
    for (const one of ['| one', '| two', '| three']) expect(text).toContain(one);
    await tell('claude', 'four');
    const turn = await session.fire('UserPromptSubmit', { prompt: text });
    expect(session.words.added(turn.answer)).toContain('| four');
    expect(socket.lines).toHaveLength(1);
  });

  test('[WA3] a turn that read nothing is not tried again for the same mail', async () => {
    await open();
    writeFileSync(join(scene.hub.dir, 'policy.toml'), 'force_drain_on_stop = false\n');
    const socket = await openSession();
    const session = await openIdle(socket.path);
    let line = socket.next();
    await tell('claude', 'ignored');
    await session.fire('UserPromptSubmit', { prompt: await line });
    await session.fire('Stop');
    line = socket.next();
    await tell('claude', 'fresh');
    const second = await line;
    expect(second).toContain('| fresh');
    expect(second).not.toContain('| ignored');
    expect(socket.lines).toHaveLength(2);
  });

  test('[WA7] who was idle when the hub stopped is woken by the next one', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'synod-wake-'));
    servers.push({ close: () => rmSync(dir, { recursive: true, force: true }) });
    scene = await openHookScene({ dir });
    const socket = await openSession();
    await openIdle(socket.path);
    await scene.hub.close();
    scene = await openHookScene({ dir, hooks: { wake: TIMES } });
    const line = socket.next();
    await tell('claude', 'after the restart');
    expect(await line).toContain('| after the restart');
  });

  test('[WA4] the token of the session goes to its socket first, and nowhere else', async () => {
    await open();
    const socket = await openSession();
    await openIdle(socket.path);
    const parent = process.pid;
    const facts = { session: 's-1', parent, socket: socket.path, token: 's3cret' };
    expect(await scene.join('claude', facts)).toEqual({ agent: 'claude', space: 'default' });
    const line = socket.next();
    await tell('claude', 'hello');
    await line;
    expect(socket.lines[0]).toEqual({ type: 'auth', token: 's3cret' });
    await seen('unconfirmed claude-socket');
    expect(await readFile(join(scene.hub.dir, 'logs/decisions.jsonl'), 'utf8')).not.toContain(
      's3cret',
    );
    expect(await readFile(join(scene.hub.dir, 'sessions.json'), 'utf8')).not.toContain('s3cret');
  });

  test('[WA4] what is no socket is not spoken to', async () => {
    await open();
    const path = join(scene.hub.dir, 'file');
    writeFileSync(path, '');
    await openIdle(path);
    await tell('claude', 'hello');
    await seen('unreached claude-socket');
    expect(await readFile(path, 'utf8')).toBe('');
  });
});

test('[WA5] a plugin may wait through the script, which says nothing else', async () => {
  await open();
  const session = sessionOf(scene, 'opencode', 'ses_1', scene.hub.dir);
  await session.prompt('begin');
  await session.stop();
  const home = join(scene.hub.dir, 'home');
  const env = { SYNOD_DIR: scene.hub.dir, HOME: home };
  const waited = runShim(hookShimPath(home), ['opencode', 'wake', 'ses_1'], '', env);
  const awake = async (): Promise<boolean> => {
    await tell('opencode', 'wake up');
    return (await wakes()).some((line) => line.startsWith('handed-over plugin'));
  };
  await until('the script waits and is answered', awake, Boolean);
  const { code, answer, stderr } = await within('the script ends', waited);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(answer.prompt).toContain('| wake up');
});

test('[WA5] a plugin that waits gets the text as its answer', async () => {
  await open();
  const { hub } = scene;
  const session = sessionOf(scene, 'opencode', 'ses_1', hub.dir);
  await session.prompt('begin');
  await session.stop();
  const headers = { authorization: `Bearer ${hub.owner}` };
  const waited = fetchReply(`${hub.url}/v1/hooks/opencode/wake?session=ses_1`, { headers });
  const id = await tell('opencode', 'wake up');
  const { status, body } = await within('the plugin is answered', waited);
  expect(status).toBe(200);
  expect(body.prompt).toContain('| wake up');
  expect(body.prompt).toContain(body.id);
  await session.prompt(body.prompt);
  expect(await receiptOf(id, 'opencode')).toBe('presented');
});

describe('Codex, by its daemon', () => {
  async function openDaemon(threads: string[]): Promise<{ home: string; asked: Json[] }> {
    const home = join(scene.hub.dir, 'codex');
    mkdirSync(join(home, 'app-server-control'), { recursive: true });
    const asked: Json[] = [];
    const server = createHttpServer();
    const sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket, request) => {
      asked.push({ origin: request.headers.origin ?? null });
      socket.on('message', (frame) => {
        const { id, ...rest } = JSON.parse(String(frame));
        asked.push(rest);
        const result = rest.method === 'thread/loaded/list' ? { data: threads } : {};
        if (id !== undefined) socket.send(JSON.stringify({ id, result }));
      });
    });
    servers.push(server, sockets);
    const path = join(home, 'app-server-control/app-server-control.sock');
    await new Promise<void>((resolve) => server.listen(path, resolve));
    return { home, asked };
  }

  const idle = async (home: string): Promise<void> => {
    const event = { hook_event_name: 'Stop', session_id: 't-1', cwd: '/' };
    await scene.fire('codex', event, { CODEX_HOME: home });
  };

  test('[WA2] a turn is begun in the thread, and the hook confirms it', async () => {
    await open();
    const { home, asked } = await openDaemon(['t-0', 't-1']);
    await idle(home);
    const id = await tell('codex', 'wake up');
    await seen('handed-over codex-app-server');
    expect(asked.map(({ method }) => method)).toEqual([
      undefined,
      'initialize',
      'initialized',
      'thread/loaded/list',
      'turn/start',
    ]);
    expect(asked[0]).toEqual({ origin: null });
    const { threadId, input } = asked[4].params;
    expect(threadId).toBe('t-1');
    const prompt = { hook_event_name: 'UserPromptSubmit', session_id: 't-1', cwd: '/' };
    await scene.fire('codex', { ...prompt, prompt: input[0].text });
    expect(await receiptOf(id, 'codex')).toBe('presented');
  });

  test('[WA2] a thread that is not open is not brought back', async () => {
    await open();
    const { home, asked } = await openDaemon(['t-0']);
    await idle(home);
    await tell('codex', 'wake up');
    await seen('unreached codex-app-server');
    expect(asked.some(({ method }) => method === 'turn/start')).toBe(false);
  });
});

test('[WA6] a session without means of its own is left alone, and no process is started for it', async () => {
  await open();
  writeFileSync(
    join(scene.hub.dir, 'policy.toml'),
    '[wake]\nheadless = true\ncommand = ["true"]\n',
  );
  await scene.fire('gemini', { hook_event_name: 'AfterAgent', session_id: 'g-1', cwd: '/' });
  await tell('gemini', 'wake up');
  await seen('no-means the');
});

test('[WA6] an agent that is managed has its turns, and its idle session is left alone', async () => {
  await open();
  await scene.fire('gemini', { hook_event_name: 'AfterAgent', session_id: 'g-1', cwd: '/' });
  await scene.hub.admin('agents_manage', { agent_id: 'gemini', runner: { kind: 'outside' } });
  await tell('gemini', 'wake up');
  await seen('held managed');
});
