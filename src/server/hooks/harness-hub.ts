/**
 * What the hooks need of a hub: a port, so that everything here can be told apart from how a hub
 * works. Every answer may be "I do not know" (null), and then the hook is silent.
 */
import type { HeldClaim } from '../../place/holdings.ts';
import type { QuotedMessage } from './quoted.ts';

export interface OwedMessage extends QuotedMessage {
  readonly position: number;
}

export interface OwedMail {
  /** Oldest first. */
  readonly messages: readonly OwedMessage[];
  /** Owed as well, but nothing to show: the agent's own words, and what has expired. */
  readonly passed: readonly number[];
  /** Whether there is more than was asked for. */
  readonly hasMore: boolean;
}

export interface TouchClaim {
  readonly worktree: string;
  readonly paths: readonly string[];
}

export interface HarnessHub {
  /** Looks and takes nothing. */
  owed(space: string, agent: string, max: number): Promise<OwedMail | null>;
  /** Called before anything else is asked about an agent. */
  seat(space: string, agent: string): Promise<void>;
  /** Says in the receipts that these, with what was shown before, were put before the agent; they stay owed. */
  present(
    space: string,
    agent: string,
    messages: readonly OwedMessage[],
    shown: ReadonlySet<number>,
  ): Promise<void>;
  /** When the agent last read its inbox, by whatever door; milliseconds, 0 for never. */
  lastDrainAt(space: string, agent: string): number;
  /** Streams the agent holds open, such as `synod arm`. */
  streams(space: string, agent: string): number;
  hasClaimsOfOthers(space: string, agent: string): Promise<boolean>;
  claimsIn(space: string, worktree: string): Promise<readonly HeldClaim[] | null>;
  /** False when somebody else has it by now; whatever else fails is no reason to refuse a write. */
  claim(space: string, agent: string, touched: TouchClaim): Promise<boolean>;
  announce(space: string, agent: string, status: 'online' | 'offline'): Promise<void>;
}
