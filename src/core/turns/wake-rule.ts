/**
 * Which messages may wake a managed agent: by channel, by who sent it, and by the sender's kind and
 * trust [TN1]. What a rule does not name it does not ask for.
 */
import { type Refusal, refuse } from '../law/decider.ts';
import { createMatcher, type Matcher } from '../law/glob.ts';
import { addresseeOf } from '../law/name.ts';
import type { PrincipalKind, Standing, TrustTier } from '../law/principal.ts';
import { WAKE_PATTERN_CHARS_MAX, WAKE_PATTERNS_LIST_MAX } from './turn-limits.ts';
import type { WakeRule, Waking } from './turn-state.ts';

export const WAKE_ALWAYS: WakeRule = { channels: null, from: null, kinds: null, minTier: null };

/** From the least on. */
export const TIERS: readonly TrustTier[] = ['untrusted', 'standard', 'trusted', 'owner'];

/** Null when it can be kept [TN10]. */
export function checkWakeRule(rule: WakeRule): Refusal | null {
  for (const field of ['channels', 'from'] as const) {
    const patterns = rule[field] ?? [];
    const isSound = patterns.every(({ length }) => length > 0 && length <= WAKE_PATTERN_CHARS_MAX);
    if (isSound && patterns.length <= WAKE_PATTERNS_LIST_MAX) continue;
    const issue = `has at most ${WAKE_PATTERNS_LIST_MAX} names or globs of 1 to ${WAKE_PATTERN_CHARS_MAX} characters`;
    return refuse('input.invalid', `wake.${field} ${issue}`, {
      violations: [{ field: `wake.${field}`, issue }],
    });
  }
  return null;
}

export function selects(rule: WakeRule, message: Waking): boolean {
  if (isPersonsAnswer(message)) return true;
  const { channels, from, kinds, minTier } = rule;
  if (channels === null && from === null && kinds === null && minTier === null) return true;
  if (kinds !== null && !kinds.includes(kindOf(message.as))) return false;
  if (minTier !== null && TIERS.indexOf(tierOf(message.as)) < TIERS.indexOf(minTier)) return false;
  const compiled = compiledOf(rule);
  // Where the hub tells what somebody did, that one counts as its sender.
  return (
    isAmong(compiled.from, message.actor ?? message.by) &&
    isAmong(compiled.channels, message.channel)
  );
}

/** What a person said to the agent's own question or gate comes by the hub, and is waited for [DK7]. */
function isPersonsAnswer({ channel, actor, as }: Waking): boolean {
  if (actor === undefined || addresseeOf(channel) === null) return false;
  return kindOf(as) === 'human' || kindOf(as) === 'admin';
}

function isAmong(matchers: readonly Matcher[] | null, name: string): boolean {
  if (matchers === null) return true;
  for (const matches of matchers) if (matches(name)) return true;
  return false;
}

/** A message from before standings were kept has that of an agent nobody vouched for. */
export function kindOf(as: Standing | null): PrincipalKind {
  return (as?.slice(0, as.indexOf('/')) ?? 'agent') as PrincipalKind;
}

export function tierOf(as: Standing | null): TrustTier {
  return (as?.slice(as.indexOf('/') + 1) ?? 'untrusted') as TrustTier;
}

interface Compiled {
  readonly channels: readonly Matcher[] | null;
  readonly from: readonly Matcher[] | null;
}

/** Follows from the rule alone, so that keeping it is no change of the state. */
const COMPILED = new WeakMap<WakeRule, Compiled>();

function compiledOf(rule: WakeRule): Compiled {
  let compiled = COMPILED.get(rule);
  if (compiled === undefined) {
    compiled = {
      channels: rule.channels?.map(createMatcher) ?? null,
      from: rule.from?.map(createMatcher) ?? null,
    };
    COMPILED.set(rule, compiled);
  }
  return compiled;
}
