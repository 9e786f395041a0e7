/** Who else holds a file: in words for a warning, for the gutter and for the status bar. */
import type { CallOutput } from '../../../src/client/index.ts';
import { plainWords } from './plain-text.ts';

type Conflict = CallOutput<'claims.check'>['conflicts'][number];

export interface Holder {
  readonly owner: string;
  readonly task: string;
  readonly note: string;
  /** Unix seconds. */
  readonly until: number;
  /** One tenure: a claim taken anew is another one. */
  readonly epoch: number;
}

export function holdersOf(conflicts: readonly Conflict[]): Holder[] {
  return conflicts.map(({ claim }) => ({
    owner: claim.owner,
    task: claim.task_id,
    note: claim.note,
    until: claim.lease_expires_at,
    epoch: claim.epoch,
  }));
}

/** A name is a pattern to the hub: what a pattern would read as more is one character of any kind. */
export function asPattern(name: string): string {
  return name.replace(/[*?[\]{}!\\]/g, '?');
}

export function holderText({ owner, task, note, until }: Holder): string {
  const at = new Date(until * 1000).toTimeString().slice(0, 5);
  const why = note === '' ? '' : `: ${plainWords(note)}`;
  return `${plainWords(owner)} holds this file (${plainWords(task)}${why}) until ${at}`;
}

export function warningText(holders: readonly Holder[]): string {
  const [first, ...others] = holders;
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return `${holderText(first)}${more}. What you change here may collide.`;
}

/** What stands for these holders: while it stays, nobody is warned again. */
export function holdersKey(holders: readonly Holder[]): string {
  return holders
    .map(({ owner, task, epoch }) => `${owner} ${task} ${epoch}`)
    .sort()
    .join('\n');
}
