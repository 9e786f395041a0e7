/**
 * Posts: bodies of the kind `post`, with a type and a tier, and whom they name as owners. The one place
 * that reads these out of a body; what a channel allows is told to it. Pure.
 */
import {
  OWNERS_NAMED_MAX,
  POST_TYPE_CHARS_MAX,
  TITLE_CHARS_MAX,
} from '../core/threads/thread-limits.ts';
import { isFields } from './fields.ts';

export interface PostRule {
  /** None: any. */
  readonly types: readonly string[];
  readonly tiers: readonly number[];
}

export const ANY_POST: PostRule = { types: [], tiers: [0, 1, 2] };

export function isPost(body: unknown): boolean {
  return isFields(body) && body.kind === 'post';
}

/** What is wrong with a post, field by field; chat and replies are free [TM8]. */
export function flawsOf(
  body: Readonly<Record<string, unknown>>,
  { types, tiers }: PostRule,
): { field: string; issue: string }[] {
  const flaws: { field: string; issue: string }[] = [];
  const { type, tier } = body;
  if (type !== undefined && (typeof type !== 'string' || type.length > POST_TYPE_CHARS_MAX)) {
    flaws.push({
      field: 'body.type',
      issue: `must be text of at most ${POST_TYPE_CHARS_MAX} characters`,
    });
  } else if (types.length > 0 && !types.includes(type ?? '')) {
    flaws.push({ field: 'body.type', issue: `must be one of ${types.join(', ')}` });
  }
  if (tier === undefined) return flaws;
  if (tier !== 0 && tier !== 1 && tier !== 2) {
    flaws.push({ field: 'body.tier', issue: 'must be the number 0, 1 or 2' });
  } else if (!tiers.includes(tier)) {
    const allowed = tiers.length === 0 ? 'no tier' : `tier ${tiers.join(' or ')}`;
    flaws.push({ field: 'body.tier', issue: `this channel takes ${allowed}` });
  }
  return flaws;
}

/** Whom a root names as owners: they may mark its thread [TM1]. */
export function ownersOf(body: unknown): string[] {
  if (!isFields(body) || !Array.isArray(body.owners)) return [];
  const owners = body.owners.slice(0, OWNERS_NAMED_MAX);
  return owners.filter((one) => typeof one === 'string');
}

export interface PostHead {
  /** Of a post its title, else how its text begins. */
  readonly title: string | null;
  readonly type: string | null;
  readonly tier: number | null;
}

export function headOf(body: unknown): PostHead {
  if (!isFields(body)) return { title: null, type: null, tier: null };
  const { title, subject, text, description, type, tier } = body;
  const said = [title, subject, text, description].find(
    (one) => typeof one === 'string' && one.trim() !== '',
  ) as string | undefined;
  const isTier = tier === 0 || tier === 1 || tier === 2;
  return {
    title: said === undefined ? null : firstLine(said),
    type: typeof type === 'string' ? type.slice(0, POST_TYPE_CHARS_MAX).toWellFormed() : null,
    tier: isTier ? tier : null,
  };
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  if (line.length <= TITLE_CHARS_MAX) return line;
  return `${line.slice(0, TITLE_CHARS_MAX - 1).toWellFormed()}…`;
}
