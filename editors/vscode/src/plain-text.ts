/**
 * Words of others as the editor may show them: control and bidi characters are made visible, and nothing
 * in them becomes a link, a command or an icon. Messages of the editor read `[text](command:…)` as a link
 * and `$(name)` as an icon.
 */
import { neutralise } from '../../../src/cli/terminal.ts';

const CHARS_MAX = 300;

export function plainWords(text: string): string {
  const line = neutralise(text.replace(/\s+/g, ' ').trim());
  const inert = line.replaceAll('](', '] (').replaceAll('$(', '$ (');
  return inert.length > CHARS_MAX ? `${inert.slice(0, CHARS_MAX)}…` : inert;
}
