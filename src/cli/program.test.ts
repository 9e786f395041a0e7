import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from './commands.ts';
import { commandName, createProgram, similarCommand } from './program.ts';
import { addServeFlags } from './serve-flags.ts';

test.each([
  [['send', 'a', 'b'], 'send'],
  [['--as', 'recv', 'send'], 'send'],
  [['--as=recv', '--json', 'send'], 'send'],
  [['--port', '0', '--json'], null],
  [['--help'], null],
  [[], null],
  [['--', 'send'], null],
])('%j asks for %s', (argv, name) => {
  expect(commandName(argv)).toBe(name);
});

test('every value flag of serve is known where plain `synod` takes it', () => {
  for (const { long, required } of addServeFlags(new Command()).options) {
    if (required) expect(commandName([long as string, 'x'])).toBe(null);
  }
});

test('a misspelt command is recognised, and a strange one is not', () => {
  expect(similarCommand('sned')).toBe('send');
  expect(similarCommand('chanels')).toBe('channels');
  expect(similarCommand('frobnicate')).toBeUndefined();
});

describe('the first help screen', () => {
  const help = createProgram(() => '').helpInformation();

  test('names every command', () => {
    for (const { name } of COMMANDS)
      expect(help).toMatch(new RegExp(`^  (also: .*)?\\b${name}\\b`, 'm'));
  });

  test('fits one screen', () => {
    const lines = help.split('\n');
    expect(lines.length).toBeLessThanOrEqual(50);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});

test('every entry registers the command of its name', async () => {
  for (const { name, load } of COMMANDS) {
    const program = new Command();
    (await load())(program);
    expect(program.commands.map((command) => command.name())).toEqual([name]);
  }
});
