/**
 * What a git command writes in the worktree, where its arguments name the files: `checkout -- PATH`,
 * `restore`, `rm`, `mv`. What moves whole trees (switch, merge, reset, stash, …) is doubtful, and so is a
 * pathspec with a pattern in it, quoted or not, because git expands it itself.
 */
import {
  doubtful,
  type Effect,
  type FolderTest,
  intoLast,
  parseArguments,
} from './shell-arguments.ts';
import type { Word } from './shell-words.ts';

const READERS = new Set(
  (
    'status log diff show rev-parse rev-list ls-files ls-tree cat-file blame grep describe branch tag ' +
    'add fetch remote reflog shortlog merge-base name-rev symbolic-ref'
  ).split(' '),
);

export function gitEffect(args: readonly Word[], isFolder: FolderTest): Effect {
  const [first, ...rest] = args[0]?.text === '--no-pager' ? args.slice(1) : args;
  const verb = first?.text ?? '';
  if (READERS.has(verb)) {
    const odd = rest.find(({ text }) => /^(--output|--ext-diff|-O|--open-files)/.test(text));
    return odd === undefined
      ? { writes: [], doubt: null }
      : doubtful(`git ${verb} ${odd.text} may write anything`);
  }
  if (verb === 'checkout') return checkout(rest);
  if (verb === 'restore') return restore(rest);
  if (verb === 'rm') return remove(rest);
  if (verb === 'mv') return move(rest, isFolder);
  return doubtful(`git ${verb} may write anything`);
}

function checkout(args: readonly Word[]): Effect {
  const at = args.findIndex(({ text }) => text === '--');
  if (at === -1) return doubtful('git checkout may mean a branch or a file; "--" would tell');
  const odd = args.slice(0, at).find(({ text }) => text.startsWith('-') && !/^-[qf]$/.test(text));
  return odd === undefined
    ? pathspecs(args.slice(at + 1))
    : doubtful(`the option ${odd.text} is not one we know`);
}

function restore(args: readonly Word[]): Effect {
  const parsed = parseArguments(args, {
    flags: 'qSW',
    valued: 's',
    long: ['--staged', '--worktree', '--quiet'],
    longValued: ['--source'],
  });
  if (typeof parsed === 'string') return doubtful(`the option ${parsed} is not one we know`);
  const has = (...names: string[]) => names.some((name) => parsed.options.has(name));
  // The index alone is nobody's file.
  if (has('S', '--staged') && !has('W', '--worktree')) return { writes: [], doubt: null };
  return pathspecs(parsed.operands);
}

function remove(args: readonly Word[]): Effect {
  const parsed = parseArguments(args, {
    flags: 'fnqr',
    long: ['--cached', '--force', '--dry-run', '--quiet'],
  });
  if (typeof parsed === 'string') return doubtful(`the option ${parsed} is not one we know`);
  const isHarmless = ['--cached', '--dry-run', 'n'].some((name) => parsed.options.has(name));
  return isHarmless ? { writes: [], doubt: null } : pathspecs(parsed.operands);
}

function move(args: readonly Word[], isFolder: FolderTest): Effect {
  const parsed = parseArguments(args, { flags: 'fkv', long: ['--force', '--verbose'] });
  if (typeof parsed === 'string') return doubtful(`the option ${parsed} is not one we know`);
  const target = intoLast(parsed.operands, isFolder, { reach: 'tree' });
  if (target.doubt !== null) return target;
  const gone = pathspecs(parsed.operands.slice(0, -1));
  return { writes: [...gone.writes, ...target.writes], doubt: gone.doubt };
}

function pathspecs(words: readonly Word[]): Effect {
  const isPlain = ({ text, isLiteral }: Word) => isLiteral && !/^:|[*?[\]\\]/.test(text);
  const writes = words
    .filter(isPlain)
    .map(({ text }) => ({ path: text, reach: 'tree' as const, isFollowed: false }));
  const vague = words.find((word) => !isPlain(word));
  return { writes, doubt: vague === undefined ? null : `"${vague.text}" is a pattern` };
}
