import { expect, test } from 'vitest';
import { type HookAnswer, type HookEvent, isUnheard } from '../hook-event.ts';
import { DIALECTS } from './vendors.ts';

function read(more: Record<string, unknown>): HookEvent {
  const event = DIALECTS.opencode.read({ session_id: 'ses_1', cwd: '/p', ...more });
  if (isUnheard(event)) throw new Error(event.unheard);
  return event;
}

test('[HK1] what our plugin posts for opencode is heard', () => {
  const table: readonly (readonly [string, HookEvent['kind']])[] = [
    ['session.created', 'session_started'],
    ['chat.message', 'turn_started'],
    ['tool.execute.before', 'tool_about'],
    ['tool.execute.after', 'tool_used'],
    ['session.idle', 'stop_requested'],
    ['session.deleted', 'session_ended'],
  ];
  for (const [hook_event_name, kind] of table) {
    const event = read({ hook_event_name, tool_name: 'synod_channels__recv', tool_use_id: 'c1' });
    const tool = kind.startsWith('tool_') ? 'synod_channels__recv' : null;
    expect(event).toMatchObject({ kind, session: 'ses_1', tool, callId: 'c1', vendor: 'opencode' });
  }
  expect(
    isUnheard(DIALECTS.opencode.read({ session_id: 'x', hook_event_name: 'file.edited' })),
  ).toBe(true);
});

test('[HK2] an edit or a patch says which files, a shell which command and where it runs', () => {
  const about = (tool_name: string, tool_input: unknown): HookEvent =>
    read({ hook_event_name: 'tool.execute.before', tool_name, tool_input });
  expect(about('edit', { filePath: '/p/a' }).paths).toEqual(['/p/a']);
  expect(about('write', { filePath: '/p/b' }).paths).toEqual(['/p/b']);
  const patchText = '*** Begin Patch\n*** Add File: c\n+x\n*** End Patch';
  expect(about('apply_patch', { patchText }).paths).toEqual(['c']);
  expect(about('bash', { command: 'ls', workdir: 'sub' })).toMatchObject({
    command: 'ls',
    cwd: '/p/sub',
  });
  expect(about('read', { filePath: '/p/a' }).paths).toEqual([]);
});

test('[HK3] each answer as something the plugin can do', () => {
  const table: readonly (readonly [HookAnswer, string, unknown])[] = [
    [{ act: 'deny', reason: 'R' }, 'tool.execute.before', { throw: 'R' }],
    [{ act: 'inject', text: 'T' }, 'tool.execute.after', { append: 'T' }],
    [{ act: 'inject', text: 'T' }, 'chat.message', { append: 'T' }],
    [{ act: 'block', reason: 'R' }, 'session.idle', { prompt: 'R' }],
    [{ act: 'allow' }, 'tool.execute.before', null],
    [{ act: 'noop' }, 'session.idle', null],
  ];
  for (const [answer, hook_event_name, json] of table) {
    const event = read({ hook_event_name, tool_name: 'edit' });
    expect(DIALECTS.opencode.write(answer, event)).toEqual({ json, isDelivered: true });
  }
});

test('[HK6] what the plugin can do nothing with is handed back', () => {
  const table: readonly (readonly [HookAnswer, string])[] = [
    [{ act: 'inject', text: 'T' }, 'tool.execute.before'],
    [{ act: 'inject', text: 'T' }, 'session.idle'],
    [{ act: 'inject', text: 'T' }, 'session.created'],
    [{ act: 'deny', reason: 'R' }, 'tool.execute.after'],
    [{ act: 'block', reason: 'R' }, 'chat.message'],
  ];
  for (const [answer, hook_event_name] of table) {
    const event = read({ hook_event_name, tool_name: 'edit' });
    expect(DIALECTS.opencode.write(answer, event)).toEqual({ json: null, isDelivered: false });
  }
});
