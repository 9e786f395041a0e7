/**
 * Goal: what is read without commander is read as commander reads it.
 * Method: for every command there is, argument lists by chance of its own flags, verbs and words, and of what
 * is unusual. Commander itself is the judge: where the short way answers, both must have read the same.
 */
import type { Command } from 'commander';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { COMMANDS } from './commands.ts';
import { createProgram } from './full-program.ts';
import { readPlain } from './plain-arguments.ts';
import { declareGlobals, findCommand } from './program.ts';

type Register = (program: Command) => void;
interface Read {
  readonly args: readonly string[];
  readonly flags: object;
}

async function readByCommander(
  register: Register,
  argv: readonly string[],
): Promise<Read | string> {
  const program = createProgram(() => '');
  register(program);
  let read: Read | null = null;
  const listen = (command: Command): void => {
    if (command.commands.length === 0) {
      command.action((...given) => {
        const self = given.at(-1) as Command;
        read = { args: self.args, flags: self.optsWithGlobals() };
      });
    }
    command.commands.forEach(listen);
  };
  program.commands.forEach(listen);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    return `refused: ${(error as Error).message}`;
  }
  return read ?? 'nothing was called';
}

function readPlainly(register: Register, argv: readonly string[]): Read | null {
  const declare: Register = (program) => {
    declareGlobals(program);
    register(program);
  };
  const reading = readPlain(declare, argv);
  return reading === null ? null : { args: reading.args, flags: reading.optsWithGlobals() };
}

/** Words that a list for this command may hold: those it knows, and some that nobody does. */
function wordsFor(register: Register): string[] {
  const program = createProgram(() => '');
  register(program);
  const words = new Set<string>();
  const visit = (command: Command): void => {
    for (const { long } of command.options) {
      if (long == null || long === '--version') continue;
      for (const word of [long, `${long}=7`, `${long}=`]) words.add(word);
    }
    for (const one of command.commands) {
      for (const name of [one.name(), ...one.aliases()]) words.add(name);
      visit(one);
    }
  };
  visit(program);
  return [...words];
}

const VALUES = ['x', '7', '5m', '-', '', 'team/plan', '{"a":1}', 'ndjson', 'two words', 'a=b'];
const ODD = ['--', '-x', '-7', 'help', '--help', '-h', '--nope', '--as', '--json=1', '--no-json'];
const RUNS = 300;

test.each(COMMANDS.map(({ name, load }) => [name, load] as const))(
  '[CL39] what is read plainly of synod %s is what commander reads',
  async (name, load) => {
    const register = await load();
    const word = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...wordsFor(register)) },
      { weight: 4, arbitrary: fc.constantFrom(...VALUES) },
      { weight: 1, arbitrary: fc.constantFrom(...ODD) },
    );
    const before = fc.constantFrom<string[]>(
      [],
      [],
      [],
      ['--json'],
      ['--as', 'ada'],
      ['--as=send'],
    );
    await fc.assert(
      fc.asyncProperty(before, fc.array(word, { maxLength: 7 }), async (first, rest) => {
        const argv = [...first, name, ...rest];
        const plain = readPlainly(register, argv);
        if (plain !== null) expect(await readByCommander(register, argv)).toEqual(plain);
      }),
      { numRuns: RUNS },
    );
  },
);

test.each([
  ['send team/plan hello --as ada'],
  ['--as ada --json send team/plan hello --reply-to=m1 --ttl 5m'],
  ['send team/plan --body -'],
  ['recv --as ada --wait 30 --max 5 --channel a --channel b'],
  ['claim T1 src/a.ts src/b.ts --ttl 30m --note why'],
  ['claim T1 --no-paths'],
  ['release T1 --evidence done'],
  ['claims'],
  ['claims --as ada'],
  ['board --ready --limit 20'],
  ['task progress T1 half'],
  ['ack m1 done'],
  ['who'],
  ['status --json'],
  ['call channels.list {}'],
  ['serve --port 0 --dir /tmp/x --auth open --json'],
  ['--port 0 --no-socket'],
  ['bus --config /tmp/x.json --stdio'],
  ['worker echo'],
])('[CL39] commander is not asked to read: synod %s', async (said) => {
  const argv = said.split(' ');
  const name = COMMANDS.find((one) => argv.includes(one.name))?.name ?? 'serve';
  const register = (await findCommand(name)?.load()) as Register;
  const plain = readPlainly(register, argv);
  expect(plain).not.toBe(null);
  expect(await readByCommander(register, argv)).toEqual(plain);
});

test.each([
  ['send --help'],
  ['send'],
  ['send a b c'],
  ['send a b --nope'],
  ['send a b --tier high'],
  ['send a b --title'],
  ['send a -- -b'],
  ['claims help'],
  ['task'],
  ['person drop-passkey -x'],
])('[CL39] commander is asked to read: synod %s', async (said) => {
  const argv = said.split(' ');
  const register = (await findCommand(argv[0] as string)?.load()) as Register;
  expect(readPlainly(register, argv)).toBe(null);
});

test('[CL39] a flag may be declared in any order, and the outer one of two counts', () => {
  const declare: Register = (program) => {
    program.option('--name <x>').option('--no-sound');
    const inner = program.command('a').command('b', { isDefault: true });
    inner.option('--no-light').option('--light <x>').option('--name <x>');
    inner.action(() => {});
  };
  expect(readPlain(declare, ['a', '--name', 'x'])?.optsWithGlobals()).toEqual({
    name: 'x',
    sound: true,
  });
  expect(readPlain(declare, ['a', 'b', '--no-light'])?.optsWithGlobals()).toEqual({
    light: false,
    sound: true,
  });
});
