import { expect, test } from 'vitest';
import {
  type HookAnswer,
  type HookEvent,
  INJECTED_CHARS_MAX,
  isUnheard,
  REASON_CHARS_MAX,
} from '../hook-event.ts';
import { DIALECTS } from './vendors.ts';

const common = {
  session_id: 's1',
  transcript_path: '/t/x.jsonl',
  cwd: '/p',
  prompt_id: 'p1',
  permission_mode: 'default',
};
function read(more: Record<string, unknown>): HookEvent {
  const event = DIALECTS.claude.read({ ...common, ...more });
  if (isUnheard(event)) throw new Error(event.unheard);
  return event;
}
const at = (hook_event_name: string): HookEvent => read({ hook_event_name, tool_name: 'Edit' });
const write = (answer: HookAnswer, name: string) => DIALECTS.claude.write(answer, at(name));

test('[HK1] what Claude Code sends is heard, as it was seen to send it', () => {
  const start = read({ hook_event_name: 'SessionStart', source: 'startup' });
  expect(start).toEqual({
    kind: 'session_started',
    vendor: 'claude',
    name: 'SessionStart',
    session: 's1',
    subagent: null,
    agentName: null,
    cwd: '/p',
    tool: null,
    callId: null,
    paths: [],
    command: null,
    words: null,
    isQuestion: false,
    isFailure: false,
    source: 'startup',
  });
  const tool = {
    tool_name: 'mcp__synod__channels__send',
    tool_input: { channel: 'x' },
    tool_use_id: 'toolu_2',
    mcp_server: { name: 'synod', source: 'user' },
    effort: { level: 'medium' },
  };
  const table: readonly (readonly [Record<string, unknown>, Partial<HookEvent>])[] = [
    [
      { hook_event_name: 'UserPromptSubmit', prompt: 'hi' },
      { kind: 'turn_started', tool: null },
    ],
    [
      { hook_event_name: 'PreToolUse', ...tool },
      { kind: 'tool_about', tool: 'mcp__synod__channels__send', callId: 'toolu_2' },
    ],
    [
      { hook_event_name: 'PostToolUse', ...tool, tool_response: [{ type: 'text', text: '{}' }] },
      { kind: 'tool_used', isFailure: false },
    ],
    [
      { hook_event_name: 'PostToolUseFailure', ...tool, error: 'x' },
      { kind: 'tool_used', isFailure: true },
    ],
    [{ hook_event_name: 'Stop', stop_hook_active: false }, { kind: 'stop_requested' }],
    [{ hook_event_name: 'Stop', stop_hook_active: true }, { kind: 'stop_requested' }],
    [
      { hook_event_name: 'SubagentStop', agent_id: 'a7', agent_name: 'scout' },
      { kind: 'stop_requested', subagent: 'a7', agentName: 'scout' },
    ],
    [
      { hook_event_name: 'PermissionRequest', tool_name: 'Bash', tool_input: { command: 'ls' } },
      { kind: 'asked', tool: 'Bash', command: 'ls' },
    ],
    [
      { hook_event_name: 'Notification', notification_type: 'elicitation_dialog', message: 'Q' },
      { kind: 'asked', tool: null, words: 'Q' },
    ],
    [
      { hook_event_name: 'SessionEnd', reason: 'other' },
      { kind: 'session_ended', source: 'other' },
    ],
  ];
  for (const [input, event] of table) expect(read(input)).toMatchObject(event);
});

test('[HK1] what is not ours, or not whole, is not heard, and nothing in it can throw', () => {
  const inputs = [
    null,
    'x',
    [],
    {},
    { ...common },
    { ...common, hook_event_name: 'Notification' },
    { ...common, hook_event_name: 'PostToolBatch' },
    { ...common, hook_event_name: '__proto__' },
    { ...common, hook_event_name: 'toString' },
    { hook_event_name: 'Stop' },
    { hook_event_name: 'Stop', session_id: 7 },
    { hook_event_name: 'Stop', session_id: 'x'.repeat(300) },
  ];
  for (const input of inputs) expect(isUnheard(DIALECTS.claude.read(input))).toBe(true);
  const odd = { tool_name: 'Edit', tool_input: 'not an object', cwd: 3, tool_use_id: {} };
  expect(read({ hook_event_name: 'PreToolUse', ...odd })).toMatchObject({
    paths: [],
    command: null,
    cwd: null,
    callId: null,
  });
  expect(read({ hook_event_name: 'PreToolUse', tool_name: 'constructor' }).paths).toEqual([]);
});

test('[HK2] an edit says which file, a shell which command, any other tool neither', () => {
  const table: readonly (readonly [string, Record<string, unknown>, string[], string | null])[] = [
    ['Edit', { file_path: '/p/a', old_string: 'x' }, ['/p/a'], null],
    ['MultiEdit', { file_path: 'a' }, ['a'], null],
    ['Write', { file_path: '/p/b', content: 'x' }, ['/p/b'], null],
    ['NotebookEdit', { notebook_path: '/p/n.ipynb' }, ['/p/n.ipynb'], null],
    ['Read', { file_path: '/p/a' }, [], null],
    ['Bash', { command: 'rm a', description: 'x' }, [], 'rm a'],
    ['Bash', { command: 7 }, [], null],
    ['mcp__synod__claims__take', { paths: ['a'] }, [], null],
  ];
  for (const [tool_name, tool_input, paths, command] of table) {
    const event = read({ hook_event_name: 'PreToolUse', tool_name, tool_input });
    expect([event.paths, event.command]).toEqual([paths, command]);
  }
});

test('[HK3] each answer in the words of Claude Code', () => {
  const table: readonly (readonly [HookAnswer, string, unknown])[] = [
    [
      { act: 'inject', text: 'T' },
      'PostToolUse',
      { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'T' } },
    ],
    [
      { act: 'inject', text: 'T' },
      'UserPromptSubmit',
      { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'T' } },
    ],
    [
      { act: 'deny', reason: 'R' },
      'PreToolUse',
      {
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: 'R',
        },
      },
    ],
    [{ act: 'block', reason: 'R' }, 'Stop', { decision: 'block', reason: 'R' }],
    [{ act: 'block', reason: 'R' }, 'SubagentStop', { decision: 'block', reason: 'R' }],
  ];
  for (const [answer, name, json] of table) {
    expect(write(answer, name)).toEqual({ json, isDelivered: true });
  }
});

test('[HK5] consent is silence: it never answers a question meant for a person', () => {
  for (const name of ['PreToolUse', 'PostToolUse', 'Stop', 'SessionStart']) {
    for (const act of ['noop', 'allow'] as const) {
      expect(write({ act }, name)).toEqual({ json: null, isDelivered: true });
    }
  }
});

test('[HK6] what has no words there is handed back, and nothing is longer than what is kept', () => {
  const undelivered = { json: null, isDelivered: false };
  // Claude Code would go on with the turn for a text at its stop.
  expect(write({ act: 'inject', text: 'T' }, 'Stop')).toEqual(undelivered);
  expect(write({ act: 'inject', text: 'T' }, 'SessionEnd')).toEqual(undelivered);
  expect(write({ act: 'deny', reason: 'R' }, 'PostToolUse')).toEqual(undelivered);
  expect(write({ act: 'block', reason: 'R' }, 'PreToolUse')).toEqual(undelivered);
  const long = 'x'.repeat(20_000);
  const text = JSON.stringify(write({ act: 'inject', text: long }, 'PostToolUse').json);
  expect(text.length).toBeLessThan(INJECTED_CHARS_MAX + 200);
  const reason = write({ act: 'block', reason: `${long}` }, 'Stop').json?.reason as string;
  expect(reason).toHaveLength(REASON_CHARS_MAX);
  expect(write({ act: 'block', reason: '  ' }, 'Stop').json?.reason).toBe('Synod gave no reason.');
});
