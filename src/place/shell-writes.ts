/**
 * Which paths a shell command would write, for the guard: only those that are written without doubt.
 *
 * `isCertain` means that these are all. A command that is not understood, in whole or in part, keeps
 * what was certain in it and says why there may be more; nothing is ever guessed [GI17]. After a
 * `cd` whose outcome is not certain, relative paths are not certain either.
 */
import { trimmedEnd } from '../core/law/trimmed-end.ts';
import type { FolderTest, Write } from './shell-arguments.ts';
import { effectOf } from './shell-effects.ts';
import { type Redirect, readShell, type SimpleCommand, type Word } from './shell-words.ts';

export interface ShellWrites {
  readonly writes: readonly Write[];
  readonly isCertain: boolean;
  /** Null when certain. */
  readonly why: string | null;
}

/** Commands that may change the folder, or what later words mean. */
const SHAKERS = new Set(
  'pushd popd eval source . alias unalias set shopt trap exec builtin'.split(' '),
);
/** Words before the command proper. */
const PREFIXES = new Set(['command', 'nohup', 'sudo']);

export function shellWrites(text: string, isFolder: FolderTest = () => undefined): ShellWrites {
  const reading = readShell(text);
  const writes: Write[] = [];
  let why = reading.end;
  const doubt = (reason: string): void => {
    why ??= reason;
  };
  /** The folder relative paths start from, as written; null when it is not certain. */
  let place: string | null = '';
  let hasMoved = false;
  /** A folder test is about now: what an earlier command may have made or removed is open. */
  const testFolder: FolderTest = (path) => {
    const full = place === null ? null : joined(place, path);
    if (full === null || why !== null || writes.some((write) => isNear(write.path, full)))
      return undefined;
    return isFolder(full);
  };
  const add = (write: Write): void => {
    const path = place === null && !isRooted(write.path) ? null : joined(place ?? '', write.path);
    if (path === null) doubt(`where "${write.path}" is depends on the folder at that point`);
    else if (!writes.some((one) => one.path === path && one.reach === write.reach)) {
      writes.push({ ...write, path });
    }
  };
  for (const command of reading.commands) {
    if (hasMoved && command.before !== '&&' && command.before !== '|') place = null;
    for (const redirect of command.redirects) {
      const target = targetOf(redirect);
      if (typeof target === 'string') doubt(target);
      else if (target !== null) add(target);
    }
    const words = proper(command.words);
    const [name, ...args] = words;
    if (name === undefined) continue;
    if (!name.isLiteral) doubt(`"${name.text}" is not literal`);
    else if (name.text === 'cd') {
      const folder = folderOf(command, args);
      if (folder === null) place = null;
      else if (isRooted(folder)) place = folder;
      else if (place !== null) place = joined(place, folder);
      hasMoved = true;
    } else if (SHAKERS.has(name.text)) {
      doubt(`${name.text} may change what follows`);
      place = null;
    } else {
      const effect = effectOf(name.text.replace(/^\/(usr\/)?bin\//, ''), args, testFolder);
      for (const write of effect.writes) add(write);
      if (effect.doubt !== null) doubt(effect.doubt);
    }
  }
  return { writes, isCertain: why === null, why };
}

/** Without assignments and words like `command`. An option of theirs makes it unknown, by its name. */
function proper(words: readonly Word[]): readonly Word[] {
  let at = 0;
  while (at < words.length) {
    const { text } = words[at] as Word;
    if (!/^[A-Za-z_]\w*=/.test(text) && !PREFIXES.has(text)) break;
    at++;
  }
  return words.slice(at);
}

/** Where a `cd` leads, for the commands that run only if it succeeded. */
function folderOf({ before, after }: SimpleCommand, args: readonly Word[]): string | null {
  const [folder] = args;
  if (args.length !== 1 || folder === undefined || !folder.isLiteral) return null;
  if (after !== '&&' || (before !== '' && before !== '&&' && before !== ';')) return null;
  // What ".." means after a symlink, the shell and the disk do not agree on.
  const isPlain = !folder.text.startsWith('-') && !folder.text.split('/').includes('..');
  return isPlain && folder.text !== '' ? folder.text : null;
}

/** The file a redirection writes; a reason when it is not certain; null when it writes none. */
function targetOf({ operator, target }: Redirect): Write | string | null {
  if (/^<(?!>)/.test(operator)) return null;
  if (operator === '>&' && /^(\d+-?|-)$/.test(target.text)) return null;
  if (!target.isLiteral) return `"${target.text}" is not literal`;
  if (/^\/dev\/(null|stdout|stderr|tty|fd\/\d+)$/.test(target.text)) return null;
  return { path: target.text, reach: 'file', isFollowed: true };
}

function isRooted(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path);
}

function joined(folder: string, path: string): string {
  if (folder === '' || isRooted(path)) return path;
  return `${trimmedEnd(folder, '/')}/${path}`;
}

function isNear(written: string, path: string): boolean {
  const clean = (text: string) => trimmedEnd(text.replace(/^(\.\/)+/, ''), '/');
  const [a, b] = [clean(written), clean(path)];
  return a === b || b.startsWith(`${a}/`) || a.startsWith(`${b}/`);
}
