/**
 * What one simple command writes, for the few commands whose arguments say so without doubt. Any
 * option that is not in the table, and any operand that is not literal, makes it doubtful: a wrong
 * guess would accuse the wrong file [GI17].
 */

import {
  type Arguments,
  doubtful,
  type Effect,
  eachOperand,
  type FolderTest,
  intoLast,
  type Options,
  parseArguments,
  type Reach,
} from './shell-arguments.ts';
import { gitEffect } from './shell-git.ts';
import { sedEffect } from './shell-sed.ts';
import type { Word } from './shell-words.ts';

const NOTHING: Effect = { writes: [], doubt: null };

const READERS = new Set(
  (
    'ls cat echo printf grep egrep fgrep head tail wc pwd true false : test [ diff cmp stat ' +
    'which type date sleep basename dirname realpath readlink whoami id uname cut tr seq nl tac rev ' +
    'du df ps md5sum sha1sum sha256sum od hexdump strings column'
  ).split(' '),
);

export function effectOf(name: string, args: readonly Word[], isFolder: FolderTest): Effect {
  if (READERS.has(name)) return NOTHING;
  const rule = RULES.get(name);
  return rule === undefined ? doubtful(`${name} may write anything`) : rule(args, isFolder);
}

type Rule = (args: readonly Word[], isFolder: FolderTest) => Effect;

function simple(known: Options, effect: (parsed: Arguments, isFolder: FolderTest) => Effect): Rule {
  return (args, isFolder) => {
    const parsed = parseArguments(args, known);
    return typeof parsed === 'string'
      ? doubtful(`the option ${parsed} is not one we know`)
      : effect(parsed, isFolder);
  };
}

const COPY_LONG = ['--force', '--verbose', '--no-clobber', '--update', '--no-target-directory'];
const toTarget =
  (reach: Reach, isMoved: boolean) =>
  ({ options, operands }: Arguments, isFolder: FolderTest): Effect => {
    const folder = options.get('t') ?? options.get('--target-directory') ?? undefined;
    const isPlain = options.has('T') || options.has('--no-target-directory');
    const effect = intoLast(operands, isFolder, {
      reach,
      isPlain,
      ...(folder !== undefined && { folder }),
    });
    if (!isMoved || effect.doubt !== null) return effect;
    const sources = folder === undefined ? operands.slice(0, -1) : operands;
    const gone = sources.map(({ text }) => ({ path: text, reach, isFollowed: false }));
    return { writes: [...gone, ...effect.writes], doubt: null };
  };

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  [
    'rm',
    simple(
      { flags: 'dfiIrRv', long: ['--force', '--recursive', '--verbose', '--dir'] },
      ({ options, operands }) => {
        const isTree = ['r', 'R', '--recursive'].some((flag) => options.has(flag));
        return eachOperand(operands, isTree ? 'tree' : 'file', false);
      },
    ),
  ],
  ['rmdir', simple({ flags: 'v' }, ({ operands }) => eachOperand(operands, 'folder', false))],
  [
    'mkdir',
    simple(
      { flags: 'pv', valued: 'm', long: ['--parents', '--verbose'], longValued: ['--mode'] },
      ({ operands }) => eachOperand(operands, 'folder', true),
    ),
  ],
  [
    'touch',
    simple(
      { flags: 'acm', valued: 'drt', long: ['--no-create'], longValued: ['--date', '--reference'] },
      ({ operands }) => eachOperand(operands, 'file', true),
    ),
  ],
  [
    'tee',
    simple({ flags: 'aip', long: ['--append'] }, ({ operands }) =>
      eachOperand(operands, 'file', true),
    ),
  ],
  [
    'truncate',
    simple({ flags: 'co', valued: 'rs', longValued: ['--size', '--reference'] }, ({ operands }) =>
      eachOperand(operands, 'file', true),
    ),
  ],
  [
    'cp',
    simple(
      {
        flags: 'adfHiLlnPpRrsTuvx',
        valued: 't',
        long: [...COPY_LONG, '--recursive', '--archive'],
        longValued: ['--target-directory'],
      },
      toTarget('tree', false),
    ),
  ],
  [
    'mv',
    simple(
      { flags: 'finTuv', valued: 't', long: COPY_LONG, longValued: ['--target-directory'] },
      toTarget('tree', true),
    ),
  ],
  [
    'ln',
    simple(
      { flags: 'finrsTv', valued: 't', long: ['--symbolic', '--force'] },
      (parsed, isFolder) => {
        const effect = toTarget('file', false)(parsed, isFolder);
        return {
          ...effect,
          writes: effect.writes.map((write) => ({ ...write, isFollowed: false })),
        };
      },
    ),
  ],
  [
    'sort',
    simple({ flags: 'bdfghinrRuVz', valued: 'kto', longValued: ['--output'] }, ({ options }) => {
      const out = options.get('o') ?? options.get('--output') ?? undefined;
      if (out === undefined) return NOTHING;
      return { writes: [{ path: out, reach: 'file', isFollowed: true }], doubt: null };
    }),
  ],
  [
    'uniq',
    simple({ flags: 'cdiuz', valued: 'fsw' }, ({ operands }) =>
      operands[0]?.isLiteral === false
        ? doubtful(`"${operands[0].text}" is not literal`)
        : eachOperand(operands.slice(1), 'file', true),
    ),
  ],
  ['dd', ddEffect],
  ['find', findEffect],
  [
    'patch',
    simple({ flags: 'NRsu', valued: 'pi' }, ({ operands }) =>
      operands.length === 0
        ? doubtful('the files patch writes are named in the patch')
        : eachOperand(operands.slice(0, 1), 'file', true),
    ),
  ],
  ['sed', sedEffect],
  ['git', gitEffect],
]);

function ddEffect(args: readonly Word[]): Effect {
  const vague = args.find(({ isLiteral }) => !isLiteral);
  if (vague !== undefined) return doubtful(`"${vague.text}" is not literal`);
  const out = args.filter(({ text }) => text.startsWith('of='));
  return eachOperand(
    out.map(({ text }) => ({ text: text.slice('of='.length), isLiteral: true })),
    'file',
    true,
  );
}

function findEffect(args: readonly Word[]): Effect {
  // A variable may hold any of these.
  const acts = args.find(
    ({ text, isLiteral }) =>
      !isLiteral || /^-(delete|exec|execdir|ok|okdir|fprint.*|fls)$/.test(text),
  );
  return acts === undefined ? NOTHING : doubtful(`find ${acts.text} may write anything`);
}
