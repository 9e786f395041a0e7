/** What a server does for its cluster beside serving: it opens spaces that it should have, and closes what nobody here uses. */
import { isRefusal } from '../../core/law/decider.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { OpenSpaces } from './spaces.ts';
import { type UnusedSpacesOptions, watchUnusedSpaces } from './unused-spaces.ts';

export interface HeedOptions extends Pick<UnusedSpacesOptions, 'clock' | 'uses'> {
  readonly cluster: Cluster;
  readonly spaces: OpenSpaces;
  /** Null: what was opened stays open. */
  readonly unusedMs: number | null;
}

/** The answer ends it. */
export function heedCluster({ cluster, unusedMs, ...options }: HeedOptions): () => void {
  const { spaces } = options;
  const unused = unusedMs === null ? null : watchUnusedSpaces({ ...options, unusedMs });
  const endHeed = cluster.heed(async (name) => {
    // What another hands over soon is not closed meanwhile.
    unused?.note(name);
    return !isRefusal(await spaces.open(name, { mayCreate: false }));
  }, spaces.closed);
  return () => {
    endHeed();
    unused?.close();
  };
}
