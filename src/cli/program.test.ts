import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from './commands.ts';
import { createProgram } from './full-program.ts';
import { commandName, similarCommand, withoutFlagWord, withoutTransport } from './program.ts';
import { serveArguments } from './serve-arguments.ts';
import { addServeFlags } from './serve-flags.ts';
import { registerTeam } from './team.ts';

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

test('[CL5] up hands every flag on to the hub it starts', () => {
  const given = [
    ...['--host=::1', '--port=0', '--cors-origin=http://a', '--cors-origin=http://b'],
    ...['--no-socket', '--synapse', '--relay-lines=7', '--metrics=secret', '--no-discovery'],
    '--skip-mismatched-plugins',
  ];
  const parsed = addServeFlags(new Command()).parse(given, { from: 'user' });
  expect(serveArguments({ ...parsed.opts(), json: true, dir: '/x' })).toEqual(given);
  expect(serveArguments(addServeFlags(new Command()).parse([], { from: 'user' }).opts())).toEqual(
    [],
  );
});

test('help and version are words too', () => {
  expect(withoutFlagWord(['help'])).toEqual(['--help']);
  expect(withoutFlagWord(['--json', 'help', 'send'])).toEqual(['--json', 'send', '--help']);
  expect(withoutFlagWord(['send', 'help', 'me'])).toEqual(['send', 'help', 'me']);
  expect(withoutFlagWord(['version'])).toEqual(['--version']);
});

test.each([
  ['serve --transport http --port 0', 'serve --port 0'],
  ['serve --transport=stdio --as ada', 'mcp --tools sox --as ada'],
  ['serve --transport pigeon', 'serve --transport pigeon'],
  ['send a --transport', 'send a --transport'],
])('[CL32] SOX’s %s is %s', (said, meant) => {
  expect(withoutTransport(said.split(' ')).join(' ')).toBe(meant);
});

test('a misspelt command is recognised, and a strange one is not', () => {
  expect(similarCommand('foo')).toBeUndefined();
  expect(similarCommand('wait')).toBeUndefined();
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

test('[TE1] the help of teams says that a file alone will do', () => {
  const program = new Command('synod');
  registerTeam(program);
  const help = program.commands[0]?.helpInformation() ?? '';
  expect(help).toContain('team [command] FILE');
  expect(help).toContain('without a command it is started');
});
