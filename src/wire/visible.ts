/** Text of others in which nothing is hidden: what cannot be seen is written out [QU2]. */
import { HIDDEN, written } from '../core/law/hidden.ts';

/** Lines and tabs stay; every line ends in one way. */
export function visibleText(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(HIDDEN, unlessLine);
}

function unlessLine(char: string): string {
  return char === '\n' || char === '\t' ? char : written(char);
}
