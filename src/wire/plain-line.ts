/** Text of others as one line for a screen: what would move the cursor, colour, reorder or hide is written out. */
import { HIDDEN, written } from '../core/law/hidden.ts';

export function plainLine(text: string, tab: string): string {
  return text.replace(HIDDEN, (char) => {
    if (char === '\t') return tab;
    return char === '\n' ? '\\n' : written(char);
  });
}
