/**
 * What other servers say in passing, taken into the state. A feed's claim of what it has shown is a range of positions:
 * a message that was released from being held after that server last read the log was not among them, and is cut out,
 * so that nothing is claimed that nobody saw [R5].
 */
import { evolve } from '../core/law/world.ts';
import { armPresence } from '../core/talk/presence.ts';
import { evolvePresented, type Presented } from '../core/talk/presented.ts';
import type { Clock } from './clock.ts';
import type { Replica } from './replica.ts';
import type { Whisper } from './whisper.ts';
import type { Beaten } from './whispers.ts';

/** Releases that are remembered. */
const KEPT_MAX = 1_000;

export interface Hearing {
  /** From another server, which may know of somebody that we have not read of yet. */
  hear(words: readonly Whisper[]): void;
  /** The message at `position` was released by the entry at `entry`. */
  noteRelease(position: number, entry: number): void;
  /** What feeds have shown the agent, as it is now, to be told to the others. */
  presentedTo(agent: string): Whisper | null;
  /** The last beat of everybody who is not gone. */
  beats(): Iterable<Beaten>;
  /** For how long every beat was heard, by us or by who told us [SQ5]. */
  awakeMs(): number;
  /** Not every beat was heard: silence until now means nothing. */
  onDeaf(): void;
}

export function createHearing(
  replica: Pick<Replica, 'world' | 'length'>,
  clock: Pick<Clock, 'now'>,
  onTrouble: (what: string, cause: unknown) => void,
): Hearing {
  let released: { readonly position: number; readonly entry: number }[] = [];
  /** What was released before is not known any more. */
  let since = 0;

  function take(word: Whisper): void {
    const { world } = replica;
    if (word.type === 'presence.beaten') {
      const known = world.agents.get(word.agent)?.presence.beatAt ?? 0;
      // Said again to a newcomer, it is old news to the others.
      if (word.at > known) evolve(world, word, world.length);
    } else if (word.type === 'offer.refreshed') {
      evolve(world, word, world.length);
    } else if (word.type === 'server.awake') {
      const from = clock.now() - word.forMs;
      if (from >= world.awakeFrom) return;
      world.awakeFrom = from;
      for (const name of world.agents.keys()) armPresence(world, name);
    } else if (word.type === 'inbox.presented') {
      const shown = certain(word);
      if (shown !== null) evolvePresented(world, shown);
    }
  }

  /** As much of the range as is certain; null when nothing is. */
  function certain({ length, ...shown }: Presented & { length: number }): Presented | null {
    if (length < since) return null;
    let { from } = shown;
    for (const { position, entry } of released) {
      if (entry >= length && position >= from && position <= shown.to) from = position + 1;
    }
    return from > shown.to ? null : { ...shown, from };
  }

  return {
    hear(words) {
      for (const word of words) {
        try {
          take(word);
        } catch (cause) {
          onTrouble('what another server said in passing does not fit here', cause);
        }
      }
    },
    noteRelease(position, entry) {
      released.push({ position, entry });
      if (released.length <= 2 * KEPT_MAX) return;
      released = released.slice(KEPT_MAX);
      since = (released[0]?.entry ?? 0) + 1;
    },
    presentedTo(by) {
      const { world, length } = replica;
      const shown = world.agents.get(by)?.presented;
      if (shown == null) return null;
      const [from, to] = shown;
      return { type: 'inbox.presented', at: world.at, by, from, to, length };
    },
    *beats() {
      for (const [agent, { presence }] of replica.world.agents) {
        const { beatAt: at, staleMs, offlineMs, state } = presence;
        if (at === 0 || state === 'offline') continue;
        yield { type: 'presence.beaten', at, agent, beat: { staleMs, offlineMs } };
      }
    },
    awakeMs: () => clock.now() - replica.world.awakeFrom,
    onDeaf() {
      replica.world.awakeFrom = clock.now();
    },
  };
}
