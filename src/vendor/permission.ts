/**
 * A permission prompt of a vendor's agent, become a gate [RV3]. What the agent is told afterwards says
 * which of the ends it was: approved, denied by whom and why, not answered in time, or withdrawn. Only
 * `approved` lets anything happen. One turn may ask so often and no more.
 */
import { type GateOutcome, gateWords } from '../wire/gate-words.ts';
import type { PermissionAsk } from './permission-ask.ts';

export const PROMPTS_MAX = 50;
const ACTION_CHARS_MAX = 100;
const SUBJECT_CHARS_MAX = 1_000;
/** A turn that waits for a person is no turn that hangs: it says so in time. */
const STILL_MS = 60_000;

export interface Permission {
  readonly isApproved: boolean;
  readonly state: GateOutcome['state'];
  /** For the agent. */
  readonly words: string;
}

export interface Permissions {
  ask(ask: PermissionAsk): Promise<Permission>;
}

/** What a person is asked: so much of it as can be read. */
export interface GateWish extends PermissionAsk {
  /** Seconds after which nobody answering ends it. */
  readonly deadline?: number;
}

export interface Asking {
  /** Waits for a person. */
  askGate(wish: GateWish): Promise<GateOutcome>;
  /** Tells who watches, and that somebody still waits. */
  note(text: string): void;
  readonly signal: AbortSignal;
  readonly deadline: number | null;
}

export function createPermissions({ askGate, note, signal, deadline }: Asking): Permissions {
  let count = 0;
  return {
    async ask({ action, subject, payload }) {
      count += 1;
      const what = {
        action: action.slice(0, ACTION_CHARS_MAX).toWellFormed(),
        subject: shortened(subject),
        payload,
        ...(deadline !== null && { deadline }),
      };
      if (count > PROMPTS_MAX) {
        const words = `Not approved: this turn has asked ${PROMPTS_MAX} times, which is all it may. Nobody was asked.`;
        return { isApproved: false, state: 'withdrawn', words };
      }
      note(`asks a person: ${what.action}: ${what.subject}`);
      const still = setInterval(() => note(`still waits for a person: ${what.action}`), STILL_MS);
      const outcome = await answered(askGate, what, signal);
      clearInterval(still);
      const words = gateWords(outcome);
      note(`${outcome.state}: ${what.action}: ${words}`);
      return { isApproved: outcome.state === 'approved', state: outcome.state, words };
    },
  };
}

/** A gate that could not be asked, or a turn that is over, is no approval. */
async function answered(
  askGate: Asking['askGate'],
  ask: GateWish,
  signal: AbortSignal,
): Promise<GateOutcome> {
  const gone = (reason: string): GateOutcome => ({ state: 'withdrawn', by: null, reason });
  if (signal.aborted) return gone('the turn is over');
  try {
    return await askGate(ask);
  } catch (error) {
    return gone(error instanceof Error ? error.message : String(error));
  }
}

function shortened(subject: string): string {
  const flat = subject.toWellFormed();
  return flat.length > SUBJECT_CHARS_MAX
    ? `${flat.slice(0, SUBJECT_CHARS_MAX).toWellFormed()}…`
    : flat;
}
