/** How a space that is not there is refused: it was removed, or there never was one [SP3] [SP4]. */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { nearest } from '../../core/law/nearest.ts';
import type { Removal } from './removed-spaces.ts';

const NEAREST_MAX = 3;

/** A removed space comes back by an explicit word alone, never by a late write or a misspelt name [SP4]. */
export function gone(name: string, { at }: Removal): Refusal {
  const when = new Date(at).toISOString();
  return refuse(
    'space.removed',
    `space ${name} was removed at ${when}; its owner makes it again, empty, with spaces.create`,
    { space: name, removed_at: at / 1000 },
  );
}

/** Reading makes no space, so that a misspelt name is told and not made [SP3]. */
export function notFound(name: string, known: readonly string[]): Refusal {
  const near = nearest(name, known, NEAREST_MAX);
  const meant = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
  return refuse(
    'space.not-found',
    `there is no space ${name} here.${meant} The first write makes a space, as does spaces.create`,
    { space: name, nearest: near },
  );
}
