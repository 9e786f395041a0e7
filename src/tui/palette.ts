/** What can be typed next, above the input line: commands after a slash, and what Tab goes through. */
import { COMMAND_ROWS, findRow } from './commands.ts';
import { type ScreenLine, span } from './spans.ts';
import type { ChatState } from './state.ts';

const NAME_COLUMNS = 24;

export function paletteLines(state: ChatState, rows: number): ScreenLine[] {
  const { choices } = state;
  const words = choices?.words ?? commandsFor(state);
  const at = choices?.at ?? -1;
  const from = Math.max(0, Math.min(at - rows + 1, words.length - rows));
  return words.slice(from, from + rows).map((word, i) => choiceLine(word, from + i === at));
}

/** Whether a command is being typed, so that Escape gives it up. */
export function isTypingCommand({ input }: ChatState): boolean {
  return /^\/(?!\/)\S*$/.test(input.text.slice(0, input.cursor));
}

function commandsFor(state: ChatState): readonly string[] {
  if (!isTypingCommand(state)) return [];
  const stem = state.input.text.slice(0, state.input.cursor);
  return COMMAND_ROWS.map(({ name }) => `/${name}`).filter((word) => word.startsWith(stem));
}

function choiceLine(word: string, isChosen: boolean): ScreenLine {
  const row = word.startsWith('/') ? findRow(word.slice(1)) : undefined;
  const style = { inverse: isChosen, colour: 'cyan' } as const;
  if (row === undefined) return [span(`  ${word}`, style)];
  const written = `${word} ${row.usage}`.trimEnd();
  return [span(`  ${written.padEnd(NAME_COLUMNS)}`, style), span(row.summary, { dim: true })];
}
