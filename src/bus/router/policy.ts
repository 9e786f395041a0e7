/**
 * Who may ask what of whom: the rules of the config in order, the first match wins, and what no rule
 * names is allowed. A rule about a subject or a role never matches a client without an identity:
 * what a client says of itself is no evidence [BU17].
 */
import type { PolicyRule } from './config.ts';
import { type BusProblem, problem } from './errors.ts';
import type { Identity } from './peer.ts';

export interface PolicyQuestion {
  readonly method: string;
  readonly pool: string;
  readonly identity: Identity | null;
}

/** Why it is forbidden, or null. */
export function denial(rules: readonly PolicyRule[], asked: PolicyQuestion): BusProblem | null {
  for (const rule of rules) {
    if (rule.method !== null && !asked.method.startsWith(rule.method)) continue;
    if (rule.pool !== null && rule.pool !== asked.pool) continue;
    if (rule.subject !== null && rule.subject !== asked.identity?.subjectId) continue;
    if (rule.role !== null && rule.role !== asked.identity?.role) continue;
    if (rule.effect === 'allow') return null;
    const why = rule.reason ?? 'a rule denies it';
    return problem('bus.policy', `${asked.method} is not allowed: ${why}`);
  }
  return null;
}
