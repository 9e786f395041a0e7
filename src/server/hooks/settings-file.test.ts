import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseDoorSettings } from '../../wire/hook-settings.ts';
import { openDoorSettings } from './settings-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'synod-settings-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('[HD7] nothing said is the defaults; both tables stand beside the policy', () => {
  expect(parseDoorSettings(null, {})).toMatchObject({
    policy: { reminder_threshold_tool_calls: 5, stop_blocks_max: 3 },
    guard: { mode: 'refuse' },
    wake: { mode: 'named', agents: {}, channels: {} },
  });
  const toml = `
    reminder_threshold_turns = 9
    [guard]
    mode = "claim"
    [wake]
    mode = "on"
    headless = false
    command = []`;
  expect(parseDoorSettings(toml, { SYNOD_STOP_BLOCKS_MAX: '2' })).toMatchObject({
    policy: { reminder_threshold_turns: 9, stop_blocks_max: 2 },
    guard: { mode: 'claim' },
    wake: { mode: 'on' },
  });
});

test.each([
  ['[guard]\nmode = "maybe"', 'guard.mode: must be refuse, claim or off'],
  ['[guard]\nmood = "off"', 'guard: Unrecognized key: "mood"'],
  ['guard = 7', 'guard: '],
  ['[wake]\nmode = "loud"', 'wake.mode: must be on, named or off'],
  ['[wake.agents]\nada = "no"', 'wake.agents.ada: must be on, named or off'],
  ['[wake]\nchannels = "x"', 'wake.channels: must be a table'],
  ['[wakes]\nmode = "on"', 'wakes: is not a setting'],
  ['[guard', 'line 1'],
])('[HD7] %j is refused by name', (toml, said) => {
  const problems = parseDoorSettings(toml, {});
  expect(problems).toEqual([expect.stringContaining(said)]);
});

test.each([
  ['[wake]\nheadless = true\n', ['wake.headless']],
  ['[wake]\nheadless = true\ncommand = ["claude", "-p"]\n', ['wake.headless', 'wake.command']],
])('[WA6] %j is refused with what to type instead', (toml, fields) => {
  const problems = parseDoorSettings(toml, {});
  expect(problems).toEqual(
    fields.map((field) => expect.stringMatching(`^${field}: .*synod agents manage NAME`)),
  );
});

test('[HD7] the file in the data directory, else the one of SOX_CONFIG_DIR; looked at again when it changes', () => {
  let at = 0;
  const troubles: string[] = [];
  const sox = join(dir, 'sox');
  mkdirSync(sox);
  writeFileSync(join(sox, 'policy.toml'), '[guard]\nmode = "off"\n');
  const onTrouble = (what: string): void => void troubles.push(what);
  const settings = openDoorSettings(dir, { SOX_CONFIG_DIR: sox }, onTrouble, () => (at += 2_000));
  expect(settings().guard.mode).toBe('off');
  writeFileSync(join(dir, 'policy.toml'), '[guard]\nmode = "claim"\n');
  expect(settings().guard.mode).toBe('claim');
  writeFileSync(join(dir, 'policy.toml'), '[guard]\nmode = "no such"\n');
  expect(settings().guard.mode).toBe('claim');
  expect(settings().guard.mode).toBe('claim');
  expect(troubles).toEqual([expect.stringMatching(/policy\.toml: guard\.mode: must be/)]);
});
