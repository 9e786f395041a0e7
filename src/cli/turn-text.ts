/** A turn for a person: why it began, what it cost, and whether it did anything. */
import type { CallOutput } from '../client/operations.ts';
import { ageText, clockTime } from './message-text.ts';

export type Turn = CallOutput<'turns.list'>['turns'][number];

/** What a turn or an agent cost; what nobody reported is not shown as nothing. */
export function billText({ usd, tokens_in: read, tokens_out: wrote }: Turn['cost']): string {
  const tokens = read + wrote;
  const facts = [
    usd > 0 ? `$${usd.toFixed(usd < 0.1 ? 4 : 2)}` : '',
    tokens > 0 ? `${tokens} tokens` : '',
  ].filter(Boolean);
  return facts.join(', ') || 'no cost told';
}

export function turnRow(turn: Turn): string[] {
  return [
    turn.turn_id,
    turn.agent_id,
    stateText(turn),
    `${reasonText(turn)}`,
    spanText(turn),
    billText(turn.cost),
    turn.note ?? '',
  ];
}

/** The outcome, and whether anything came of it. */
export function stateText(turn: Turn): string {
  const { state, sends, fruitless, failures, retry_at: retryAt } = turn;
  if (state === 'failed' && retryAt !== null) {
    return `failed ${failures}×, again at ${clockTime(retryAt)}`;
  }
  if (state === 'done' && fruitless) return 'done, read nothing';
  if (sends > 0) return `${state}, sent ${sends}`;
  return state;
}

/** Why it began: the message, of whom and where. */
export function reasonText({ reason }: Pick<Turn, 'reason'>): string {
  const [first, ...more] = reason.message_ids;
  if (first === undefined) return reason.rule;
  const count = more.length === 0 ? '' : ` and ${more.length} more`;
  return `${first}${count} of ${named(reason.senders)} on ${named(reason.channels)}`;
}

function named([first = '?', ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first} +${more.length}`;
}

function spanText({ due_at: due, taken_at: taken, ended_at: ended }: Turn): string {
  const at = clockTime(taken ?? due);
  if (taken === null) return `due ${at}`;
  return ended === null ? `since ${at}` : `${at}, ${ageText(ended - taken)}`;
}
