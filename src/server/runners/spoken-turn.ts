/**
 * A turn of somebody that has words and no tools: a model, a worker of a pool. It is shown the messages
 * quoted as data, and what it says is sent as the answer to the last of them.
 */
import { named, QUOTED_MEANS } from '../../wire/quoted.ts';
import { quoteGiven } from './quote-given.ts';
import type { TurnCost, TurnJob, TurnResult } from './runner.ts';

export function spokenPrompt({ turn, messages }: TurnJob, nowMs: number): string {
  const { text, shown } = quoteGiven(messages, nowMs);
  const cut = messages.length - shown.length;
  return [
    `Synod: messages for the agent ${named(turn.agent_id)}, oldest first. ${QUOTED_MEANS}`,
    text,
    ...(cut > 0 ? [`Synod: ${cut} more did not fit here.`] : []),
    'Synod: what you say is sent as the answer to the last message. To say nothing, say nothing.',
  ].join('\n');
}

/** What was said, as the result of the turn. */
export function spokenResult(job: TurnJob, said: string, cost?: TurnCost): TurnResult {
  const text = said.trim();
  const last = job.messages.at(-1);
  const bill = cost === undefined ? {} : { cost };
  if (text === '' || last === undefined) return { outcome: 'nothing', consumed: 'all', ...bill };
  const replies = [{ reply_to: last.message_id, body: { text } }];
  return { outcome: 'done', consumed: 'all', replies, ...bill };
}

/** Gives the transcript whole lines of a text that comes in pieces. */
export function createLiner(append: (line: string) => void): {
  push(piece: string): void;
  end(): void;
} {
  let rest = '';
  return {
    push(piece) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) append(line);
    },
    end() {
      if (rest !== '') append(rest);
      rest = '';
    },
  };
}
