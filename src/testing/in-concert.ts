/**
 * Several hubs in concert without a network: one sequences, the others forward to it. Which one that is can be
 * changed at any time, and what is on its way can be lost before or after it was decided.
 */
import type { Hub } from '../hub/hub.ts';
import type { Forwarded, Sequencing } from '../hub/sequencing.ts';
import type { Whisper } from '../hub/whisper.ts';

export interface Concert {
  /** The part of one hub; `play` is called when it is open. */
  part(name: string): Sequencing & { play(hub: Hub): void };
  /** From now on this one sequences; null: nobody. */
  conduct(name: string | null): void;
  /** The next command that is forwarded is lost, before or after it was decided. */
  lose(when: 'before' | 'after'): void;
  /** The next that is forwarded is too large for that. */
  enlarge(): void;
  /** How many commands were forwarded. */
  readonly forwarded: number;
}

export function createConcert(): Concert {
  const hubs = new Map<string, Hub>();
  const changes = new Set<() => void>();
  const ears = new Map<string, (words: readonly Whisper[], from: string) => void>();
  let conductor: string | null = null;
  let lost: 'before' | 'after' | null = null;
  let isLarge = false;
  let forwarded = 0;

  return {
    get forwarded() {
      return forwarded;
    },
    conduct(name) {
      conductor = name;
      for (const change of changes) change();
    },
    lose(when) {
      lost = when;
    },
    enlarge() {
      isLarge = true;
    },
    part: (name) => ({
      play: (hub) => void hubs.set(name, hub),
      get standing() {
        return { server: name, sequencer: conductor, changes: 0 };
      },
      get isElsewhere() {
        return conductor !== name;
      },
      async forward(commands): Promise<Forwarded> {
        if (conductor === name || isLarge) {
          isLarge = false;
          return 'here';
        }
        const hub = conductor === null ? undefined : hubs.get(conductor);
        if (hub === undefined) return 'nobody';
        const loss = lost;
        lost = null;
        if (loss === 'before') return 'unknown';
        forwarded += commands.length;
        if (commands.length === 0) await hub.ask(() => null);
        const asked = commands.map((command) => hub.submit({ ...command, at: hub.stamp() }));
        const outcomes = await Promise.all(asked);
        const agents = new Set(commands.map(({ by }) => by.id));
        const passing = hub.whispers?.unsaid(agents) ?? [];
        return loss === 'after' ? 'unknown' : { outcomes, length: hub.stats.entries, passing };
      },
      onChange(listener) {
        changes.add(listener);
        return () => changes.delete(listener);
      },
      whisper(words) {
        for (const [other, hear] of ears) if (other !== name) hear(words, name);
      },
      onWhisper(listener) {
        ears.set(name, listener);
        return () => ears.delete(name);
      },
      onReturn: () => () => {},
    }),
  };
}
