/**
 * What only memory knew, taken over by a world that was made anew from the log: the
 * last beats, offers that were refreshed, what feeds have shown. It is promised to
 * nobody, and it is not lost without need [H11].
 */
import { evolvePresence } from '../talk/presence.ts';
import { evolvePresented } from '../talk/presented.ts';
import type { World } from './state.ts';
import { type EphemeralEvent, evolve } from './world.ts';

/** `to` is the same space at the same length or later; what it does not know is left behind. */
export function carryMemory(from: World, to: World): void {
  for (const carry of Object.values(CARRIERS)) carry(from, to);
}

/** One for each kind of ephemeral event, so that a new kind is not forgotten here. */
const CARRIERS: Readonly<Record<EphemeralEvent['type'], (from: World, to: World) => void>> = {
  'presence.beaten'(from, to) {
    for (const { name, presence } of from.agents.values()) {
      const { beatAt: at, staleMs, offlineMs } = presence;
      const known = to.agents.get(name)?.presence.beatAt ?? 0;
      // A first beat is a stored event; without it there is nothing to prolong.
      if (known === 0 || known >= at) continue;
      evolvePresence(to, {
        type: 'presence.beaten',
        at,
        agent: name,
        beat: { staleMs, offlineMs },
      });
    }
  },
  'inbox.presented'(from, to) {
    for (const { name: by, presented } of from.agents.values()) {
      if (presented === null || !to.agents.has(by)) continue;
      const [first, last] = presented;
      evolvePresented(to, { type: 'inbox.presented', at: to.at, by, from: first, to: last });
    }
  },
  'offer.refreshed'(from, to) {
    for (const [agent, mine] of from.offers.agents) {
      for (const [place, { kind, name, expiresAt }] of mine) {
        const known = to.offers.agents.get(agent)?.get(place)?.expiresAt ?? expiresAt;
        if (known >= expiresAt) continue;
        evolve(to, { type: 'offer.refreshed', at: to.at, agent, kind, name, expiresAt }, to.length);
      }
    }
  },
  /** Deadlines follow from the rest. */
  'clock.ticked'() {},
};
