/** Which messages a wake rule selects, read plainly and slowly. */
import { createMatcher } from '../core/law/glob.ts';

// biome-ignore lint/suspicious/noExplicitAny: entries are read as they lie, without the types of core.
type Entry = any;

export function isSelected(rule: Entry, event: Entry): boolean {
  // A person answered: that is for whom it is said to, whatever its rule.
  const isAnswer = event.by === '__server__' && /^(human|admin)\//.test(event.as ?? '');
  if (isAnswer && event.actor !== undefined && event.channel.startsWith('sox/to/')) return true;
  const [kind = 'agent', tier = 'untrusted'] = (event.as ?? 'agent/untrusted').split('/');
  const tiers = ['untrusted', 'standard', 'trusted', 'owner'];
  const isAmong = (globs: readonly string[] | null, name: string): boolean =>
    globs === null || globs.some((glob) => createMatcher(glob)(name));
  return (
    isAmong(rule.channels, event.channel) &&
    isAmong(rule.from, event.actor ?? event.by) &&
    (rule.kinds === null || rule.kinds.includes(kind)) &&
    (rule.minTier === null || tiers.indexOf(tier) >= tiers.indexOf(rule.minTier))
  );
}
