/**
 * Who may read and write a namespace is said by its name alone [CX2], so that nobody can take one from
 * those it is for by being there first:
 *
 * - `private/ada` is ada's: nobody else reads it or writes there, but for administrators.
 * - `by/ada` is written by ada alone, and read by all.
 * - `group/x` is for the members of that group.
 * - Any other is open: every writer writes, every reader reads.
 */
import { type Refusal, refuse } from '../law/decider.ts';
import { isAgentName, type Principal } from '../law/principal.ts';
import type { WorldView } from '../law/state.ts';
import { isName, NAME_ALPHABET } from '../law/text.ts';
import { checkWriter } from '../law/writer.ts';
import { activeGroup } from '../talk/group.ts';
import { CONTEXT_KEY_CHARS_MAX, NAMESPACE_CHARS_MAX } from './context-limits.ts';
import { ownNamespaces } from './own-namespaces.ts';

type Rule = { readonly of: 'private' | 'by'; readonly agent: string } | { readonly of: Other };
type Other = 'group' | 'open' | 'nobody';

function ruleOf(ns: string): Rule {
  const [prefix = ''] = ns.split('/', 1);
  const rest = ns.slice(prefix.length + 1);
  switch (prefix) {
    case 'private':
    case 'by':
      return isAgentName(rest) ? { of: prefix, agent: rest } : { of: 'nobody' };
    case 'group':
      return { of: 'group' };
    // Names that elsewhere mean two parties, or the hub itself.
    case 'dm':
    case 'sox':
      return { of: 'nobody' };
    default:
      return { of: 'open' };
  }
}

export function checkNames(ns: string, key: string | null): Refusal | null {
  if (!isName(ns, NAMESPACE_CHARS_MAX) || ruleOf(ns).of === 'nobody') {
    const issue = `has 1 to ${NAMESPACE_CHARS_MAX} ${NAME_ALPHABET}; private/NAME, by/NAME and group/ID are for those they name, dm/ and sox/ are nobody's`;
    return unfit('ns', issue);
  }
  if (key === null || isName(key, CONTEXT_KEY_CHARS_MAX)) return null;
  return unfit('key', `has 1 to ${CONTEXT_KEY_CHARS_MAX} ${NAME_ALPHABET}`);
}

export function checkContextRead(world: WorldView, by: Principal, ns: string): Refusal | null {
  const unnamed = checkNames(ns, null);
  if (unnamed !== null) return unnamed;
  const rule = ruleOf(ns);
  if (rule.of === 'private') return checkOwner(by, ns, rule.agent, 'read and written');
  return rule.of === 'group' ? checkGroup(world, by, ns) : null;
}

export function checkContextWrite(world: WorldView, by: Principal, ns: string): Refusal | null {
  const denied = checkWriter(by, world.settings) ?? checkContextRead(world, by, ns);
  if (denied !== null) return denied;
  const rule = ruleOf(ns);
  return rule.of === 'by' ? checkOwner(by, ns, rule.agent, 'written') : null;
}

/** Whether something is kept in the agent's own name, which would go with it. */
export function holdsContext({ context }: WorldView, agent: string): boolean {
  return ownNamespaces(agent).some((ns) => (context.namespaces.get(ns)?.entries.size ?? 0) > 0);
}

function checkOwner(by: Principal, ns: string, agent: string, verb: string): Refusal | null {
  if (by.id === agent || by.kind === 'admin') return null;
  return refuse('access.denied', `${ns} is ${verb} by ${agent} alone`, { ns });
}

/** The same answer whether there is such a group or not. */
function checkGroup(world: WorldView, by: Principal, ns: string): Refusal | null {
  const group = activeGroup(world, by, ns);
  return 'refused' in group ? group : null;
}

export function unfit(field: string, issue: string): Refusal {
  return refuse('input.invalid', `${field} ${issue}`, { violations: [{ field, issue }] });
}
