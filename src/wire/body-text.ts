/**
 * The words of a message, for everybody who shows one. A body that is `{text}` is a text and is
 * shown as one at every door; every other body is shown as what it is. What a client of the Synapse
 * door said beside its text stands in `synapse`, which is for such clients and no part of the text.
 */
import { type Fields, isFields } from './fields.ts';

/** The field of a body in which the Synapse door keeps what its wire says beside the text. */
export const ASIDE = 'synapse';

/** Null when the body is more than a text. */
export function plainText(body: Fields): string | null {
  if (typeof body.text !== 'string') return null;
  for (const field in body) if (field !== 'text' && field !== ASIDE) return null;
  return body.text;
}

/** Every text in a body, however deep, in its order. */
export function textsOf(body: Fields): string[] {
  const texts: string[] = [];
  for (const field in body) if (field !== ASIDE) gather(body[field], texts);
  return texts;
}

/** A body nests no deeper than the door lets pass. */
function gather(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value);
  else if (typeof value === 'object' && value !== null) {
    for (const one of Object.values(value)) gather(one, texts);
  }
}

/** What people and SOX call a message that wants an answer. */
const ASKING = /^(ask|question|request|clarification_request)$/;

export function isQuestion(said: unknown): boolean {
  if (!isFields(said)) return false;
  const { type, question, text } = said;
  return (
    (typeof type === 'string' && ASKING.test(type)) ||
    (typeof question === 'string' && question.trim() !== '') ||
    (typeof text === 'string' && text.trimEnd().endsWith('?'))
  );
}
