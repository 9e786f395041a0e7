/**
 * Which workflows executors have asked for, as far as this hub has heard since it began. So a start with a
 * misspelt name or version does not wait unseen [WF21]. Kept in memory alone: an executor asks again and again.
 */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { nearest } from '../../core/law/nearest.ts';
import type { Principal } from '../../core/law/principal.ts';
import type { WorldView } from '../../core/law/state.ts';
import { mayExecute } from '../../core/workflows/access.ts';
import type { Hub } from '../../hub/hub.ts';

/** Of an executor that was not heard of for so long nothing is known. */
const KEPT_MS = 3_600_000;
const AGENTS_MAX = 256;
const OFFERS_PER_AGENT_MAX = 512;
/** Names that are compared with a misspelt one; and how many misspelt ones of a page are. */
const COMPARED_MAX = 1_000;
const GUESSES_MAX = 10;
const SHOWN_MAX = 10;

interface Offer {
  readonly name: string;
  readonly version: string | null;
  readonly at: number;
}

interface Offering {
  by: Principal;
  /** By name and version, the newest last. */
  readonly offers: Map<string, Offer>;
}

/** A run, or what is to be one. */
export interface Wanted {
  readonly name: string;
  readonly version: string | null;
  readonly startedBy: string;
  readonly queue: string | null;
}

const hubs = new WeakMap<Hub, Map<string, Offering>>();

export function noteOffers(
  hub: Hub,
  by: Principal,
  workflows: readonly { readonly name: string; readonly version?: string | undefined }[],
): void {
  const agents = hubs.get(hub) ?? new Map<string, Offering>();
  hubs.set(hub, agents);
  const own = agents.get(by.id) ?? { by, offers: new Map<string, Offer>() };
  own.by = by;
  putLast(agents, by.id, own, AGENTS_MAX);
  const at = hub.stamp();
  for (const { name, version = null } of workflows) {
    putLast(own.offers, idOf(name, version), { name, version, at }, OFFERS_PER_AGENT_MAX);
  }
}

function idOf(name: string, version: string | null): string {
  return version === null ? name : `${name}\0${version}`;
}

function putLast<T>(all: Map<string, T>, key: string, value: T, max: number): void {
  all.delete(key);
  all.set(key, value);
  if (all.size <= max) return;
  for (const oldest of all.keys()) {
    all.delete(oldest);
    return;
  }
}

/** Refused: others of its versions are there, and this one is not. */
export function checkVersion(hub: Hub, world: WorldView, wanted: Wanted): Refusal | null {
  const versions = versionsOf(hub, world, wanted);
  const { name, version } = wanted;
  if (version === null || versions.length === 0 || versions.includes(version)) return null;
  const known = versions.map((one) => one ?? 'one without a version');
  return refuse(
    'workflow.no-version',
    `no executor has version ${version} of ${name}; there is ${known.slice(0, SHOWN_MAX).join(', ')}`,
    { name, versions: versions.filter((one) => one !== null).slice(0, SHOWN_MAX) },
  );
}

/** Says of runs that nobody has taken why: a sentence, or null. For one page of them. */
export function createExplainer(hub: Hub, world: WorldView): (run: Wanted) => string | null {
  let guesses = 0;
  return (wanted) => {
    const { name, version } = wanted;
    const versions = versionsOf(hub, world, wanted);
    if (versions.length > 0) {
      if (version === null || versions.includes(version)) return null;
      return `no executor has asked for version ${version} of ${name} yet`;
    }
    const near =
      ++guesses > GUESSES_MAX ? undefined : nearest(name, namesFor(hub, world, wanted), 1)[0];
    const perhaps = near === undefined ? '' : `; perhaps ${near} is meant`;
    return `no executor has asked for ${name} yet${perhaps}`;
  };
}

/** Those who would be given the run, and what they offer: what others say of a name is no matter to it. */
function* offersFor(hub: Hub, world: WorldView, wanted: Wanted): Generator<Map<string, Offer>> {
  for (const { by, offers } of hubs.get(hub)?.values() ?? []) {
    if (mayExecute(world.workflows, by, wanted)) yield offers;
  }
}

function versionsOf(hub: Hub, world: WorldView, wanted: Wanted): (string | null)[] {
  const { name, version } = wanted;
  const since = hub.stamp() - KEPT_MS;
  const found = new Set<string | null>();
  for (const offers of offersFor(hub, world, wanted)) {
    const exact = offers.get(idOf(name, version));
    if (exact !== undefined && exact.at >= since) return [version];
    for (const one of offers.values()) {
      if (one.name === name && one.at >= since) found.add(one.version);
    }
  }
  return [...found];
}

function namesFor(hub: Hub, world: WorldView, wanted: Wanted): string[] {
  const found = new Set<string>();
  for (const offers of offersFor(hub, world, wanted)) {
    for (const { name } of offers.values()) {
      if (found.size < COMPARED_MAX) found.add(name);
    }
  }
  return [...found];
}
