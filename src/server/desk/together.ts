/**
 * What the desks of several servers keep together: how much an agent was let do [SQ16], who is at their doors [SQ13],
 * and that what a revoked token opened is closed at each of them. Where a server is alone, there is nobody to tell.
 */
import type { Refusal } from '../../core/law/decider.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Activities } from './activity.ts';
import type { Caller } from './caller.ts';
import type { Platform } from './platform.ts';
import { createProofs, type Proofs } from './proofs.ts';
import { createCallLimits } from './rate-limit.ts';
import type { Spaces } from './spaces.ts';

export interface Together {
  /** Why the caller may not call now; what it may is counted at every server. */
  measure(caller: Caller): Refusal | null;
  readonly proofs: Proofs;
  /** To be called for every space that opens. */
  attend(hub: Hub): void;
}

export interface TogetherOptions {
  readonly spaces: Spaces;
  readonly platform: Platform;
  readonly activities: Activities;
  readonly callsPerSecond: number | null;
  onRevoked(tokenId: string): void;
}

/** By which wrong proofs are known among servers. */
const PROOF = 'proof';

export function createTogether(options: TogetherOptions): Together {
  const { spaces, platform, activities, onRevoked } = options;
  const limits = createCallLimits(options.callsPerSecond, platform.now);
  const whispersOf = (space: string) => spaces.find(space)?.whispers;
  const proofs = createProofs(platform, (space, credential) =>
    whispersOf(space)?.spend(PROOF, credential, 1, 1),
  );
  return {
    proofs,
    measure(caller) {
      const limit = limits.of(caller);
      if (limit === null) return null;
      const { space, principal } = caller;
      const refused = limit.check(`${space}/${principal.id}`);
      if (refused === null) whispersOf(space)?.spend(limit.name, principal.id, 1, limit.much);
      return refused;
    },
    attend({ space, watch, whispers }) {
      activities.opened(space);
      whispers?.onSpent(({ limit, key, cost }) => {
        if (limit === PROOF) proofs.slow(space, key);
        else limits.charge(limit, `${space}/${key}`, cost);
      });
      watch.events(
        (_world, _first, events) => {
          for (const event of events) {
            if (event.type === 'token.revoked' || event.type === 'token.rotated')
              onRevoked(event.id);
          }
        },
        { types: ['token.revoked', 'token.rotated'], isOfEveryHub: true },
      );
    },
  };
}
