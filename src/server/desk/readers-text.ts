/**
 * Who was handed a message, as JSON. Messages of a page that follow each other mostly have the same readers, who are
 * written once then.
 */

export function createReadersText(): (readers: readonly string[] | null) => string {
  let last: readonly string[] | null = null;
  let text = 'null';
  return (readers) => {
    const isSame =
      readers?.length === last?.length && (readers?.every((name, i) => name === last?.[i]) ?? true);
    if (!isSame) {
      last = readers;
      text = JSON.stringify(readers);
    }
    return text;
  };
}
