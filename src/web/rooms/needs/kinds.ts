/** What each kind of item asks of a person: the word that stands before it, and what is done about it. */
import type { CallOutput } from '../../../client/index.ts';

export type Item = CallOutput<'docket.list'>['items'][number];
export type Subject = Item['subjects'][number];
export type Kind = Subject['kind'];
export type Gate = CallOutput<'gates.get'>;

export const VERBS: Readonly<Record<Kind, string>> = {
  gate: 'approve',
  question: 'answer',
  blocked: 'go there',
  held: 'release',
  parked: 'resume',
  dead: 'retry',
  alert: 'look',
};

/** What was said about it on one line, without the reason twice. */
export function subjectText({ kind, reason, text, to }: Subject): string {
  const said = kind === 'question' || text.startsWith(reason) ? text : `${reason}: ${text}`;
  // `gave_up` is a word of the wire.
  const line = said.replaceAll(/\s+/g, ' ').replace(/^gave_up\b/, 'gave up');
  return to === null ? line : `(to ${to}) ${line}`;
}

/** What is dead is named by its turn, or by its agent. */
export function isTurn(subject: string): boolean {
  return /^t\d+$/.test(subject);
}

export function whoDecides({ by: { kinds, names, count } }: Gate): string {
  const who =
    names.length > 0 ? names.join(', ') : kinds.length > 0 ? kinds.join(', ') : 'any person';
  return count > 1 ? `${count} of ${who}` : who;
}
