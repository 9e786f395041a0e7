/**
 * A space that several servers serve: one of them sequences it, the others have commands decided there and answer
 * everything else from their own copy. Any of them may append, and the log lets only one win a position, so this
 * is about order and speed, never about what is true [SQ1].
 */
import type { Command } from '../core/law/world.ts';
import type { Whisper } from './whisper.ts';

export interface Standing {
  /** The name of this server. */
  readonly server: string;
  /** Who sequences, as far as is known here. */
  readonly sequencer: string | null;
  /** How often that has passed to another since this server looks. */
  readonly changes: number;
}

export interface Sequencing {
  readonly standing: Standing;
  /** Commands are decided at another server. */
  readonly isElsewhere: boolean;
  /** In the order given, after all that was forwarded before; of none, only the length of the log is asked. */
  forward(commands: readonly Command[]): Promise<Forwarded>;
  /** Told when this server begins or ceases to sequence. */
  onChange(listener: () => void): () => void;
  /** To every other server, for what only memory knows; cut into as many messages as it takes. */
  whisper(words: readonly Whisper[]): void;
  /** `from` is the other server, as it was opened: one that was started again is another. */
  onWhisper(listener: (words: readonly Whisper[], from: string) => void): () => void;
  /** Whispers were lost for a while, in both directions, and are not from now on. */
  onReturn(listener: () => void): () => void;
}

export type Forwarded =
  /** How long the log is when the last of them is stored, and what is in memory alone: who asked must see what it did. */
  | {
      readonly outcomes: readonly unknown[];
      readonly length: number;
      readonly passing: readonly Whisper[];
    }
  /** Decide here: nobody else does, or the one there is is too large to be sent. */
  | 'here'
  /** Not sent: fewer of them would be. */
  | 'too large'
  /** Nobody sequences the space now; nothing was changed. */
  | 'nobody'
  /** Sent, and not answered. */
  | 'unknown';
