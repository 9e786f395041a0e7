import { expect, test } from 'vitest';
import { type HookAnswer, type HookEvent, isUnheard } from '../hook-event.ts';
import { patchPaths } from './dialect.ts';
import { DIALECTS } from './vendors.ts';

const common = {
  session_id: '019a',
  transcript_path: null,
  cwd: '/p',
  model: 'm',
  permission_mode: 'bypassPermissions',
  turn_id: 't1',
};
function read(more: Record<string, unknown>): HookEvent {
  const event = DIALECTS.codex.read({ ...common, ...more });
  if (isUnheard(event)) throw new Error(event.unheard);
  return event;
}

const PATCH = `*** Begin Patch
*** Update File: src/a.ts
*** Move to: src/b.ts
@@
 *** Update File: only context
-*** Delete File: old words
+*** Add File: new words
*** Add File: with space.md
+hello
*** Delete File: gone.txt
*** End Patch`;

test('[HK1] what Codex sends is heard, as it was seen to send it', () => {
  const table: readonly (readonly [Record<string, unknown>, Partial<HookEvent>])[] = [
    [
      { hook_event_name: 'SessionStart', source: 'startup' },
      { kind: 'session_started', session: '019a', source: 'startup' },
    ],
    [{ hook_event_name: 'UserPromptSubmit', prompt: 'x' }, { kind: 'turn_started' }],
    [
      {
        hook_event_name: 'PreToolUse',
        tool_name: 'mcp__synod__channels__send',
        tool_input: {},
        tool_use_id: 'call_1',
      },
      { kind: 'tool_about', tool: 'mcp__synod__channels__send', callId: 'call_1' },
    ],
    [
      { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_response: 'out' },
      { kind: 'tool_used', isFailure: false },
    ],
    [
      { hook_event_name: 'PostToolUse', tool_name: 'x', tool_response: { isError: true } },
      { kind: 'tool_used', isFailure: true },
    ],
    [
      { hook_event_name: 'Stop', stop_hook_active: true, last_assistant_message: 'x' },
      { kind: 'stop_requested' },
    ],
    [{ hook_event_name: 'SubagentStop', agent_id: 'a1' }, { subagent: 'a1' }],
    [{ hook_event_name: 'SessionEnd', reason: 'other' }, { kind: 'session_ended' }],
  ];
  for (const [input, event] of table) expect(read(input)).toMatchObject(event);
  for (const hook_event_name of ['PreCompact', 'Interrupt']) {
    expect(isUnheard(DIALECTS.codex.read({ ...common, hook_event_name }))).toBe(true);
  }
});

test('[HK2] a patch names its files, by itself or given to a shell; a shell its command', () => {
  const files = ['src/a.ts', 'src/b.ts', 'with space.md', 'gone.txt'];
  expect(patchPaths(PATCH)).toEqual(files);
  expect(patchPaths(PATCH.replaceAll('\n', '\r\n'))).toEqual(files);
  // Blanks at the end of a line are taken off by whoever applies it, whichever they are.
  for (const blank of ['\r', '\u2028', ' \u2029\t']) {
    expect(patchPaths(PATCH.replaceAll('\n', `${blank}\n`))).toEqual(files);
  }
  const edit = { hook_event_name: 'PreToolUse', tool_name: 'apply_patch' };
  expect(read({ ...edit, tool_input: { command: PATCH } })).toMatchObject({
    paths: files,
    command: null,
  });
  const shell = { hook_event_name: 'PreToolUse', tool_name: 'Bash' };
  expect(read({ ...shell, tool_input: { command: 'rm -r x' } })).toMatchObject({
    paths: [],
    command: 'rm -r x',
    cwd: '/p',
  });
  const command = `apply_patch <<'EOF'\n${PATCH}\nEOF`;
  expect(read({ ...shell, tool_input: { command } })).toMatchObject({ paths: files, command });
  expect(read({ ...shell, tool_input: { command: `cat <<X\n${PATCH}\nX` } }).paths).toEqual([]);
});

/** Which fields Codex 0.166 takes at each event; with any other it voids the answer. */
const TOP = ['continue', 'stopReason', 'suppressOutput', 'systemMessage'];
const TAKES: Readonly<Record<string, { top: readonly string[]; nested: readonly string[] }>> = {
  SessionStart: {
    top: [...TOP, 'hookSpecificOutput'],
    nested: ['hookEventName', 'additionalContext'],
  },
  UserPromptSubmit: {
    top: [...TOP, 'decision', 'reason', 'hookSpecificOutput'],
    nested: ['hookEventName', 'additionalContext'],
  },
  PreToolUse: {
    top: [...TOP, 'decision', 'reason', 'hookSpecificOutput'],
    nested: [
      'hookEventName',
      'additionalContext',
      'permissionDecision',
      'permissionDecisionReason',
      'updatedInput',
    ],
  },
  PostToolUse: {
    top: [...TOP, 'decision', 'reason', 'hookSpecificOutput'],
    nested: ['hookEventName', 'additionalContext', 'updatedMCPToolOutput'],
  },
  Stop: { top: [...TOP, 'decision', 'reason'], nested: [] },
  SubagentStop: { top: [...TOP, 'decision', 'reason'], nested: [] },
  SessionEnd: { top: [], nested: [] },
};
const ANSWERS: readonly HookAnswer[] = [
  { act: 'noop' },
  { act: 'allow' },
  { act: 'inject', text: 'T' },
  { act: 'deny', reason: 'R' },
  { act: 'block', reason: 'R' },
  { act: 'block', reason: '' },
];

test('[HK4] no answer at any event holds a field that Codex does not take there', () => {
  for (const [hook_event_name, { top, nested }] of Object.entries(TAKES)) {
    const event = read({ hook_event_name, tool_name: 'Bash' });
    for (const answer of ANSWERS) {
      const { json } = DIALECTS.codex.write(answer, event);
      if (json === null) continue;
      expect(Object.keys(json).filter((key) => !top.includes(key))).toEqual([]);
      const inner = (json.hookSpecificOutput ?? { hookEventName: hook_event_name }) as object;
      expect(inner).toMatchObject({ hookEventName: hook_event_name });
      const keys = 'hookSpecificOutput' in json ? Object.keys(inner) : [];
      expect(keys.filter((key) => !nested.includes(key))).toEqual([]);
      // A refusal without a reason, and consent, void the answer too.
      expect(JSON.stringify(json)).not.toMatch(/"(reason|permissionDecisionReason)":"\s*"|"allow"/);
    }
  }
});

test('[HK3] each answer in the words of Codex', () => {
  const write = (answer: HookAnswer, hook_event_name: string) =>
    DIALECTS.codex.write(answer, read({ hook_event_name, tool_name: 'Bash' }));
  for (const name of ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse']) {
    expect(write({ act: 'inject', text: 'T' }, name).json).toEqual({
      hookSpecificOutput: { hookEventName: name, additionalContext: 'T' },
    });
  }
  expect(write({ act: 'deny', reason: 'R' }, 'PreToolUse').json).toEqual({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: 'R',
    },
  });
  expect(write({ act: 'block', reason: 'R' }, 'Stop').json).toEqual({
    decision: 'block',
    reason: 'R',
  });
  expect(write({ act: 'allow' }, 'PreToolUse')).toEqual({ json: null, isDelivered: true });
});

test('[HK6] Codex has no field for a text at a stop, so it is handed back', () => {
  for (const name of ['Stop', 'SubagentStop', 'SessionEnd']) {
    const event = read({ hook_event_name: name });
    expect(DIALECTS.codex.write({ act: 'inject', text: 'T' }, event)).toEqual({
      json: null,
      isDelivered: false,
    });
  }
});
