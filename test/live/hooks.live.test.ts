/**
 * Hooks as the vendors of today really run them: when they fire, what they are told, what of their
 * answer is obeyed, and by what a hook and an MCP bridge of the same session know each other.
 */
import { join } from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import type { ProbeRecord } from './probe.ts';
import { type ModelRequest, type Step, textShown } from './script.ts';
import { CHANNEL, liveTest, openStage, type Stage, vendors } from './stage.ts';
import type { Vendor } from './vendor.ts';
import { claude } from './vendors/claude.ts';
import { codex } from './vendors/codex.ts';

let stage: Stage | undefined;
afterEach(async () => await stage?.close());

function lastTurn({ model }: Stage): ModelRequest {
  const turn = model.turns().at(-1);
  if (turn === undefined) throw new Error('the model was never asked');
  return turn;
}

function send(vendor: Vendor): readonly Step[] {
  const args = { channel: CHANNEL, body: { text: 'hello' } };
  return [
    ...vendor.beforeTool('channels__send'),
    { call: vendor.toolName('channels__send'), args },
  ];
}

function sessionOf({ input }: ProbeRecord): unknown {
  return input.session_id ?? input.sessionID;
}

describe.each(vendors)('$name', (vendor) => {
  const { events, answers } = vendor;

  liveTest('[LV4] hooks fire around a prompt, a tool and the end of a turn, in order', async () => {
    stage = await openStage(vendor);
    const path = join(stage.scene.project, 'a.txt');
    const ran = await stage.ask('write it', [vendor.writeFile(path, 'hello'), { say: 'written' }]);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expect(stage.scene.read('project/a.txt')).toBe('hello');
    const fired = stage.probe.records('hook');
    const order = fired.map(({ event }) => event);
    expect(order.filter((event) => event !== events.end)).toEqual([
      events.start,
      events.prompt,
      events.before,
      events.after,
      events.stop,
    ]);
    expect(new Set(fired.map(sessionOf)).size).toBe(1);
    const before = fired.find(({ event }) => event === events.before);
    expect(JSON.stringify(before?.input)).toContain('a.txt');
  });

  liveTest('[LV5] the model reads what a hook injects after a tool', async () => {
    stage = await openStage(vendor);
    stage.probe.answer(events.after, answers.inject(events.after, 'one message waits: 4711'));
    const path = join(stage.scene.project, 'a.txt');
    await stage.ask('write it', [vendor.writeFile(path, 'hello'), { say: 'written' }]);
    expect(textShown(lastTurn(stage))).toContain('one message waits: 4711');
  });

  liveTest('[LV6] a denied tool does not run, and the model reads why', async () => {
    stage = await openStage(vendor);
    stage.probe.answer(events.before, answers.deny('a.txt is claimed by bob'));
    const path = join(stage.scene.project, 'a.txt');
    await stage.ask('write it', [vendor.writeFile(path, 'hello'), { say: 'so be it' }]);
    expect(stage.scene.has('project/a.txt')).toBe(false);
    expect(textShown(lastTurn(stage), 'tool')).toContain('a.txt is claimed by bob');
  });

  // `opencode run` leaves at the first idle moment: nothing can hold it there.
  const skip = vendor.name === 'opencode';
  liveTest('[LV7] a blocked stop goes on, with the reason as a prompt', { skip }, async () => {
    stage = await openStage(vendor);
    stage.probe.answer(`${events.stop}.once`, answers.block('two messages wait: 4712'));
    await stage.ask('hurry', [{ say: 'finished too soon' }, { say: 'finished' }]);
    expect(stage.model.turns()).toHaveLength(2);
    expect(textShown(lastTurn(stage), 'user')).toContain('two messages wait: 4712');
    const stops = stage.probe.records('hook', events.stop).map(({ input }) => input);
    expect(stops.map((input) => input.stop_hook_active)).toEqual([false, true]);
  });

  // The plugin of opencode is no child: it runs inside what is the bridge's parent.
  liveTest('[LV8] the hook and the bridge of one run have the same parent', async () => {
    stage = await openStage(vendor, { hasHub: true });
    await stage.ask('greet', [...send(vendor), { say: 'greeted' }]);
    const [bridge] = stage.probe.records('bridge');
    const hooks = stage.probe.records('hook');
    expect(bridge?.parent).toBeGreaterThan(1);
    expect(new Set(hooks.map(({ parent }) => parent))).toEqual(new Set([bridge?.parent]));
  });
});

describe('by name', () => {
  const needs = ['claude', 'codex'] as const;

  liveTest('[LV9] Claude Code tells its MCP servers and hooks the session', { needs }, async () => {
    stage = await openStage(claude, { hasHub: true });
    await stage.ask('greet', [...send(claude), { say: 'greeted' }]);
    const [bridge] = stage.probe.records('bridge');
    const [hook] = stage.probe.records('hook', 'PreToolUse');
    expect(bridge?.env.CLAUDE_CODE_SESSION_ID).toBe(hook?.input.session_id);
    expect(bridge?.env.CLAUDE_CODE_MESSAGING_SOCKET).toBe(hook?.env.CLAUDE_CODE_MESSAGING_SOCKET);
    const [call] = stage.probe.records('request');
    const used = stage.probe.records('hook', 'PostToolUse').at(-1);
    expect(call?.input).toMatchObject({
      params: { _meta: { 'claudecode/toolUseId': used?.input.tool_use_id } },
    });
  });

  liveTest(
    '[LV10] Codex names the thread in every call of a tool, and hooks the same',
    { needs },
    async () => {
      stage = await openStage(codex, { hasHub: true });
      await stage.ask('greet', [...send(codex), { say: 'greeted' }]);
      const [hook] = stage.probe.records('hook', 'PreToolUse');
      const [call] = stage.probe.records('request');
      expect(call?.input).toMatchObject({
        params: { _meta: { threadId: hook?.input.session_id, callId: hook?.input.tool_use_id } },
      });
    },
  );
});
