/**
 * Whether a program may be executed with these arguments. Programs are told apart by where they lie, not by
 * what they are called; a rule without arguments allows none, and no rules allow nothing. What the policy
 * lets somebody write is not executed: its name would be that of the program, its content anybody's [PO8].
 */
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { allow, deny, type Ruling } from './decision.ts';
import { judgePath, type Roots } from './paths.ts';
import type { ExecuteRule } from './policy.ts';

const ARGS_MAX = 4_096;
const ARG_CHARS_MAX = 131_072;

export interface Program {
  /** The name it is called by, in the real path of its folder: some programs do what they are called. */
  readonly entry: string;
  /** The file behind it. */
  readonly file: string;
}

export interface ProgramRule {
  readonly said: string;
  readonly args: readonly string[];
  /** Null when it was not there as the guard was made. */
  readonly program: Program | null;
}

export interface Where {
  readonly cwd: string;
  /** PATH. */
  readonly path: string;
}

export async function readProgramRules(
  rules: readonly ExecuteRule[],
  where: Where,
): Promise<ProgramRule[]> {
  return Promise.all(
    rules.map(async ({ program, args = [] }) => ({
      said: `execute ${[program, ...args].join(' ')}`,
      args,
      program: await findProgram(program, where),
    })),
  );
}

export async function findProgram(name: string, { cwd, path }: Where): Promise<Program | null> {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  const places = /[\\/]/.test(name)
    ? [resolve(cwd, name)]
    : folders.map((folder) => join(folder, name));
  for (const place of places) {
    try {
      const file = await realpath(place);
      await access(file, constants.X_OK);
      if (!(await stat(file)).isFile()) continue;
      return { entry: join(await realpath(dirname(place)), basename(place)), file };
    } catch {
      // The next folder of PATH.
    }
  }
  return null;
}

/** Null when the arguments are no arguments. */
export function checkArgs(program: unknown, args: unknown): string | null {
  if (typeof program !== 'string' || program === '' || program.includes('\0')) {
    return 'a program is a text that is not empty';
  }
  if (!Array.isArray(args) || args.length > ARGS_MAX) {
    return `arguments are a list of at most ${ARGS_MAX}`;
  }
  const isBad = (arg: unknown): boolean =>
    typeof arg !== 'string' || arg.includes('\0') || arg.length > ARG_CHARS_MAX;
  return args.some(isBad) ? 'an argument is a text without NUL' : null;
}

export function judgeProgram(
  name: string,
  program: Program | null,
  args: readonly string[],
  rules: readonly ProgramRule[],
  roots: Roots,
): Ruling {
  const what = [program?.entry ?? name, ...args].join(' ');
  const no = (why: string): Ruling => deny('execute', what, 'guard.no-rule', why);
  if (rules.length === 0) return no('the policy allows no program: add one to `execute`');
  if (program === null) return no(`${JSON.stringify(name)} is no program here`);
  const same = rules.filter(
    (rule) => rule.program?.entry === program.entry && rule.program.file === program.file,
  );
  if (same.length === 0) return no('the policy does not name this program: add it to `execute`');
  const rule = same.find((one) => matchesArgs(one.args, args));
  if (rule === undefined) {
    return no(`the policy allows this program, with other arguments: ${same[0]?.said ?? ''}`);
  }
  const isWritable = [program.entry, program.file].some(
    (path) => judgePath('write', path, roots).allowed || judgePath('delete', path, roots).allowed,
  );
  if (isWritable) {
    const why = 'the policy lets somebody write this program: take it out of `write` and `delete`';
    return deny('execute', what, 'guard.writable-program', why);
  }
  return allow('execute', what, rule.said, { path: program.entry });
}

export function matchesArgs(patterns: readonly string[], args: readonly string[]): boolean {
  const isOpen = patterns.at(-1) === '**';
  const fixed = isOpen ? patterns.slice(0, -1) : patterns;
  if (args.length < fixed.length || (!isOpen && args.length > fixed.length)) return false;
  return fixed.every((pattern, at) => matchesArg(pattern, args[at] ?? ''));
}

function matchesArg(pattern: string, arg: string): boolean {
  if (!pattern.includes('*')) return pattern === arg;
  if (pattern.startsWith('*') && arg.startsWith('-')) return false;
  // Piece by piece and from the left: never more steps than characters.
  const pieces = pattern.split('*');
  const [first = ''] = pieces;
  const last = pieces.at(-1) ?? '';
  if (!arg.startsWith(first) || !arg.endsWith(last)) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = arg.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return at <= arg.length - last.length;
}
