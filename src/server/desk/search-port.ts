/**
 * What the desk asks of the search index. The desk says what the caller may read, as channels and
 * positions; the index looks nowhere else, so that what lies elsewhere changes neither a page, nor its
 * cursor, nor what it costs [FT1].
 */
import type { Refusal } from '../../core/law/decider.ts';
import type { Hub } from '../../hub/hub.ts';
import type { SearchQuery } from '../../wire/search-query.ts';

/** A part of one channel. */
export interface ChannelPart {
  readonly channel: string;
  /** Only what was said above this position. */
  readonly after: number;
  /** Only what this one said. */
  readonly author: string | null;
}

export interface SearchScope {
  /** All channels that are open to everybody. */
  readonly hasOpen: boolean;
  /** All dms of this agent. */
  readonly partyOf: string | null;
  /** Channels of these two that are looked at in parts only, or not at all. */
  readonly except: readonly string[];
  readonly parts: readonly ChannelPart[];
}

export interface FindPlan {
  readonly query: Pick<SearchQuery, 'wanted' | 'unwanted' | 'author'>;
  readonly scope: SearchScope;
  /** Positions between these two, without them. */
  readonly above: number;
  readonly below: number;
  readonly limit: number;
}

/** A part of what was said, with what was found in it. */
export interface Excerpt {
  readonly text: string;
  readonly found: readonly (readonly [from: number, to: number])[];
}

export interface IndexState {
  /** Everything that was durable is in it; false while it is built. */
  readonly isComplete: boolean;
  /** Channels whose past somebody may be kept from. */
  readonly guarded: readonly string[];
}

export interface SearchPort {
  /** Waits a while for the index to have what is durable now. */
  reach(hub: Hub, by: string): Promise<IndexState | Refusal>;
  /** Positions of messages, the newest first. */
  find(hub: Hub, by: string, plan: FindPlan): Promise<readonly number[] | Refusal>;
  /** Of bodies as JSON text, in their order. */
  excerpts(
    by: string,
    query: FindPlan['query'],
    bodies: readonly string[],
  ): Promise<readonly Excerpt[] | Refusal>;
}
