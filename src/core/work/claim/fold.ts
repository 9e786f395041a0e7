/**
 * Text folded for comparison: two spellings that a file system may take for one file
 * fold to the same text. Each character folds to one character, so that `?` in a glob
 * still means one. Where file systems differ the fold joins more rather than fewer:
 * a false alarm costs a wait, a missed one costs somebody's work.
 */
export function foldText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase();
  let folded = '';
  for (const char of text.normalize('NFC')) folded += foldChar(char);
  return folded.normalize('NFC');
}

/** Up and then down: the round trip joins `ς` with `σ` and `ſ` with `s`, which lower case alone does not. */
function foldChar(char: string): string {
  const upper = char.toUpperCase();
  const lower = (isOne(upper) ? upper : char).toLowerCase();
  return isOne(lower) ? lower : char;
}

function isOne(text: string): boolean {
  const code = text.codePointAt(0);
  return code !== undefined && text.length === (code > 0xffff ? 2 : 1);
}
