/**
 * A text as a prompt may hold it: nothing hidden in it, no credential, and where it is not trusted no token
 * that a model's template would read as the end of a message [PP5] [PP6]. This is done before anything is
 * cut, so that no cut leaves half of a secret.
 */
import { findSecrets, REDACTED } from '../../telemetry/redact.ts';
import { visibleText } from '../../wire/visible.ts';
import type { PromptTrust, RedactedSecret } from './prompt-types.ts';

export interface Cleaner {
  (text: string, label: string, trust: PromptTrust): string;
  readonly redacted: RedactedSecret[];
}

/** Shorter words are no secrets, and would take a text apart. */
export const SECRET_CHARS_MIN = 6;

export function createCleaner(secrets: readonly string[]): Cleaner {
  const words = secrets.map(visibleText).toSorted((a, b) => b.length - a.length);
  const redacted: RedactedSecret[] = [];
  const clean = (text: string, label: string, trust: PromptTrust): string => {
    let shown = visibleText(text);
    const lines = new Set<number>();
    for (const word of words) {
      const parts = shown.split(word);
      let at = 0;
      for (const part of parts.slice(0, -1)) {
        at += part.length;
        lines.add(lineOf(shown, at));
        at += word.length;
      }
      shown = parts.join(REDACTED);
    }
    const found = findSecrets(shown);
    for (const at of found.at) lines.add(lineOf(shown, at));
    for (const line of [...lines].sort((a, b) => a - b)) redacted.push({ label, line });
    return trust === 'trusted' ? found.text : harmless(found.text);
  };
  return Object.assign(clean, { redacted });
}

/** So many letters, signs or blanks without anything else between are a word to a tokenizer. */
const WORD_CHARS_MAX = 512;
const LONG_WORD = new RegExp(
  ['[\\p{L}\\p{M}]', '[^\\s\\p{L}\\p{M}\\p{N}]', '\\s']
    .map((kind) => `${kind}{${WORD_CHARS_MAX}}(?=${kind})`)
    .join('|'),
  'gu',
);

/**
 * `<|end|>` and its kin mean something to a model, or make its tokenizer throw; and some tokenizers take
 * the square of a word's length, so that one long word would hold everybody up. It is broken, not cut.
 */
function harmless(text: string): string {
  return text
    .replaceAll('<|', '‹|')
    .replace(LONG_WORD, (word) => `${word}${/^\s/.test(word) ? '·' : '\n'}`);
}

function lineOf(text: string, at: number): number {
  let line = 1;
  for (let i = text.indexOf('\n'); i >= 0 && i < at; i = text.indexOf('\n', i + 1)) line++;
  return line;
}
