import { expect, test } from 'vitest';
import { type HookAnswer, type HookEvent, isUnheard } from '../hook-event.ts';
import { DIALECTS } from './vendors.ts';

const common = {
  session_id: 'g1',
  transcript_path: '/t',
  cwd: '/p',
  timestamp: '2026-01-01T00:00:00.000Z',
};
function read(more: Record<string, unknown>): HookEvent {
  const event = DIALECTS.gemini.read({ ...common, ...more });
  if (isUnheard(event)) throw new Error(event.unheard);
  return event;
}

test('[HK1] what Gemini CLI sends is heard', () => {
  const table: readonly (readonly [Record<string, unknown>, Partial<HookEvent>])[] = [
    [
      { hook_event_name: 'SessionStart', source: 'resume' },
      { kind: 'session_started', session: 'g1', source: 'resume' },
    ],
    [{ hook_event_name: 'BeforeAgent', prompt: 'x' }, { kind: 'turn_started' }],
    [
      { hook_event_name: 'BeforeTool', tool_name: 'mcp_synod_channels__recv', tool_input: {} },
      { kind: 'tool_about', tool: 'mcp_synod_channels__recv' },
    ],
    [
      { hook_event_name: 'AfterTool', tool_name: 'x', tool_response: { llmContent: 'y' } },
      { kind: 'tool_used', isFailure: false },
    ],
    [
      { hook_event_name: 'AfterTool', tool_name: 'x', tool_response: { error: { message: 'e' } } },
      { kind: 'tool_used', isFailure: true },
    ],
    [
      { hook_event_name: 'AfterAgent', prompt_response: 'x', stop_hook_active: true },
      { kind: 'stop_requested' },
    ],
    [
      { hook_event_name: 'SessionEnd', reason: 'exit' },
      { kind: 'session_ended', source: 'exit' },
    ],
  ];
  for (const [input, event] of table) expect(read(input)).toMatchObject(event);
  for (const hook_event_name of ['BeforeModel', 'AfterModel', 'Notification', 'PreCompress']) {
    expect(isUnheard(DIALECTS.gemini.read({ ...common, hook_event_name }))).toBe(true);
  }
});

test('[HK2] an edit says which file, a shell which command and where it runs', () => {
  const about = (tool_name: string, tool_input: unknown): HookEvent =>
    read({ hook_event_name: 'BeforeTool', tool_name, tool_input });
  expect(about('replace', { file_path: '/p/a' }).paths).toEqual(['/p/a']);
  expect(about('write_file', { file_path: 'b', content: '' }).paths).toEqual(['b']);
  expect(about('read_file', { file_path: 'b' }).paths).toEqual([]);
  const shell = (tool_input: unknown) => {
    const { command, cwd } = about('run_shell_command', tool_input);
    return [command, cwd];
  };
  expect(shell({ command: 'ls' })).toEqual(['ls', '/p']);
  expect(shell({ command: 'ls', dir_path: 'sub' })).toEqual(['ls', '/p/sub']);
  expect(shell({ command: 'ls', dir_path: '/q' })).toEqual(['ls', '/q']);
});

test('[HK3] each answer in the words of Gemini CLI', () => {
  const write = (answer: HookAnswer, hook_event_name: string) =>
    DIALECTS.gemini.write(answer, read({ hook_event_name, tool_name: 'replace' }));
  for (const name of ['SessionStart', 'BeforeAgent', 'AfterTool']) {
    expect(write({ act: 'inject', text: 'T' }, name)).toEqual({
      json: { hookSpecificOutput: { hookEventName: name, additionalContext: 'T' } },
      isDelivered: true,
    });
  }
  const deny = { json: { decision: 'deny', reason: 'R' }, isDelivered: true };
  expect(write({ act: 'deny', reason: 'R' }, 'BeforeTool')).toEqual(deny);
  expect(write({ act: 'block', reason: 'R' }, 'AfterAgent')).toEqual(deny);
  expect(write({ act: 'allow' }, 'BeforeTool')).toEqual({ json: null, isDelivered: true });
});

test('[HK6] before a tool it takes no text, and a prompt or a result is never thrown away', () => {
  const write = (answer: HookAnswer, hook_event_name: string) =>
    DIALECTS.gemini.write(answer, read({ hook_event_name, tool_name: 'replace' }));
  const undelivered = { json: null, isDelivered: false };
  for (const name of ['BeforeTool', 'AfterAgent', 'SessionEnd']) {
    expect(write({ act: 'inject', text: 'T' }, name)).toEqual(undelivered);
  }
  // `deny` would discard the person's prompt here, and the tool's result there.
  for (const name of ['BeforeAgent', 'AfterTool', 'SessionStart']) {
    expect(write({ act: 'deny', reason: 'R' }, name)).toEqual(undelivered);
    expect(write({ act: 'block', reason: 'R' }, name)).toEqual(undelivered);
  }
});
