/**
 * How a turn ended, in the words of the law. What a runner says fits its bounds before it is told; a
 * result that the law will not take is told as a failure, so that no turn is left running.
 */
import { isRefusal } from '../../core/law/decider.ts';
import { SERVER } from '../../core/law/principal.ts';
import { parseMessageId } from '../../core/talk/message-id.ts';
import type { FinishTurn } from '../../core/turns/turn-events.ts';
import { TURN_NOTE_CHARS_MAX, TURN_OUTPUT_CHARS_MAX } from '../../core/turns/turn-limits.ts';
import type { Hub } from '../../hub/hub.ts';
import type { TurnResult } from './runner.ts';

export interface Ending {
  /** What is to be said beside the note of the result. */
  readonly notes: readonly string[];
  /** The hub is closing: it is tried again by the next one. */
  readonly isRestart: boolean;
  /** Leaves secrets out. */
  clean(text: string): string;
  warn(line: string): void;
}

export async function finishTurn(
  hub: Hub,
  { id, epoch }: { readonly id: string; readonly epoch: number },
  result: TurnResult,
  { notes, isRestart, clean, warn }: Ending,
): Promise<void> {
  const asked = result.outcome === 'gave_up' ? result.question : undefined;
  const note = [asked, result.note, ...notes].filter((one) => one !== undefined).join('\n');
  const command: FinishTurn = {
    ...{ type: 'turn.finish', by: SERVER, at: hub.stamp(), id, epoch, isRestart },
    outcome: isRestart ? 'failed' : result.outcome,
    note: note === '' ? null : proseOf(clean(note)),
    output: outputOf(result),
    sessionRef: result.session_ref ?? null,
    consumed: consumedOf(result),
    cost: costOf(result),
    quota: result.quota === undefined ? null : { until: null, ...result.quota },
  };
  const answer = await hub.submit(command);
  if (!isRefusal(answer) || answer.refused === 'turn.stale') return;
  warn(`turn ${id} could not be finished as ${result.outcome}: ${answer.message}`);
  await hub.submit({
    ...{ ...command, at: hub.stamp(), outcome: 'failed', output: null, sessionRef: null },
    ...{ consumed: null, cost: null, quota: null, note: proseOf(answer.message) },
  });
}

function proseOf(text: string): string {
  const prose = text.toWellFormed().replace(/[^\P{Cc}\n\t]/gu, ' ');
  return prose.length > TURN_NOTE_CHARS_MAX ? `${prose.slice(0, TURN_NOTE_CHARS_MAX - 1)}…` : prose;
}

/** What it said, by which it is noticed that it repeats itself. */
function outputOf({ replies = [], output }: TurnResult): string | null {
  if (replies.length === 0) return output?.slice(0, TURN_OUTPUT_CHARS_MAX) ?? null;
  const said = replies.map(({ body }) => JSON.stringify(body)).join('\n');
  return said.slice(0, TURN_OUTPUT_CHARS_MAX);
}

function consumedOf({ consumed, outcome }: TurnResult): FinishTurn['consumed'] {
  if (consumed === undefined) return outcome === 'done' ? 'all' : null;
  return consumed === 'all' ? consumed : consumed.flatMap((id) => parseMessageId(id) ?? []);
}

function costOf({ cost }: TurnResult): FinishTurn['cost'] {
  if (cost === undefined) return null;
  return { usd: cost.usd ?? 0, tokensIn: cost.tokens_in ?? 0, tokensOut: cost.tokens_out ?? 0 };
}
