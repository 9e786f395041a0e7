/**
 * Arguments as they usually are, read without commander, which takes as long to load as the rest of a short
 * command takes to run [CL39]. A command declares itself once, to commander; here the same declaration is
 * noted by a stand-in, and an argument list is read by it that holds nothing but verbs, arguments and known
 * flags by their long names. Of everything else (help, short flags, `--`, a mistake, a way of declaring that the
 * stand-in does not know) the answer is null, before anything was done: commander reads it, and says what
 * is wrong.
 */
import type { Command } from 'commander';

/** What a handler is given of its command, whoever read the arguments. */
export type Arguments = Pick<Command, 'args' | 'optsWithGlobals'>;

export interface Reading extends Arguments {
  carryOut(): Promise<void>;
}

type Parse = (value: string, previous: unknown) => unknown;
type Action = (command: Arguments) => Promise<void>;

interface Flag {
  readonly key: string;
  readonly isNegated: boolean;
  /** `none` is a switch; `other` is for commander: a value that may be left out, or several. */
  readonly takes: 'none' | 'one' | 'other';
  readonly parse: Parse | null;
}

/** A command or a verb of one, as it was declared, and what was said to it. */
interface Draft {
  readonly flags: Map<string, Flag>;
  readonly values: Record<string, unknown>;
  readonly verbs: Map<string, Draft>;
  /** The verb that is meant where none is named. */
  usual: Draft | null;
  /** Keys of flags that must be said. */
  readonly needed: string[];
  least: number;
  most: number;
  action: Action | null;
}

/** Thrown by a declaration that is not plain; a handler has no business with it. */
const UNUSUAL = new Error('only commander knows this of a command');

/** Null when it is not plain: then it is commander's. */
export function readPlain(
  declare: (program: Command) => void,
  argv: readonly string[],
): Reading | null {
  const program = createDraft();
  try {
    declare(standIn('', program, new Map()));
  } catch (error) {
    if (error === UNUSUAL) return null;
    throw error;
  }
  const path = [program];
  const args: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] as string;
    if (word.length < 2 || !word.startsWith('-')) {
      if (!takeWord(path, args, word)) return null;
      continue;
    }
    const [name, joined] = cut(word);
    const found = findFlag(path, name);
    if (found === null || found.flag.takes === 'other') return null;
    const { flag, values } = found;
    if (flag.takes === 'none' && joined !== null) return null;
    const isNext = flag.takes === 'one' && joined === null;
    if (isNext) i += 1;
    const said = isNext ? argv[i] : joined;
    // The value may be missing, and this the next flag.
    if (said === undefined || (isNext && said !== null && /^-./s.test(said))) return null;
    const value = valueFor(flag, said, values[flag.key]);
    if (value == null) return null;
    values[flag.key] = value;
  }
  return readingOf(path, args);
}

/** A word that is no flag: a verb, or an argument of the one that is meant. */
function takeWord(path: Draft[], args: string[], word: string): boolean {
  const { verbs, usual } = path.at(-1) as Draft;
  const verb = verbs.get(word);
  if (verb !== undefined) {
    path.push(verb);
    return true;
  }
  if (verbs.size > 0) {
    // Every command with verbs has one for help, which commander adds.
    if (usual === null || word === 'help') return false;
    path.push(usual);
  }
  args.push(word);
  return true;
}

/** What an outer command knows is its own, wherever it stands; what it does not know ends its search for a verb. */
function findFlag(
  path: Draft[],
  name: string,
): { readonly flag: Flag; readonly values: Draft['values'] } | null {
  for (const { flags, values } of path) {
    const flag = flags.get(name);
    if (flag !== undefined) return { flag, values };
  }
  const usual = path.at(-1)?.usual ?? null;
  if (usual === null) return null;
  path.push(usual);
  const flag = usual.flags.get(name);
  return flag === undefined ? null : { flag, values: usual.values };
}

function readingOf(path: Draft[], args: string[]): Reading | null {
  const { usual } = path.at(-1) as Draft;
  if (usual !== null) path.push(usual);
  const { action, least, most, verbs } = path.at(-1) as Draft;
  if (action === null || verbs.size > 0 || args.length < least || args.length > most) return null;
  const isLacking = path.some(({ needed, values }) => needed.some((key) => !(key in values)));
  if (isLacking) return null;
  // Of two with one name the outer one counts.
  const flags = Object.assign({}, ...path.toReversed().map(valuesOf));
  const reading: Reading = {
    args,
    optsWithGlobals: () => flags,
    carryOut: () => action(reading),
  };
  return reading;
}

/** What can only be switched off is on. */
function valuesOf({ flags, values }: Draft): Record<string, unknown> {
  for (const [name, { key, isNegated }] of flags) {
    if (isNegated && !flags.has(name.replace('--no-', '--'))) values[key] ??= true;
  }
  return values;
}

/** `--flag=value` in its two parts. */
function cut(word: string): [name: string, value: string | null] {
  const at = word.indexOf('=');
  return at < 0 ? [word, null] : [word.slice(0, at), word.slice(at + 1)];
}

/** Null where it cannot be read: commander tries again, and tells. */
function valueFor(flag: Flag, said: string | null, previous: unknown): unknown {
  if (said === null) return !flag.isNegated;
  if (flag.parse === null) return said;
  try {
    return flag.parse(said, previous);
  } catch {
    return null;
  }
}

function createDraft(): Draft {
  return {
    flags: new Map(),
    values: {},
    verbs: new Map(),
    usual: null,
    needed: [],
    least: 0,
    most: 0,
    action: null,
  };
}

/** What declarations see in commander's place. Whatever else they ask it for is unusual. */
function standIn(name: string, draft: Draft, siblings: Map<string, Draft>): Command {
  const known = {
    name: () => name,
    description: () => self,
    alias(other: string) {
      siblings.set(other, draft);
      return self;
    },
    command(verb: string, options: { readonly isDefault?: boolean } = {}) {
      if (verb.includes(' ')) throw UNUSUAL;
      const inner = createDraft();
      draft.verbs.set(verb, inner);
      if (options.isDefault === true) draft.usual = inner;
      return standIn(verb, inner, draft.verbs);
    },
    argument(words: string, _text?: string, parse?: unknown) {
      if (typeof parse === 'function') throw UNUSUAL;
      if (words.startsWith('<')) draft.least += 1;
      draft.most += words.includes('...') ? Number.POSITIVE_INFINITY : 1;
      return self;
    },
    option(flags: string, _text?: string, parse?: unknown, fallback?: unknown) {
      const isParsed = typeof parse === 'function';
      note(draft, flags, isParsed ? (parse as Parse) : null, isParsed ? fallback : parse);
      return self;
    },
    requiredOption(flags: string, _text?: string, more?: unknown) {
      if (more !== undefined) throw UNUSUAL;
      draft.needed.push(note(draft, flags, null, undefined));
      return self;
    },
    action(action: Action) {
      draft.action = action;
      return self;
    },
  };
  const self = new Proxy(known, {
    get(target, asked) {
      if (Object.hasOwn(target, asked)) return Reflect.get(target, asked);
      throw UNUSUAL;
    },
  }) as unknown as Command;
  return self;
}

function note(draft: Draft, words: string, parse: Parse | null, fallback: unknown): string {
  const names = words.split(/[ |,]+/).filter((word) => word.startsWith('--'));
  const long = names.at(-1);
  if (long === undefined) throw UNUSUAL;
  const isNegated = long.startsWith('--no-');
  const key = camelCase(long.slice(isNegated ? '--no-'.length : '--'.length));
  const isOther = words.includes('[') || words.includes('...');
  const takes = isOther ? 'other' : words.includes('<') ? 'one' : 'none';
  // Commander has a meaning for each of these, and no command of ours uses it.
  if (takes === 'none' && parse !== null) throw UNUSUAL;
  if (fallback !== undefined) draft.values[key] = fallback;
  for (const name of names) draft.flags.set(name, { key, isNegated, takes, parse });
  return key;
}

function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
