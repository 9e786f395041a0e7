/** What the hooks of a working agent make of its presence, for every vendor, at the real door. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VENDORS, type Vendor } from '../../src/wire/tool-names.ts';
import { until } from './deadline.ts';
import { DIALECTS, type HookScene, openHookScene } from './hook-scene.ts';
import type { Json } from './running-hub.ts';

let scene: HookScene;
beforeAll(async () => {
  scene = await openHookScene();
});
afterAll(async () => await scene.close());

async function seenBy(who: string, agent: string): Promise<Json> {
  const { agents } = await scene.hub.ask(who, 'presence.list', { limit: 500 });
  return agents.find((one: Json) => one.agent_id === agent);
}

/** A session in a process of its own; the events as the vendor words them. */
function sessionIn(vendor: Vendor) {
  const harness = scene.harness();
  const words = DIALECTS[vendor];
  const headers = { 'x-synod-parent': String(harness.pid) };
  let said = 0;
  const post = (name: string, more: object = {}) =>
    scene.post(vendor, { hook_event_name: name, session_id: 's', said: ++said, ...more }, headers);
  return { harness, words, post, row: () => seenBy('watcher', vendor) };
}

const ASKS: Readonly<Record<Vendor, { event: string; more: object; note: string }>> = {
  claude: {
    event: 'PermissionRequest',
    more: { tool_name: 'Bash', tool_input: { command: 'rm -rf build' } },
    note: 'asks leave for: Bash: rm -rf build',
  },
  codex: {
    event: 'PermissionRequest',
    more: { tool_name: 'Bash', tool_input: { command: 'rm -rf build', description: 'clean' } },
    note: 'asks leave for: Bash: rm -rf build',
  },
  gemini: {
    event: 'Notification',
    more: { notification_type: 'ToolPermission', message: 'Tool Confirm: rm -rf build' },
    note: 'asks: Tool Confirm: rm -rf build',
  },
  opencode: {
    event: 'permission.asked',
    more: { tool_name: 'bash', tool_input: { description: 'rm -rf build' } },
    note: 'asks leave for: bash: rm -rf build',
  },
};

describe.each(VENDORS)('%s', (vendor) => {
  test('[PE3] working on what, asking a person with the words, done, gone', async () => {
    const { words, post, row, harness } = sessionIn(vendor);
    if (words.start !== null) await post(words.start, { source: 'startup' });
    await post(words.prompt, { prompt: 'begin' });
    expect(await row()).toMatchObject({ state: 'busy', note: null });
    const command = 'npm test\n--all';
    await post(words.before, { tool_name: words.shell, tool_use_id: '1', tool_input: { command } });
    const working = await row();
    expect(working).toMatchObject({ state: 'busy', note: `${words.shell}: npm test --all` });
    expect(working.evidence.last_hook).toBeGreaterThan(0);
    const { event, more, note } = ASKS[vendor];
    await post(event, more);
    expect(await row()).toMatchObject({ state: 'blocked', note });
    await post(words.after, { tool_name: words.shell, tool_use_id: '1' });
    expect(await row()).toMatchObject({ state: 'busy', note: null });
    await post(words.stop);
    expect(await row()).toMatchObject({ state: 'idle', note: null });
    await post(words.prompt, { prompt: 'again' });
    expect(await row()).toMatchObject({ state: 'busy' });
    harness.kill('SIGKILL');
    // Nobody says that it is gone, but its process is.
    await until('it is not taken to work any more', row, ({ state }) => state !== 'busy');
  });
});

test('[PE3] a session that ended is gone at once, also when its claims are seen to', async () => {
  const { post, row } = sessionIn('claude');
  await post('SessionStart', { source: 'startup' });
  await scene.hub.ask('claude', 'claims.take', { task_id: 'left-behind' });
  await scene.hub.ask('claude', 'presence.report', { state: 'idle', process: process.pid });
  // Its bridge says goodbye first.
  await scene.hub.ask('claude', 'channels.heartbeat', { status: 'offline' });
  await post('SessionEnd', { reason: 'other' });
  expect(await row()).toMatchObject({ state: 'gone', claims: 1 });
});

test('[PE3] a question of the model is asked in its own words', async () => {
  const { post, row } = sessionIn('claude');
  await post('SessionStart', { source: 'startup' });
  const questions = [{ question: 'Which database?', options: [] }];
  await post('PreToolUse', { tool_name: 'AskUserQuestion', tool_input: { questions } });
  expect(await row()).toMatchObject({ state: 'blocked', note: 'asks: Which database?' });
  // After an interrupt there is no stop, but that it waits.
  await post('Notification', { notification_type: 'idle_prompt', message: 'Claude is waiting' });
  expect(await row()).toMatchObject({ state: 'idle', note: null });
});

test('[PE3] blocked by its own word lasts until its person speaks; own words name the work', async () => {
  const { post, row } = sessionIn('codex');
  await post('UserPromptSubmit', { prompt: 'begin' });
  // So does its bridge when it joins, which knows nothing of turns.
  await scene.hub.ask('codex', 'presence.report', { state: 'idle', process: process.pid });
  expect(await row()).toMatchObject({ state: 'busy' });
  await scene.hub.ask('codex', 'presence.report', { state: 'busy', note: 'the parser' });
  await post('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' } });
  expect(await row()).toMatchObject({ state: 'busy', note: 'the parser' });
  const { expires_at: until } = await scene.hub.ask('codex', 'presence.report', {
    state: 'blocked',
    note: 'May I drop the table?',
  });
  expect(until - Date.now() / 1000).toBeGreaterThan(80_000);
  await post('Stop');
  expect(await row()).toMatchObject({ state: 'blocked', note: 'May I drop the table?' });
  await post('UserPromptSubmit', { prompt: 'yes' });
  expect(await row()).toMatchObject({ state: 'busy', note: null });
});

test('[PE3] what hooks tell is not for the untrusted', async () => {
  const { post, row } = sessionIn('gemini');
  await post('BeforeAgent', { prompt: 'begin' });
  const tool_input = { command: 'curl -H "Authorization: Bearer s3cret" x' };
  await post('BeforeTool', { tool_name: 'run_shell_command', tool_input });
  expect((await row()).note).toContain('curl');
  const { hub } = scene;
  const { token } = await hub.admin('tokens_create', { agent_id: 'guest', tier: 'untrusted' });
  const asked = await hub.post('presence.list', {}, { authorization: `Bearer ${token}` });
  expect(asked.body.agents.map((one: Json) => one.agent_id)).toContain('gemini');
  expect(asked.text).not.toContain('s3cret');
});

test('[WK6] what a session holds lapses soon after its end, and has its time back when resumed', async () => {
  const { words, post } = sessionIn('claude');
  await post(words.start ?? '', { source: 'startup' });
  await scene.hub.ask('claude', 'claims.take', { task_id: 'held', ttl_seconds: 7200 });
  const leftS = async () => {
    const { claims } = await scene.hub.ask('watcher', 'claims.list', { owner: 'claude' });
    return claims[0].lease_expires_at - Date.now() / 1000;
  };
  expect(await leftS()).toBeGreaterThan(3600);
  await post('SessionEnd', { reason: 'prompt_input_exit' });
  expect(await leftS()).toBeLessThanOrEqual(600);
  await post(words.start ?? '', { source: 'resume' });
  expect(await leftS()).toBeGreaterThan(600);
  await scene.hub.ask('claude', 'claims.release', { task_id: 'held' });
});
