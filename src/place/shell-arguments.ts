/**
 * The arguments of a command, read by a table of the options it knows, and the two shapes of writing:
 * every operand is written, or all but the last go to the last. An option that is not in the table
 * is returned as such: what it does to the operands nobody here can say.
 */
import { trimmedEnd } from '../core/law/trimmed-end.ts';
import type { Word } from './shell-words.ts';

/** `file`: that path. `tree`: that path and all below it. `folder`: the folder itself, nothing below it. */
export type Reach = 'file' | 'tree' | 'folder';

export interface Write {
  readonly path: string;
  readonly reach: Reach;
  /** Whether a symlink there stands for what it points to. */
  readonly isFollowed: boolean;
}

export interface Effect {
  readonly writes: readonly Write[];
  /** Why there may be more; null when this is all. */
  readonly doubt: string | null;
}

/** Whether a folder is there now; undefined when nobody can say. */
export type FolderTest = (path: string) => boolean | undefined;

export interface Options {
  /** Letters that stand alone, and letters that take a value. */
  readonly flags: string;
  readonly valued?: string;
  readonly long?: readonly string[];
  /** Long options with a value, after `=` or as the next word. */
  readonly longValued?: readonly string[];
}

export interface Arguments {
  readonly options: ReadonlyMap<string, string | null>;
  readonly operands: readonly Word[];
}

export function doubtful(doubt: string, writes: readonly Write[] = []): Effect {
  return { writes, doubt };
}

/** Options and operands, or the option that is not known. */
export function parseArguments(args: readonly Word[], known: Options): Arguments | string {
  const options = new Map<string, string | null>();
  const operands: Word[] = [];
  for (let i = 0; i < args.length; i++) {
    const word = args[i] as Word;
    if (word.text === '--') {
      operands.push(...args.slice(i + 1));
      break;
    }
    if (!word.text.startsWith('-') || word.text === '-') {
      operands.push(word);
      continue;
    }
    if (!word.isLiteral) return word.text;
    const [name = '', value] = splitOnce(word.text);
    if (known.long?.includes(name) && value === undefined) options.set(name, null);
    else if (known.longValued?.includes(name)) {
      const given = value ?? literalOf(args[++i]);
      if (given === null) return name;
      options.set(name, given);
    } else if (word.text.startsWith('--')) return name;
    else {
      for (let at = 1; at < word.text.length; at++) {
        const letter = word.text[at] as string;
        if (known.flags.includes(letter)) options.set(letter, null);
        else if (known.valued?.includes(letter)) {
          const next = word.text.slice(at + 1) || literalOf(args[++i]);
          if (next === null) return `-${letter}`;
          options.set(letter, next);
          break;
        } else return `-${letter}`;
      }
    }
  }
  return { options, operands };
}

function literalOf(word: Word | undefined): string | null {
  return word?.isLiteral === true ? word.text : null;
}

function splitOnce(text: string): [string, string | undefined] {
  const at = text.startsWith('--') ? text.indexOf('=') : -1;
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** Every operand is a file that is written. */
export function eachOperand(operands: readonly Word[], reach: Reach, isFollowed: boolean): Effect {
  const writes = operands
    .filter(({ isLiteral }) => isLiteral)
    .map(({ text }) => ({ path: text, reach, isFollowed }));
  const vague = operands.find(({ isLiteral }) => !isLiteral);
  return vague === undefined
    ? { writes, doubt: null }
    : doubtful(`"${vague.text}" is not literal`, writes);
}

/** Files that go to a last operand, or into it when it is a folder. */
export function intoLast(
  operands: readonly Word[],
  isFolder: FolderTest,
  how: { readonly reach: Reach; readonly folder?: string; readonly isPlain?: boolean },
): Effect {
  const vague = operands.find(({ isLiteral }) => !isLiteral);
  if (vague !== undefined) return doubtful(`"${vague.text}" is not literal`);
  const names = operands.map(({ text }) => text);
  const last = how.folder ?? names.pop();
  if (last === undefined || names.length === 0) return doubtful('a source and a target are needed');
  const isInto =
    how.isPlain === true
      ? false
      : how.folder !== undefined || names.length > 1 || last.endsWith('/') || isFolder(last);
  if (isInto === undefined) return doubtful(`"${last}" may or may not be a folder by then`);
  if (!isInto) return { writes: [{ path: last, reach: how.reach, isFollowed: true }], doubt: null };
  const entries = names.map((name) => trimmedEnd(name, '/').split('/').at(-1) ?? '');
  if (entries.some((entry) => entry === '' || entry === '.' || entry === '..')) {
    return doubtful(`what goes into "${last}" has no name of its own`);
  }
  const folder = trimmedEnd(last, '/');
  const writes = entries.map((entry) => ({
    path: `${folder}/${entry}`,
    reach: how.reach,
    isFollowed: true,
  }));
  return { writes, doubt: null };
}
