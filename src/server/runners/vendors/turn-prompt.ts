/**
 * What an agent of a vendor is told when its turn begins: who it is, why it was woken, and the messages,
 * quoted as data in the envelope of `wire/quoted.ts` [RV1]. What did not fit was not delivered and stays
 * owed. How a turn ends in other ways than `done` is said here once, and read in `turn-ending.ts`.
 */
import { named, QUOTED_MEANS } from '../../../wire/quoted.ts';
import { RECV_TOOL, SEND_TOOL } from '../../../wire/tool-names.ts';
import { quoteGiven } from '../quote-given.ts';
import type { TurnJob } from '../runner.ts';

export interface TurnPrompt {
  readonly text: string;
  /** The ids of the messages that are in it. */
  readonly shown: readonly string[];
}

type Told = Pick<TurnJob, 'turn' | 'messages'>;

/** `toolPrefix` stands before the names of our tools in that vendor's program. */
export function turnPrompt(
  { turn, messages }: Told,
  toolPrefix: string,
  nowMs: number,
): TurnPrompt {
  const { text, shown } = quoteGiven(messages, nowMs);
  const left = messages.length - shown.length;
  const lines = [
    `Synod: a turn of the agent ${named(turn.agent_id)} in the space ${named(turn.space)}. ` +
      `It began because ${counted(messages.length)} arrived. ${QUOTED_MEANS}`,
    ...(turn.after_restart ? [AFTER_RESTART] : turn.attempt > 1 ? [AFTER_FAILURE] : []),
    ...(text === '' ? [] : [text]),
    ...(left > 0
      ? [`Synod: ${counted(left)} did not fit here; ${toolPrefix}${RECV_TOOL} shows them.`]
      : []),
    `Synod: an answer is sent with ${toolPrefix}${SEND_TOOL}, with reply_to the id of the message. ` +
      'What this turn ends with as text is kept for people to read and is sent to nobody. When only a ' +
      'person can say how to go on, the last line is JSON: {"outcome":"gave_up","question":"…"}. When ' +
      'there was nothing to do, it is {"outcome":"nothing"}.',
  ];
  return { text: lines.join('\n'), shown: shown.map(({ id }) => id) };
}

const AFTER_RESTART =
  'Synod: the hub was restarted during the turn before this one, over the same messages. Part of the work may be done already.';
const AFTER_FAILURE =
  'Synod: the turn before this one, over the same messages, failed. Part of the work may be done already.';

function counted(count: number): string {
  return `${count} message${count === 1 ? '' : 's'}`;
}
