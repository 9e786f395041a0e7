/**
 * What the hub itself tells an agent about its claims, sessions and questions, in words for a person at a
 * terminal. Only the hub's own messages are read so: the same fields from anybody else are shown as
 * what they are [CL34].
 */
import { SERVER } from '../core/law/principal.ts';

interface Told {
  readonly sender: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Null for what is no such notice; `clock` says a time as the reader's screen does. */
export function noticeText(
  { sender, body }: Told,
  clock: (seconds: number) => string,
): string | null {
  const { event, task_id: task } = body;
  if (sender !== SERVER.id) return null;
  if (event === 'docket_answered') return answerText(body);
  if (event === 'session_handed_off') {
    const { session_id: id, from, why } = body;
    return `${from} hands ${id} on to you: ${why}; to read it: synod sessions show ${asWord(String(id))}`;
  }
  if (typeof task !== 'string') return null;
  const take = `synod claim ${asWord(task)}`;
  switch (event) {
    case 'claim_free':
      return `${task} is free, and kept for you until ${clock(Number(body.reserved_until))}: ${take}`;
    case 'claim_offered':
      return `${body.from} offers you ${task}; to take it over: ${take}`;
    case 'claim_accepted':
      return `${body.by} has taken ${task} over from you`;
    default:
      return null;
  }
}

function answerText({ by, outcome, note, questions }: Told['body']): string {
  const asked = Array.isArray(questions) ? questions.map((one) => one.text).join(' / ') : '';
  const said = typeof note === 'string' ? `: ${note}` : '';
  return `${by} ${outcome === 'answered' ? 'answers' : `closed (${outcome})`} your question "${asked}"${said}`;
}

/** For a shell, as one word and nothing else. */
export function asWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
