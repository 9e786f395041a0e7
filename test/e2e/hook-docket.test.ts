/** A permission prompt of every vendor's harness is on the docket while its person does not answer. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VENDORS, type Vendor } from '../../src/wire/tool-names.ts';
import { until } from './deadline.ts';
import { DIALECTS, type HookScene, openHookScene } from './hook-scene.ts';
import type { Json } from './running-hub.ts';

let scene: HookScene;
beforeAll(async () => {
  scene = await openHookScene({ hooks: { wake: { patienceMs: 0, lookMs: 20 } } });
});
afterAll(async () => await scene.close());

const ASKS: Readonly<Record<Vendor, { event: string; more: object; text: string }>> = {
  claude: {
    event: 'PermissionRequest',
    more: { tool_name: 'Bash', tool_input: { command: 'rm -rf \u001b[2Jbuild' } },
    text: 'asks leave for: Bash: rm -rf [2Jbuild',
  },
  codex: {
    event: 'PermissionRequest',
    more: { tool_name: 'Bash', tool_input: { command: 'rm -rf build' } },
    text: 'asks leave for: Bash: rm -rf build',
  },
  gemini: {
    event: 'Notification',
    more: { notification_type: 'ToolPermission', message: 'Tool Confirm: rm -rf build' },
    text: 'asks: Tool Confirm: rm -rf build',
  },
  opencode: {
    event: 'permission.asked',
    more: { tool_name: 'bash', tool_input: { description: 'rm -rf build' } },
    text: 'asks leave for: bash: rm -rf build',
  },
};

async function itemsOf(agent: string, state?: 'closed'): Promise<Json[]> {
  const asked = { kind: 'blocked', ...(state !== undefined && { state }) };
  const { items } = await scene.hub.admin('docket.list', asked);
  return items.filter((one: Json) => one.agent_id === agent);
}

describe.each(VENDORS)('%s', (vendor) => {
  test('[DK9] what it asks is listed with the words, until it goes on or is gone', async () => {
    const harness = scene.harness();
    const words = DIALECTS[vendor];
    const headers = { 'x-synod-parent': String(harness.pid) };
    let said = 0;
    const post = (name: string, more: object = {}) =>
      scene.post(
        vendor,
        { hook_event_name: name, session_id: `${vendor}-1`, said: ++said, ...more },
        headers,
      );
    const { event, more, text } = ASKS[vendor];
    await post(words.prompt, { prompt: 'begin' });
    await post(event, more);
    const [item] = await until(
      'it is listed',
      () => itemsOf(vendor),
      ({ length }) => length === 1,
    );
    expect(item).toMatchObject({
      kinds: ['blocked'],
      subjects: [{ text, subject: `${vendor}-1` }],
    });
    // It is closed by what happens to the session; a person may also put it away.
    await post(words.after, { tool_name: words.shell, tool_use_id: '1' });
    await until(
      'it is off',
      () => itemsOf(vendor),
      ({ length }) => length === 0,
    );
    const [ended] = await itemsOf(vendor, 'closed');
    expect(ended.closed).toMatchObject({ by: null, outcome: 'went on' });
    await post(event, more);
    await until(
      'it waits again',
      () => itemsOf(vendor),
      ({ length }) => length === 1,
    );
    harness.kill('SIGKILL');
    await until(
      'it is gone',
      () => itemsOf(vendor),
      ({ length }) => length === 0,
    );
    const [gone] = await itemsOf(vendor, 'closed');
    expect(gone.closed.outcome).toBe('the session is gone');
  });
});
