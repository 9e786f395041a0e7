/**
 * Is this mine to touch? The decision alone, from what is to be written and who holds what.
 *
 * Somebody else's claim on a path that is written without doubt denies, and the refusal names who,
 * until when, and what to do [GI18]. A doubt about what is written never denies and never allows by
 * itself: it is `unknown`, with its reason [GI19].
 */
import { isName } from '../core/law/text.ts';
import { quoted } from './problem.ts';
import type { Reach } from './shell-arguments.ts';

export interface GuardWrite {
  /** From the root of the worktree. */
  readonly path: string;
  readonly reach: Reach;
}

export interface Holding {
  readonly claimId: string;
  readonly owner: string;
  /** What of the claim covers the path that was asked about; none for the whole worktree. */
  readonly paths: readonly string[];
  /** In ms since 1970; null when it is not known. */
  readonly lapsesAt: number | null;
  /** Since when its owner is gone; null when it is there, or nobody knows. */
  readonly goneSince: number | null;
}

export interface GuardQuestion {
  readonly writes: readonly GuardWrite[];
  /** Whether these are all the writes there are. */
  readonly isCertain: boolean;
  readonly why: string | null;
  readonly me: string;
  /** Also deny what nobody holds: first claim, then write. */
  readonly mustHold?: boolean;
  readonly nowMs: number;
}

export interface Verdict {
  readonly verdict: 'allow' | 'deny' | 'unknown';
  readonly reason: string;
  readonly remedy: string | null;
  /** What of it somebody else holds. */
  readonly held: readonly { readonly path: string; readonly by: Holding }[];
}

const NAMED_MAX = 5;
const NAME_CHARS_MAX = 256;

export function decideGuard(
  question: GuardQuestion,
  holdingsOf: (write: GuardWrite) => readonly Holding[],
): Verdict {
  const { writes, me, isCertain, mustHold = false } = question;
  const touched = writes.map((write) => ({ path: write.path, holdings: holdingsOf(write) }));
  const held = touched.flatMap(({ path, holdings }) =>
    holdings.filter(({ owner }) => owner !== me).map((by) => ({ path, by })),
  );
  if (held.length > 0) return denied(held, question.nowMs);
  const free = touched.filter(({ holdings }) => holdings.length === 0).map(({ path }) => path);
  if (mustHold && free.length > 0) {
    return {
      verdict: 'deny',
      reason: `nobody holds ${listed(free)}, and only what you hold may be written here`,
      remedy: 'claim it first, then try again',
      held: [],
    };
  }
  if (!isCertain) {
    const reason = `what would be written is not certain: ${question.why ?? 'no reason given'}`;
    return { verdict: 'unknown', reason, remedy: 'claim what you are about to write', held: [] };
  }
  return { verdict: 'allow', reason: allowance(writes.length, free), remedy: null, held: [] };
}

/** A name from before names had their alphabet stands in quotes; the hooks cut a long id with a mark. */
function named(name: string): string {
  return isName(name.replace(/…$/, ''), NAME_CHARS_MAX) ? name : quoted(name);
}

function denied(held: Verdict['held'], nowMs: number): Verdict {
  const lines = held.slice(0, NAMED_MAX).map(({ path, by }) => {
    const until = by.lapsesAt === null ? '' : `, for ${remaining(by.lapsesAt - nowMs)} more`;
    // What the claim says it covers is its holder's words: they have no place in a refusal of ours.
    return `${quoted(path)} is held by ${named(by.owner)} (claim ${named(by.claimId)}${until})`;
  });
  const more = held.length > NAMED_MAX ? [`and ${held.length - NAMED_MAX} more`] : [];
  return {
    verdict: 'deny',
    reason: [...lines, ...more].join('; '),
    remedy: remedyOf(held, nowMs),
    held,
  };
}

/** Who is gone cannot be asked; what it holds a person can free [WK5]. */
function remedyOf(held: Verdict['held'], nowMs: number): string {
  const there = held.filter(({ by }) => by.goneSince === null).map(({ by }) => named(by.owner));
  const owners = [...new Set(there)].slice(0, NAMED_MAX).join(', ');
  const ask = owners === '' ? '' : `, or ask ${owners} to release it or hand it over`;
  const gone = held.find(({ by }) => by.goneSince !== null)?.by;
  if (gone === undefined) return `wait for the claim${ask}`;
  const since = remaining(nowMs - (gone.goneSince ?? nowMs));
  return `wait for the claim${ask}; ${named(gone.owner)} has been gone for ${since}, and a person can free what it holds: synod release ${named(gone.claimId)} --force`;
}

function allowance(count: number, free: readonly string[]): string {
  if (count === 0) return 'nothing would be written';
  return free.length === 0 ? 'you hold it' : `nobody holds ${listed(free)}`;
}

function listed(paths: readonly string[]): string {
  const named = paths.slice(0, NAMED_MAX).map(quoted).join(', ');
  return paths.length > NAMED_MAX ? `${named} and ${paths.length - NAMED_MAX} more` : named;
}

function remaining(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
