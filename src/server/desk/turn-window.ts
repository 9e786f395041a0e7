/** What turns say that run here, as the desk shows it: the last lines, and new ones as they come. */

/** One line that a turn said. */
export interface TurnLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly from: 'out' | 'err' | 'note';
  readonly text: string;
}

export interface TurnOutput {
  readonly space: string;
  readonly turn_id: string;
  readonly agent_id: string;
  readonly lines: readonly TurnLine[];
}

export interface TurnWindow {
  /** The last lines of a turn, also while it runs. */
  tail(space: string, turnId: string): readonly TurnLine[];
  /** Tells what turns say as they say it, until the answer is called. */
  follow(listener: (output: TurnOutput) => void): () => void;
}
