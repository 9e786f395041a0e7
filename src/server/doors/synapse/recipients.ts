/**
 * Whom a target means: a name, a list, a glob, a project. The original's waiters (`synapse wait`,
 * `syn arm`) connect as `<name>-rx`: what is for the name is for its waiter too, and a waiter that
 * is here stands for a name that may be away.
 */
import { createMatcher, isGlob } from '../../../core/law/glob.ts';
import { isAgentName } from '../../../core/law/principal.ts';

const WAITER = '-rx';

export function waiterOf(name: string): string {
  return `${name}${WAITER}`;
}

/** Of globs and projects those who are here; a name that nobody bears now gets it when it comes. */
export function recipientsOf(target: string, online: readonly string[]): string[] {
  const names = new Set<string>();
  const parts = target.split(',').map((part) => part.trim());
  const here = [...new Set(online.map(awaitedBy))];
  for (const part of parts) {
    if (part === '' || (part === 'all' && parts.length > 1)) continue;
    const matches = createMatcher(part);
    const found = here.filter((name) => matches(name) || matches(projectOf(name)));
    for (const name of found) names.add(name);
    if (found.length === 0 && !isGlob(part) && isAgentName(part)) names.add(part);
  }
  return [...names].sort();
}

export function projectOf(name: string): string {
  const slash = name.indexOf('/');
  return slash < 0 ? name : name.slice(0, slash);
}

/** The name a waiter waits for; any other name is its own. */
export function awaitedBy(name: string): string {
  return name.endsWith(WAITER) && name !== WAITER ? name.slice(0, -WAITER.length) : name;
}
