import { expect, test } from 'vitest';
import { DEFAULT_POLICY, spokenPolicy } from '../../wire/policy.ts';
import { toolNameFor, VENDORS, type Vendor } from '../../wire/tool-names.ts';
import { decide, initialCadence } from './cadence.ts';
import { answerOf, cadenceEventOf } from './cadence-hooks.ts';
import { type HookEvent, isUnheard } from './hook-event.ts';
import { DIALECTS } from './vendors/vendors.ts';

/** What each vendor calls the five things this is about. */
const NAMES: Readonly<Record<Vendor, readonly [tool: string, turn: string, stop: string]>> = {
  claude: ['PostToolUse', 'UserPromptSubmit', 'Stop'],
  codex: ['PostToolUse', 'UserPromptSubmit', 'Stop'],
  gemini: ['AfterTool', 'BeforeAgent', 'AfterAgent'],
  opencode: ['tool.execute.after', 'chat.message', 'session.idle'],
};
function hook(vendor: Vendor, hook_event_name: string, more = {}): HookEvent {
  const event = DIALECTS[vendor].read({ session_id: 's', hook_event_name, ...more });
  if (isUnheard(event)) throw new Error(event.unheard);
  return event;
}

test('[HK7] each vendor’s hooks drive the enforcer, and its words come out as they are', () => {
  for (const vendor of VENDORS) {
    const [tool, turn, stop] = NAMES[vendor];
    const policy = spokenPolicy(DEFAULT_POLICY, toolNameFor(vendor, 'channels__recv'));
    let state = initialCadence('ada');
    const feel = (event: HookEvent, isInboxNonEmpty?: boolean): string => {
      const facts = { agentId: 'ada', timestamp: 1 };
      const known = isInboxNonEmpty === undefined ? facts : { ...facts, isInboxNonEmpty };
      const cadence = cadenceEventOf(event, known);
      if (cadence === null) return 'none';
      const outcome = decide(cadence, state, policy);
      state = outcome.state;
      const output = DIALECTS[vendor].write(answerOf(outcome.decision), event);
      expect(output.isDelivered).toBe(true);
      return JSON.stringify(output.json);
    };
    const work = hook(vendor, tool, { tool_name: 'edit' });
    const silent = Array.from({ length: 4 }, () => feel(work));
    expect(silent).toEqual(['null', 'null', 'null', 'null']);
    expect(feel(work)).toContain(policy.reminder_text_drain);
    expect(feel(hook(vendor, stop), true)).toContain(policy.reminder_text_drain_on_stop);
    expect(feel(hook(vendor, turn))).toBe('null');
    const recv = { tool_name: toolNameFor(vendor, 'channels__recv') };
    expect(feel(hook(vendor, tool, recv))).toBe('null');
    expect(state).toMatchObject({ tool_calls_since_drain: 0, stop_blocks_in_a_row: 0 });
    const failed = { ...recv, tool_response: { isError: true } };
    feel(hook(vendor, tool, failed));
    expect(state.tool_calls_since_drain).toBe(1);
    expect(feel(hook(vendor, stop), false)).toBe('null');
  }
});

test('[HK7] what the enforcer has no event for gives none', () => {
  const facts = { agentId: 'ada', timestamp: 1 };
  for (const name of ['SessionStart', 'SessionEnd', 'PreToolUse', 'PostToolUse']) {
    expect(cadenceEventOf(hook('claude', name), facts)).toBeNull();
  }
  expect(cadenceEventOf(hook('claude', 'Stop'), facts)?.metadata).toEqual({});
});
