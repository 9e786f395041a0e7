/**
 * What turns say that run at other servers, as those whisper it: the last lines of the newest, for whoever asks for or
 * watches such a turn here [SQ17]. The whole of it lies at the server that runs it.
 */
import type { Hub } from '../../hub/hub.ts';
import type { TurnLine, TurnOutput, TurnWindow } from '../desk/turn-window.ts';

const TURNS_MAX = 200;
const LINES_MAX = 200;
const CHARS_MAX = 64 * 1024;
/** So long the first word of a turn may be on its way. */
const WAIT_MS = 250;

export interface TurnEcho extends Pick<TurnWindow, 'follow'> {
  tail(space: string, turnId: string): readonly TurnLine[];
  /** Resolved when something of the turn is here, or when it has been waited for long enough. */
  first(space: string, turnId: string): Promise<void>;
  /** Hears what the other servers of the space say; the answer stops it. */
  hear(hub: Pick<Hub, 'space' | 'whispers'>): () => void;
  /** A space was removed. */
  forget(space: string): void;
}

export function createTurnEcho(): TurnEcho {
  const turns = new Map<string, readonly TurnLine[]>();
  const listeners = new Set<(output: TurnOutput) => void>();
  const keyOf = (space: string, turn: string): string => `${space} ${turn}`;

  function keep(key: string, lines: readonly TurnLine[]): void {
    const all = [...(turns.get(key) ?? []), ...lines];
    let from = all.length;
    let chars = 0;
    while (from > 0 && all.length - from < LINES_MAX) {
      chars += all[from - 1]?.text.length ?? 0;
      if (chars > CHARS_MAX) break;
      from -= 1;
    }
    turns.delete(key);
    turns.set(key, all.slice(from));
    const oldest = turns.size > TURNS_MAX ? turns.keys().next().value : undefined;
    if (oldest !== undefined) turns.delete(oldest);
  }

  return {
    hear({ space, whispers }) {
      if (whispers === null) return () => {};
      return whispers.onTurnSaid(({ turn, agent, lines }) => {
        keep(keyOf(space, turn), lines);
        const output = { space, turn_id: turn, agent_id: agent, lines };
        for (const listener of listeners) listener(output);
      });
    },
    forget(space) {
      for (const key of turns.keys()) if (key.startsWith(keyOf(space, ''))) turns.delete(key);
    },
    async first(space, turnId) {
      if (turns.has(keyOf(space, turnId))) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, WAIT_MS);
      const hear = (output: TurnOutput): void => {
        if (output.space === space && output.turn_id === turnId) resolve();
      };
      listeners.add(hear);
      await promise;
      listeners.delete(hear);
      clearTimeout(timer);
    },
    tail: (space, turnId) => turns.get(keyOf(space, turnId)) ?? [],
    follow(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
