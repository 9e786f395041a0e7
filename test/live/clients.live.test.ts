/**
 * The clients of `synod/flow` with the vendors' own programs, against a model on loopback: a turn with its
 * items and an approval, a denial that the model is told of, steering, interrupting, resuming in another
 * process, and forking.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import type {
  AgentClient,
  AgentClientOptions,
  AgentTurn,
} from '../../src/flow/process/client/agent-client.ts';
import type { AgentItem } from '../../src/flow/process/client/agent-item.ts';
import { ClaudeClient } from '../../src/flow/process/client/claude-client.ts';
import { CodexClient } from '../../src/flow/process/client/codex-client.ts';
import { GeminiClient, OpencodeClient } from '../../src/flow/process/client/gemini-client.ts';
import { type CliName, cliPath } from './clis.ts';
import { createGate } from './installed.ts';
import { type ModelServer, openModelServer } from './model-server.ts';
import { openScene, type Scene } from './scene.ts';
import { type Step, textShown } from './script.ts';
import { liveTest } from './stage.ts';
import type { Vendor } from './vendor.ts';
import { claude } from './vendors/claude.ts';
import { codex } from './vendors/codex.ts';
import { gemini } from './vendors/gemini.ts';
import { opencode } from './vendors/opencode.ts';

interface Side {
  readonly cli: CliName;
  readonly vendor: Vendor;
  open(options: AgentClientOptions): AgentClient;
  readonly args: readonly string[];
  /** The model writes a file where it may not without asking. */
  writes(path: string): Step;
  readonly canFork: boolean;
}

const shell = (call: string) => (path: string) => ({
  call,
  args: { command: `touch ${path}`, description: 'a file' },
});

const SIDES: readonly Side[] = [
  {
    ...{ cli: 'claude', vendor: claude, args: [], canFork: true, writes: shell('Bash') },
    open: (options) => new ClaudeClient(options),
  },
  {
    ...{ cli: 'codex', vendor: codex, args: [], canFork: true },
    open: (options) => new CodexClient(options),
    writes: (path) => ({
      call: 'exec_command',
      args: { cmd: `touch ${path}`, sandbox_permissions: 'require_escalated', justification: 'so' },
    }),
  },
  {
    ...{ cli: 'gemini', vendor: gemini, args: ['--acp', '-m', 'gemini-2.5-pro'], canFork: false },
    open: (options) => new GeminiClient(options),
    writes: shell('run_shell_command'),
  },
  {
    ...{ cli: 'opencode', vendor: opencode, args: ['acp'], canFork: true, writes: shell('bash') },
    open: (options) => new OpencodeClient(options),
  },
];

let scene: Scene | undefined;
const clients: AgentClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((one) => one.close()));
  await scene?.close();
  scene = undefined;
});

interface Set {
  readonly scene: Scene;
  readonly model: ModelServer;
  readonly events: unknown[];
  client(more?: Partial<AgentClientOptions>): AgentClient;
}

async function setUp(side: Side): Promise<Set> {
  const where = openScene();
  scene = where;
  const model = await openModelServer();
  where.atEnd(() => model.close());
  const setup = { model: model.url };
  side.vendor.configure(where, setup);
  const events: unknown[] = [];
  return {
    ...{ scene: where, model, events },
    client(more = {}) {
      const client = side.open({
        command: [cliPath(side.cli), ...side.args],
        cwd: where.project,
        env: { ...where.env(), ...side.vendor.env(setup) },
        onEvent: (event) => void events.push(event),
        ...more,
      });
      clients.push(client);
      return client;
    },
  };
}

async function itemsOf(turn: AgentTurn): Promise<AgentItem[]> {
  const items: AgentItem[] = [];
  for await (const item of turn) items.push(item);
  return items;
}

describe.each(SIDES)('$cli', (side) => {
  const needs = [side.cli];

  liveTest('[VC1] [VC3] a turn is its items, and asks before it acts', { needs }, async () => {
    const { model, scene: where, client, events } = await setUp(side);
    model.play([side.writes('a.txt'), side.writes('b.txt'), { say: 'all tried' }, { say: 'told' }]);
    const asked: string[] = [];
    const session = await client({
      approve({ subject }) {
        asked.push(subject);
        return asked.length === 1;
      },
    }).start();
    const turn = session.run('make two files');
    const items = await itemsOf(turn);
    const end = await turn.ended;
    const all = JSON.stringify({ items, events }, null, 1);
    expect(end, all).toMatchObject({ state: 'completed', error: null });
    expect(end.usage.tokensIn, all).toBeGreaterThan(0);
    expect(asked).toEqual(['a', 'b'].map((name) => expect.stringContaining(`touch ${name}.txt`)));
    const there = ['a', 'b'].map((name) => existsSync(join(where.project, `${name}.txt`)));
    expect(there, all).toEqual([true, false]);
    const told = items.flatMap((item) => (item.type === 'approval' ? [item.state] : []));
    expect(told).toEqual(['approved', 'denied']);
    expect(
      items.some((item) => item.type === 'text' && item.text === 'all tried'),
      all,
    ).toBe(true);
    expect(
      items.some((item) => item.type === 'command' && item.state === 'completed'),
      all,
    ).toBe(true);
    const last = model.turns().at(-1);
    expect(last && textShown(last), all).toMatch(/Denied by/);
  });

  liveTest(
    '[VC1] it goes on in another process, and a fork leaves it as it was',
    { needs },
    async () => {
      const { model, client, events } = await setUp(side);
      model.play([{ say: 'the word is plum' }]);
      const first = client();
      const session = await first.start();
      await itemsOf(session.run('say a word, and remember it well'));
      await first.close();
      const past = () => textShown(model.turns().at(-1) as NonNullable<unknown> as never);
      model.play([{ say: 'still here' }]);
      const second = client();
      const again = await second.resume(session.id);
      const end = await again.run('which word?').ended;
      expect(end, JSON.stringify(events)).toMatchObject({ state: 'completed', text: 'still here' });
      expect(past()).toContain('the word is plum');
      if (!side.canFork) {
        await expect(second.fork(session.id)).rejects.toMatchObject({ code: 'vendor.unsupported' });
        return;
      }
      model.play([{ say: 'on the fork' }]);
      const fork = await second.fork(session.id);
      expect(fork.id).not.toBe(session.id);
      const forked = await fork.run('and now?').ended;
      expect(forked, JSON.stringify(events)).toMatchObject({ text: 'on the fork' });
      expect(past()).toContain('the word is plum');
      model.play([{ say: 'and the old one' }]);
      await again.run('and here?').ended;
      expect(past()).not.toContain('on the fork');
    },
  );

  liveTest('[VC1] it is steered while it works', { needs }, async () => {
    const { model, client, events } = await setUp(side);
    const reached = createGate();
    const release = createGate();
    model.play([
      async () => {
        reached.open();
        await release.passed;
        return side.vendor.lookAt(join(scene?.project ?? '', 'none.txt'));
      },
      { say: 'one' },
      { say: 'two' },
    ]);
    const session = await client({ approve: () => true }).start();
    const turn = session.run('look at a file');
    await reached.passed;
    const heard = turn.steer('and think of the pear');
    release.open();
    expect(await heard).toMatch(/^(now|after)$/);
    const end = await turn.ended;
    expect(end, JSON.stringify(events)).toMatchObject({ state: 'completed' });
    const shown = model.turns().map((one) => textShown(one));
    expect(shown.at(-1), JSON.stringify(events)).toContain('think of the pear');
    // It was heard in this turn: nothing of it is left for the next.
    model.play([{ say: 'three' }]);
    expect(await session.run('go on').ended).toMatchObject({ state: 'completed', text: 'three' });
  });

  liveTest(
    '[VC1] [VC3] it is interrupted, also while it waits for a person',
    { needs },
    async () => {
      const { model, client, events } = await setUp(side);
      const reached = createGate();
      const never = createGate();
      model.play([
        async () => {
          reached.open();
          await never.passed;
          return { say: 'too late' };
        },
      ]);
      const asked = createGate<AbortSignal>();
      const session = await client({
        approve({ signal }) {
          asked.open(signal);
          return new Promise<boolean>(() => {});
        },
      }).start();
      const turn = session.run('think for ever');
      await reached.passed;
      await turn.interrupt();
      expect(await turn.ended, JSON.stringify(events)).toMatchObject({ state: 'interrupted' });
      never.open();
      model.play([side.writes('c.txt'), { say: 'done' }]);
      const second = session.run('make a file');
      const signal = await asked.passed;
      await second.interrupt();
      expect(await second.ended, JSON.stringify(events)).toMatchObject({ state: 'interrupted' });
      expect(signal.aborted).toBe(true);
      expect(existsSync(join(scene?.project ?? '', 'c.txt'))).toBe(false);
      model.play([{ say: 'well again' }]);
      expect(await session.run('still there?').ended).toMatchObject({ text: 'well again' });
    },
  );
});
