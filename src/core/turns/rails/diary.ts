/**
 * What one agent's turns of the last day were: when each began, how long it ran, what it cost and what it
 * said. From this the limits by the clock are told: turns in ten minutes and in a day [RA1], wall
 * time in a day [RA6], money and tokens [RA8], outputs that repeat [RA7].
 */

import type { View } from '../../law/view.ts';
import { type Limits, limitOf } from '../agent-limits.ts';
import { OUTPUTS_KEPT, type Sketch } from './likeness.ts';

export interface Cost {
  readonly usd: number;
  readonly tokens: number;
}

export interface TurnSpan {
  readonly at: number;
  /** 0 while it runs. */
  readonly ms: number;
  readonly usd: number;
  readonly tokens: number;
}

export interface Diary {
  /** Of the last day, oldest first; bounded by the limit of turns a day. */
  readonly spans: TurnSpan[];
  outputs: readonly Sketch[];
  /** When a wait for each window last ended; a second one soon after parks. */
  waitedUntil: Readonly<Partial<Record<WindowName, number>>>;
}

export type DiaryView = View<Diary>;

export type WindowName = 'turns_per_10_min' | 'turns_per_day';

/** A limit that holds a turn back: until a time, or until a person looks. */
export type Stop =
  | { readonly kind: 'wait'; readonly limit: string; readonly until: number }
  | { readonly kind: 'park'; readonly limit: string; readonly reason: string };

export const DAY_MS: number = 24 * 3_600_000;
export const TEN_MINUTES_MS: number = 10 * 60_000;

const WINDOWS: readonly {
  readonly name: WindowName;
  readonly ms: number;
  readonly said: string;
}[] = [
  { name: 'turns_per_10_min', ms: TEN_MINUTES_MS, said: 'in 10 minutes' },
  { name: 'turns_per_day', ms: DAY_MS, said: 'in a day' },
];

export function createDiary(): Diary {
  return { spans: [], outputs: [], waitedUntil: {} };
}

export function beginSpan({ spans }: Diary, at: number): void {
  const fresh = spans.findIndex((span) => span.at > at - DAY_MS);
  spans.splice(0, fresh < 0 ? spans.length : fresh);
  spans.push({ at, ms: 0, usd: 0, tokens: 0 });
}

export function endSpan(
  diary: Diary,
  end: { readonly at: number; readonly cost: Cost; readonly output: Sketch | null },
): void {
  const last = diary.spans.pop();
  if (last === undefined) return;
  diary.spans.push({ at: last.at, ms: Math.max(0, end.at - last.at), ...end.cost });
  if (end.output !== null) diary.outputs = [...diary.outputs, end.output].slice(-OUTPUTS_KEPT);
}

/** A wait for one of the windows begins; it ends at `until`. */
export function noteWait(diary: Diary, cause: string, until: number): void {
  if (!WINDOWS.some(({ name }) => name === cause)) return;
  diary.waitedUntil = { ...diary.waitedUntil, [cause]: until };
}

/** A person looked: what was counted towards parking begins again; what was spent stays spent. */
export function clearDiary(diary: Diary): void {
  diary.outputs = [];
  diary.waitedUntil = {};
}

/** Whether a turn may begin at `at`, by the clock and by what was spent. */
export function checkDiary(diary: DiaryView, limits: Limits, at: number): Stop | null {
  return checkWindows(diary, limits, at) ?? checkDay(diary, limits, at);
}

function checkWindows(diary: DiaryView, limits: Limits, at: number): Stop | null {
  for (const { name, ms, said } of WINDOWS) {
    const most = limitOf(limits, name);
    // They lie in order: when the one so many before the last is within the window, it is full.
    const first = diary.spans.at(-most);
    if (first === undefined || first.at <= at - ms) continue;
    const waited = diary.waitedUntil[name];
    if (waited !== undefined && at <= waited + ms && at > waited) {
      const reason = `${most} turns ${said}, for the second time`;
      return { kind: 'park', limit: name, reason };
    }
    return { kind: 'wait', limit: name, until: first.at + ms };
  }
  return null;
}

function checkDay(diary: DiaryView, limits: Limits, at: number): Stop | null {
  const spent = spentSince(diary, at - DAY_MS);
  if (spent.ms >= limitOf(limits, 'day_wall_ms')) {
    return park('day_wall_ms', `its turns of a day ran for ${Math.round(spent.ms / 60_000)} min`);
  }
  return (
    checkBudget('day_usd', spent.usd, limitOf(limits, 'day_usd')) ??
    checkBudget('day_tokens', spent.tokens, limitOf(limits, 'day_tokens'))
  );
}

/** Whether a budget is used up [RA8]. */
export function checkBudget(limit: string, spent: number, most: number): Stop | null {
  if (spent < most) return null;
  const unit = limit.endsWith('usd') ? 'usd' : 'tokens';
  const rounded = Math.round(spent * 100) / 100;
  return park(limit, `budget.exhausted: ${rounded} of ${most} ${unit} are spent (${limit})`);
}

/** What the turns that began after `from` took together. */
export function spentSince({ spans }: DiaryView, from: number): Omit<TurnSpan, 'at'> {
  const sum = { ms: 0, usd: 0, tokens: 0 };
  for (const { at, ms, usd, tokens } of spans) {
    if (at <= from) continue;
    sum.ms += ms;
    sum.usd += usd;
    sum.tokens += tokens;
  }
  return sum;
}

export function park(limit: string, reason: string): Stop {
  return { kind: 'park', limit, reason };
}
