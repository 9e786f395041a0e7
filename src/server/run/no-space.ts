/** How a space that is not there is refused: it was removed, there never was one, or none can be opened [SP2] [SP3] [SP4]. */
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

export function alwaysThere(): Refusal {
  return refuse('access.denied', 'the default space is always there and cannot be removed');
}

export function noName(): Refusal {
  return refuse('space.name-invalid', 'a space is named with 1 to 64 of a-z, 0-9, _ and -');
}

export function sidecarName(): Refusal {
  return refuse(
    'space.name-invalid',
    'in a store without a suffix SQLite has its own use for names in -wal, -shm and -journal',
  );
}

export function cannotOpen(name: string, failure: string): Refusal {
  return refuse(
    'store.unavailable',
    `space ${name} cannot be opened (${failure}); the hub’s log says why and what to do`,
    { failure },
  );
}
