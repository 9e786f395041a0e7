/**
 * Goal: one interface that holds for every vendor, whatever its program does.
 * Method: a stand-in that speaks each documented protocol as a real process and does what the prompt says. The
 * same is run with the vendors' own programs by test/live. Each defect found in an earlier client of this
 * kind is looked for by name.
 */
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createGuard } from '../../../guard/guard.ts';
import type { Rail } from '../../../guard/rails.ts';
import { createLineRpc } from '../../../vendor/line-rpc.ts';
import { AcpClient, type AcpClientOptions } from './acp-client.ts';
import {
  type AgentClient,
  type AgentClientEvent,
  type AgentTurn,
  TEXT_CHARS_MAX,
  UNHEARD_MAX,
} from './agent-client.ts';
import type { AgentItem } from './agent-item.ts';
import { ClaudeClient } from './claude-client.ts';
import { callWithin, planClient } from './client-link.ts';
import { CodexClient } from './codex-client.ts';
import { OpencodeClient } from './gemini-client.ts';
import { openRpcLink } from './rpc-link.ts';
import { type StandInKind, type StandInWay, writeClientStandIn } from './stand-in.fixture.ts';
import { createTurnStream, ITEMS_MAX } from './turn-stream.ts';

const KINDS: readonly StandInKind[] = ['codex', 'claude', 'acp'];
let folder = '';
let command: ReturnType<typeof writeClientStandIn>;
const clients: AgentClient[] = [];
let events: AgentClientEvent[] = [];

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'synod-clients-')));
  command = writeClientStandIn(folder);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((one) => one.close()));
  events = [];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function open(kind: StandInKind, more: AcpClientOptions = {}, way?: StandInWay): AgentClient {
  const options = {
    ...{ command: command(kind, way), cwd: folder, graceMs: 500, env: {} },
    onEvent: (event: AgentClientEvent) => void events.push(event),
    ...more,
  };
  const client =
    kind === 'codex'
      ? new CodexClient(options)
      : kind === 'claude'
        ? new ClaudeClient(options)
        : new AcpClient('the agent', options.command, options);
  clients.push(client);
  return client;
}

async function itemsOf(turn: AgentTurn): Promise<AgentItem[]> {
  const items: AgentItem[] = [];
  for await (const item of turn) items.push(item);
  return items;
}

const ofType = <T extends AgentItem['type']>(items: readonly AgentItem[], type: T) =>
  items.filter((item): item is Extract<AgentItem, { type: T }> => item.type === type);

describe.each(KINDS)('%s', (kind) => {
  test('[VC1] a turn is a stream of items with one end', async () => {
    const session = await open(kind).start();
    const turn = session.run('say one;say two');
    const items = await itemsOf(turn);
    const texts = ofType(items, 'text').map(({ text }) => text);
    expect(texts).toEqual(['one', 'two']);
    expect(await turn.ended).toEqual({
      ...{ state: 'completed', text: 'two', error: null },
      usage: { tokensIn: 7, tokensOut: 5, ...(kind === 'claude' && { usd: 0.25 }) },
    });
    // What came to nobody is gone, and the next turn begins with itself.
    expect(await session.run('say three').ended).toMatchObject({ text: 'three' });
  });

  test('[VC1] a session goes on in another process, a fork has its past, and the old one stays', async () => {
    const first = open(kind);
    const { id } = await first.start().then(async (session) => {
      await session.run('say a').ended;
      return session;
    });
    await first.close();
    const second = open(kind);
    const again = await second.resume(id);
    expect(await again.run('past').ended).toMatchObject({ text: 'say a' });
    const fork = await second.fork(id);
    expect(fork.id).not.toBe(id);
    expect(await fork.run('past').ended).toMatchObject({ text: 'say a|past' });
    expect(await again.run('past').ended).toMatchObject({ text: 'say a|past' });
    expect(again.id).toBe(id);
  });

  test('[VC1] a session that is not there is a refusal, and an id that is none is not sent', async () => {
    const client = open(kind);
    const gone = async () => {
      const session = await client.resume('00000000-0000-4000-8000-000000000000');
      const { error } = await session.run('say x').ended;
      throw new Error(error ?? 'none');
    };
    await expect(gone()).rejects.toThrow(
      /no rollout found|No conversation found|Session not found/,
    );
    for (const id of ['', '--resume', 'a b', 'a\nb', '../x']) {
      await expect(client.resume(id)).rejects.toThrow(/no id of a session/);
      await expect(client.fork(id)).rejects.toThrow(/no id of a session/);
    }
  });

  test('[VC1] it is steered in the turn in hand, and one turn runs at a time', async () => {
    const session = await open(kind).start();
    const isNow = kind !== 'acp';
    const turn = session.run(isNow ? 'say begun;wait;steers' : 'say begun');
    expect(() => session.run('say no')).toThrow(/runs a turn already/);
    const how = await turn.steer(isNow ? 'think of the pear' : 'say the pear');
    expect(how).toBe(isNow ? 'now' : 'after');
    expect(await turn.ended).toMatchObject({
      state: 'completed',
      text: isNow ? 'think of the pear' : 'the pear',
    });
    await expect(turn.steer('')).rejects.toThrow(/not empty/);
  });

  test('[VC1] it is interrupted, and goes on afterwards', async () => {
    const session = await open(kind).start();
    const turn = session.run('say begun;hang;say never');
    const seen: string[] = [];
    for await (const item of turn) {
      if (item.type !== 'delta' && item.type !== 'text') continue;
      seen.push(item.text);
      void turn.interrupt();
    }
    expect(await turn.ended).toMatchObject({ state: 'interrupted' });
    expect(seen.join()).not.toContain('never');
    await turn.interrupt();
    expect(await session.run('say again').ended).toMatchObject({ text: 'again' });
  });

  test('[VC3] it acts on a yes alone, and is told who said no', async () => {
    const asked: unknown[] = [];
    const session = await open(kind, {
      approve({ action, subject, payload }) {
        asked.push({ action, subject, payload });
        if (asked.length === 3) throw new Error('I am unwell');
        return asked.length === 1;
      },
    }).start();
    const items = await itemsOf(session.run('ask touch a;ask touch b;ask touch c'));
    expect(ofType(items, 'text').map(({ text }) => text)).toEqual(
      expect.arrayContaining(['done touch a', 'not done touch b', 'not done touch c']),
    );
    expect(asked).toMatchObject([
      { subject: expect.stringContaining('touch a') },
      { subject: expect.stringContaining('touch b') },
      {},
    ]);
    expect(ofType(items, 'approval')).toMatchObject([
      { state: 'approved' },
      { state: 'denied', words: expect.stringContaining('Denied by') },
      { state: 'withdrawn', words: expect.stringContaining('I am unwell') },
    ]);
    const commands = ofType(items, 'command').map(({ state, command: line }) => `${state} ${line}`);
    expect(commands[0]).toBe('started touch a');
    expect(commands).toContain('completed touch a');
    expect(commands.join()).toMatch(/(declined|failed) touch b/);
  });

  test('[VC3] where nobody is there to ask, the answer is no and says so', async () => {
    const session = await open(kind).start();
    const items = await itemsOf(session.run('ask touch a'));
    const [approval] = ofType(items, 'approval');
    expect(approval).toMatchObject({ state: 'withdrawn' });
    expect(approval?.words).toContain('nobody was there to ask');
    expect(ofType(items, 'text').map(({ text }) => text)).toContain('not done touch a');
  });

  test('[VC3] an interrupted turn waits for no person', async () => {
    const { promise: reached, resolve } = Promise.withResolvers<AbortSignal>();
    const session = await open(kind, {
      approve({ signal }) {
        resolve(signal);
        return new Promise<boolean>(() => {});
      },
    }).start();
    const turn = session.run('ask touch a;hang');
    const signal = await reached;
    await turn.interrupt();
    expect(signal.aborted).toBe(true);
    expect(await turn.ended).toMatchObject({ state: 'interrupted' });
  });

  test('[VC4] a line that looks like JSON and is none is one event, and fails no turn', async () => {
    const client = open(kind);
    const [one, other] = await Promise.all([client.start(), client.start()]);
    const turn = one.run('bad;stray;say fine');
    const items = await itemsOf(turn);
    expect(await turn.ended).toMatchObject({ state: 'completed', text: 'fine' });
    expect(ofType(items, 'bad_line')).toEqual([{ type: 'bad_line', line: '{"half a message' }]);
    // With two turns in one process nobody can tell whose it was: it is the client's, and still fails none.
    const both = [one.run('wait;say fine'), other.run('bad;say well')];
    expect(await both[1]?.ended).toMatchObject({ state: 'completed', text: 'well' });
    await both[0]?.interrupt();
    const all = [...(await itemsOf(both[1] as AgentTurn)), ...events];
    expect(all.filter(({ type }) => type === 'bad_line')).toHaveLength(1);
  });

  test('[VC4] a program that dies fails what runs, with its last words; the next begins anew', async () => {
    const client = open(kind);
    const session = await client.start();
    const turn = session.run('say a;die');
    expect(await turn.ended).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/ended: it exited with code 3: .*it broke/),
    });
    expect(events.at(-1)).toMatchObject({ type: 'ended' });
    const again = await client.start();
    expect(await again.run('say well').ended).toMatchObject({ state: 'completed', text: 'well' });
  });

  test('[VC5] a program that is not there, or is too old, is refused before anything is started', async () => {
    const missing = open(kind, { command: ['/no/such/program'] });
    await expect(missing.start()).rejects.toMatchObject({
      code: 'vendor.unusable',
      message: expect.stringContaining('there is no program "/no/such/program" to run'),
    });
    expect(await missing.probe()).toMatchObject({ version: null });
    const old = open(kind, {}, 'old');
    await expect(old.start()).rejects.toMatchObject({
      code: 'vendor.unusable',
      message: expect.stringMatching(/9\.8\.7 (has no (call|option)|speaks version 2 of ACP)/),
    });
    expect(await open(kind).probe()).toEqual({ version: '9.8.7', lack: null });
  });

  test('[VC2] it asks, works in its workspace, and has no key or token of its host', async () => {
    process.env.SYNOD_TOKEN = 'secret-of-the-host';
    process.env.ANTHROPIC_API_KEY = 'key-of-the-host';
    process.env.WANTED = 'wanted';
    const session = await open(kind, { inheritEnv: ['WANTED'], env: { OWN: 'set' } }).start();
    const { text } = await session.run('env').ended;
    for (const name of ['SYNOD_TOKEN', 'ANTHROPIC_API_KEY', 'WANTED']) delete process.env[name];
    expect(text).toContain('"OWN":"set"');
    expect(text).toContain('"WANTED":"wanted"');
    expect(text).not.toContain('of-the-host');
    const { text: told } = await session.run('args').ended;
    if (kind === 'codex') {
      expect(JSON.parse(told).params).toMatchObject({
        ...{ sandbox: 'workspace-write', approvalPolicy: 'on-request', approvalsReviewer: 'user' },
        cwd: folder,
      });
    }
    if (kind === 'claude') {
      const { args } = JSON.parse(told);
      const given = (flag: string) => args[args.indexOf(flag) + 1];
      expect(given('--permission-mode')).toBe('default');
      expect(given('--setting-sources')).toBe('');
      expect(args).toContain('--strict-mcp-config');
      expect(args.join(' ')).not.toMatch(/dangerously|bypass/);
    }
  });

  test('[VC6] close ends the program and what runs, and nothing is begun after it', async () => {
    const client = open(kind);
    const session = await client.start();
    const turn = session.run('env;hang');
    let pid = 0;
    for await (const item of turn) {
      if (item.type !== 'text' && item.type !== 'delta') continue;
      const [, found = '0'] = /"SYNOD_WORKER_OF":"([^"]+)"/.exec(item.text) ?? [];
      pid = processWith(found);
      break;
    }
    expect(pid).toBeGreaterThan(0);
    await client.close();
    expect(await turn.ended).toMatchObject({ state: 'failed' });
    expect(() => readFileSync(`/proc/${pid}/stat`)).toThrow();
    await expect(async () => client.start()).rejects.toMatchObject({ code: 'vendor.closed' });
  });

  test('[VC6] one that is closed while it starts leaves no program', async () => {
    const client = open(kind, { env: { SYNOD_TEST_MARK: `closing-${kind}` } });
    const starting = client.start().then(
      () => 'started',
      ({ code }) => code,
    );
    await client.close();
    expect(await starting).toMatch(/^vendor\.(closed|ended)$/);
    expect(processWith(`closing-${kind}`)).toBe(0);
  });
});

test('[VC6] a program that does not greet is ended', async () => {
  const argv = [process.execPath, '-e', 'process.stdin.resume()', 'mute'];
  const plan = await planClient({}, argv, folder, () => false);
  const link = openRpcLink({ graceMs: 500 }, 'the agent', plan, {
    ...{ onNotice() {}, onRequest: async () => null, turns: () => [], onEnded() {} },
  });
  const isGone = link.ended;
  await expect(link.greet('initialize', {}, 100)).rejects.toMatchObject({ code: 'vendor.timeout' });
  expect(await isGone).toContain('the agent ended');
});

/** The process whose environment has this mark. */
function processWith(mark: string): number {
  const found = readdirSync('/proc').find((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/environ`, 'latin1').includes(mark);
    } catch {
      return false;
    }
  });
  return Number(found ?? 0);
}

test('[VC1] what an agent does not offer is refused by name', async () => {
  const client = open('acp', {}, 'plain');
  const { id } = await client.start();
  await expect(client.fork(id)).rejects.toMatchObject({
    code: 'vendor.unsupported',
    message: expect.stringContaining('cannot fork a session'),
  });
});

test('[VC1] the past that an agent tells when a session is loaded is no part of the next turn', async () => {
  const client = open('acp', {}, 'plain');
  const session = await client.start();
  await session.run('say a').ended;
  const again = await client.resume(session.id);
  expect(await again.run('say b').ended).toMatchObject({ text: 'b' });
});

test('[VC2] an agent that asks nobody is not begun with', async () => {
  await expect(open('acp', {}, 'yolo').start()).rejects.toThrow(/asks nobody/);
  expect(() => open('acp', { mode: 'yolo' })).toThrow(/asks nobody/);
  const session = await open('acp', { mode: 'default' }, 'yolo').start();
  expect(session.id).not.toBe('');
});

test('[VC2] opencode is told to ask, which it would not by itself', async () => {
  const client = new OpencodeClient({ command: command('acp'), cwd: folder });
  clients.push(client);
  const { text } = await (await client.start()).run('env').ended;
  expect(JSON.parse(JSON.parse(text).OPENCODE_PERMISSION)).toMatchObject({
    edit: 'ask',
    bash: 'ask',
  });
  expect(() => new OpencodeClient({ model: 'x' })).toThrow(/its own settings/);
});

test('[VC6] a call that is never answered is given up, by name', async () => {
  const nothing = (): void => {};
  const rpc = createLineRpc({
    ...{ write: nothing, onNotice: nothing, onText: nothing },
    onRequest: async () => ({}),
  });
  await expect(callWithin(rpc, 'turn/steer', {}, 10)).rejects.toMatchObject({
    code: 'vendor.timeout',
    message: 'turn/steer was not answered within 0.01 s',
  });
});

test.each(['acp', 'claude'] as const)(
  '[VC6] %s: what it is told and does not hear is bounded',
  async (kind) => {
    const session = await open(kind).start();
    expect(() => session.run('x'.repeat(TEXT_CHARS_MAX + 1))).toThrow(/at most 1048576 characters/);
    const turn = session.run('hang');
    const said = Array.from({ length: UNHEARD_MAX + 1 }, (_, n) => turn.steer(`say ${n}`));
    const refused = await Promise.allSettled(said);
    expect(refused.at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'vendor.busy' } });
    await turn.interrupt();
  },
);

test('[VC6] items that nobody reads are bounded, and what was let go is counted', async () => {
  const stream = createTurnStream({ steer: async () => 'now', interrupt: async () => {} });
  for (let n = 0; n < ITEMS_MAX + 7; n++) stream.push({ type: 'delta', text: String(n) });
  stream.end('completed');
  const items = await itemsOf(stream.turn);
  expect(items).toHaveLength(ITEMS_MAX + 1);
  expect(items.at(-1)).toEqual({ type: 'left_out', count: 7 });
});

test.each(KINDS)(
  '[PO16] %s: nothing of it is started that its guard does not allow',
  async (kind) => {
    const [program = ''] = command(kind);
    const shown: string[] = [];
    const rails: Rail[] = [
      {
        ...{ name: 'shown', on: 'input' },
        check(value) {
          shown.push(JSON.stringify(value));
          return null;
        },
      },
    ];
    const refusing = open(kind, { guard: createGuard({ read: [folder] }, { rails }) });
    await expect(refusing.start()).rejects.toMatchObject({ code: 'vendor.refused' });
    await expect(refusing.probe()).rejects.toMatchObject({ code: 'vendor.refused' });
    expect(events).toEqual([]);
    shown.splice(0);
    const execute = [{ program, args: ['**'] }];
    const policy = {
      ...{ read: ['/'], write: [folder], delete: [folder], execute, env: ['PATH', 'SET'] },
    };
    const guard = createGuard(policy, { rails });
    const session = await open(kind, { guard, env: { SET: 'x' }, inheritEnv: ['HOME'] }).start();
    const { text } = await session.run('env').ended;
    expect(JSON.parse(text)).toMatchObject({ SET: 'x' });
    expect(Object.keys(JSON.parse(text))).not.toContain('HOME');
    // opencode, for one, asks nobody unless a variable says so: without it there is no program.
    const without = open(kind, { guard, env: { OTHER: 'x' } });
    await expect(without.start()).rejects.toThrow('have the variable OTHER: add it to `env`');
    // The program itself, and what it is asked of itself before.
    expect(shown.some((one) => one.includes('--version'))).toBe(true);
    expect(shown.filter((one) => !one.includes('--version')).length).toBeGreaterThan(0);
  },
);
