import { expect, test } from 'vitest';
import { DEFAULT_POLICY, isPolicy, type Policy, parsePolicy, spokenPolicy } from './policy.ts';

function good(toml: string | null, env: Record<string, string> = {}): Policy {
  const parsed = parsePolicy({ toml, env });
  if (!isPolicy(parsed)) throw new Error(JSON.stringify(parsed));
  return parsed;
}
function bad(toml: string | null, env: Record<string, string> = {}): string[] {
  const parsed = parsePolicy({ toml, env });
  return isPolicy(parsed) ? [] : parsed.map(({ field, message }) => `${field}: ${message}`);
}

test('[CD9] without a file and variables the defaults of SOX hold, and blocks end after three', () => {
  expect(good(null)).toEqual(DEFAULT_POLICY);
  expect(good('# nothing but a comment\n')).toEqual(DEFAULT_POLICY);
  const { reminder_text_drain: a, reminder_text_drain_on_stop: b, ...rest } = DEFAULT_POLICY;
  expect(rest).toMatchObject({
    reminder_threshold_tool_calls: 5,
    reminder_threshold_turns: 3,
    force_drain_on_stop: true,
    send_followed_by_idle_turns: 3,
    suspect_send_and_wait: true,
    stop_blocks_max: 3,
  });
  expect(a).toContain('{{recv_tool}}');
  expect(b).toContain('{{recv_tool}}');
});

test('[CD9] the environment wins over the file, and a SYNOD_ name over a SOX_ name', () => {
  const toml = 'reminder_threshold_tool_calls = 8\nforce_drain_on_stop = true\nstop_blocks_max = 2';
  expect(good(toml)).toMatchObject({ reminder_threshold_tool_calls: 8, stop_blocks_max: 2 });
  const sox = { SOX_REMINDER_THRESHOLD: '9', SOX_FORCE_DRAIN_ON_STOP: 'False' };
  expect(good(toml, sox)).toMatchObject({
    reminder_threshold_tool_calls: 9,
    force_drain_on_stop: false,
    stop_blocks_max: 2,
  });
  const both = { ...sox, SYNOD_REMINDER_THRESHOLD: '1', SYNOD_FORCE_DRAIN_ON_STOP: '1' };
  expect(good(toml, both)).toMatchObject({
    reminder_threshold_tool_calls: 1,
    force_drain_on_stop: true,
  });
  expect(good(toml, { SOX_REMINDER_THRESHOLD: '' }).reminder_threshold_tool_calls).toBe(8);
  const rest = {
    SYNOD_REMINDER_THRESHOLD_TURNS: '4',
    SYNOD_SEND_FOLLOWED_BY_IDLE_TURNS: '6',
    SYNOD_SUSPECT_SEND_AND_WAIT: 'off',
    SYNOD_STOP_BLOCKS_MAX: '5',
  };
  expect(good(null, rest)).toMatchObject({
    reminder_threshold_turns: 4,
    send_followed_by_idle_turns: 6,
    suspect_send_and_wait: false,
    stop_blocks_max: 5,
  });
});

test('[CD9] each problem names the field and what is allowed, and all are told at once', () => {
  const table: readonly (readonly [string, string])[] = [
    ['reminder_threshold_turns = 0', 'reminder_threshold_turns: must be a whole number from 1 to'],
    ['stop_blocks_max = 99', 'stop_blocks_max: must be a whole number from 1 to 7 (found 99)'],
    ['force_drain_on_stop = "yes"', 'force_drain_on_stop: must be true or false (found "yes")'],
    ['reminder_text_drain = "read!"', 'reminder_text_drain: must contain {{recv_tool}}'],
    ['reminder_text_drain = " "', 'reminder_text_drain: must be text of 1 to 1500 characters'],
    ['reminder_text_send_and_wait = "{{x}}"', 'reminder_text_send_and_wait: knows no token but'],
    ['reminder_treshold_turns = 3', 'reminder_treshold_turns: is not a setting; known are'],
    ['[cadence]\nstop_blocks_max = 2', 'cadence: is not a setting'],
    ['__proto__ = 1', '__proto__: is not a setting'],
  ];
  for (const [toml, start] of table) {
    const [first = ''] = bad(toml);
    expect(first.slice(0, start.length)).toBe(start);
  }
  expect(bad('stop_blocks_max = 0\nx = 1', { SOX_REMINDER_THRESHOLD: 'five' })).toHaveLength(3);
  expect(bad(null, { SOX_REMINDER_THRESHOLD: '1.5' })[0]).toContain('SOX_REMINDER_THRESHOLD: must');
});

test('[CD9] a file that is not TOML is named by line and column', () => {
  const [problem] = bad('stop_blocks_max = 2\nreminder_threshold_turns = = 3\n');
  expect(problem).toMatch(/^line 2, column \d+: .*remove the file to go by the defaults$/);
  expect(parsePolicy({ toml: 'x', env: {} })).toMatchObject([{ code: 'policy.not-toml' }]);
});

test('[CD9] the tool is named in every text before it is shown, also a tool with a $ in its name', () => {
  const policy = good('reminder_text_send_and_wait = "{{recv_tool}} or {{recv_tool}}"');
  const spoken = spokenPolicy(policy, 'mcp__$&__recv');
  expect(spoken.reminder_text_send_and_wait).toBe('mcp__$&__recv or mcp__$&__recv');
  expect(JSON.stringify(spoken)).not.toContain('{{');
});
