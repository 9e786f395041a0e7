/** What turns say, as the desk shows it: the last lines, and new ones as they come. */

import type { TurnSaid } from '../../hub/whisper.ts';

/** One line that a turn said. */
export type TurnLine = TurnSaid['lines'][number];

export interface TurnOutput {
  readonly space: string;
  readonly turn_id: string;
  readonly agent_id: string;
  readonly lines: readonly TurnLine[];
}

export interface TurnWindow {
  /** The last lines of a turn, also while it runs; of one that is lively the first may be on their way from another server. */
  tail(space: string, turnId: string, isLively: boolean): Promise<readonly TurnLine[]>;
  /** Tells what turns say as they say it, until the answer is called. */
  follow(listener: (output: TurnOutput) => void): () => void;
}
