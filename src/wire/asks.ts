/**
 * What a body asks, and of whom: the names in it, whether it is a question, and whether an answer is
 * wanted. The one place that reads it out of a body: the law, which wakes agents by it, never looks
 * into one. Pure.
 */
import { trimmedEnd } from '../core/law/trimmed-end.ts';
import type { Asks } from '../core/turns/turn-state.ts';
import { isQuestion } from './body-text.ts';
import { isFields } from './fields.ts';

/** Of a body of any depth so much text is looked through. */
const LOOK_CHARS_MAX = 16_384;
const NAMES_MAX = 32;
const NAME_CHARS_MAX = 128;
const NO_REPLY = /\bno (?:reply|response|answer) (?:is )?(?:needed|necessary|required|expected)\b/i;

/** Null when it asks nothing of anybody. */
export function asksOf(body: unknown): Asks | null {
  const fields = isFields(body) ? body : {};
  const names = [...namesIn(body)].filter(({ length }) => length <= NAME_CHARS_MAX);
  const asks: Asks = {
    names: names.slice(0, NAMES_MAX),
    isQuestion: isQuestion(body),
    wantsReply: fields.wants_reply === true,
    noReply:
      fields.no_reply === true || fields.wants_reply === false || NO_REPLY.test(textOf(body)),
  };
  const { isQuestion: isAsking, wantsReply, noReply } = asks;
  return names.length > 0 || isAsking || wantsReply || noReply ? asks : null;
}

/** A post that says of itself that it is grave: `{tier: 2}`, as a number or as text. */
export function isTier2(body: unknown): boolean {
  return isFields(body) && (body.tier === 2 || body.tier === '2');
}

/** `to` and `mentions`, and every `@name` in the texts of the body; a name ends before punctuation. */
export function namesIn(said: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  if (isFields(said)) {
    for (const one of [said.to, said.mentions].flat()) {
      if (typeof one === 'string') names.add(one.replace(/^@/, ''));
    }
  }
  for (const [, name = ''] of textOf(said).matchAll(
    /(?<![\p{L}\p{N}_.@])@([^\s@,;:!?()[\]{}"'<>]+)/gu,
  )) {
    names.add(trimmedEnd(name, '.…'));
  }
  return names;
}

function textOf(said: unknown): string {
  const texts: string[] = [];
  let left = LOOK_CHARS_MAX;
  const look = (value: unknown): void => {
    if (left <= 0) return;
    if (typeof value === 'string') {
      texts.push(value.slice(0, left));
      left -= value.length;
    } else if (typeof value === 'object' && value !== null) Object.values(value).forEach(look);
  };
  look(said);
  return texts.join('\n');
}
