/**
 * The text without these characters at its end. A pattern like `/x+$/` says the same and is tried from every x: of a
 * hundred kilobytes of them with another behind, that is fifteen seconds.
 */
export function trimmedEnd(text: string, chars: string): string {
  let end = text.length;
  while (end > 0 && chars.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
