/**
 * What an agent of any vendor tells of a turn, in one vocabulary. What a vendor says that has no word here
 * is passed on as `other`, and a line that is no message at all is one item and fails nobody [VC4].
 */
import type { GateOutcome } from '../../../wire/gate-words.ts';

/**
 * How far a step of a turn is.
 *
 * @example
 * ```ts
 * const isOver = (state: StepState): boolean => state !== 'started';
 * ```
 */
export type StepState = 'started' | 'completed' | 'failed' | 'declined';

/**
 * One thing that happened in a turn.
 *
 * @example
 * for await (const item of session.run('mend the test')) if (item.type === 'text') console.log(item.text);
 */
export type AgentItem =
  /** What it said, whole. */
  | { readonly type: 'text'; readonly text: string }
  /** A piece of what it is saying. */
  | { readonly type: 'delta'; readonly text: string }
  | { readonly type: 'thought'; readonly text: string }
  | { readonly type: 'plan'; readonly text: string }
  | {
      readonly type: 'command';
      readonly id: string;
      readonly command: string;
      readonly state: StepState;
      readonly exitCode?: number;
      readonly output?: string;
    }
  | {
      readonly type: 'change';
      readonly id: string;
      readonly files: readonly string[];
      readonly state: StepState;
    }
  | {
      readonly type: 'tool';
      readonly id: string;
      readonly name: string;
      readonly state: StepState;
      readonly input?: unknown;
      readonly output?: string;
    }
  /** A person was asked, and what came of it. */
  | {
      readonly type: 'approval';
      readonly action: string;
      readonly subject: string;
      readonly state: GateOutcome['state'];
      readonly words: string;
    }
  /** A question for a person, which nobody can answer while the turn runs. */
  | { readonly type: 'question'; readonly text: string }
  /** What it has used so far in this turn. */
  | { readonly type: 'usage'; readonly usage: AgentUsage }
  /** The model is asked again, or the like: nothing has ended. */
  | { readonly type: 'notice'; readonly text: string }
  /** A line of its output that is no message. */
  | { readonly type: 'bad_line'; readonly line: string }
  /** So many items were let go because nobody read them. */
  | { readonly type: 'left_out'; readonly count: number }
  | { readonly type: 'other'; readonly name: string; readonly data: unknown };

/**
 * What a turn used, as the vendor counts it.
 *
 * @example
 * ```ts
 * const total = ({ tokensIn, tokensOut }: AgentUsage): number => tokensIn + tokensOut;
 * ```
 */
export interface AgentUsage {
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly usd?: number;
}

/**
 * How a turn ended.
 *
 * @example
 * ```ts
 * const said = ({ state, text, error }: AgentTurnEnd): string =>
 *   state === 'completed' ? text : (error ?? state);
 * ```
 */
export interface AgentTurnEnd {
  readonly state: 'completed' | 'interrupted' | 'failed';
  /** What the agent said last. */
  readonly text: string;
  /** Why it failed, in a sentence; null when it did not. */
  readonly error: string | null;
  readonly usage: AgentUsage;
}
