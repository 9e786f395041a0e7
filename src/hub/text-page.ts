/**
 * Texts that are kept for a while, in order, and given up all together. This one has them as they came; where the
 * platform can it is given one that has them as bytes, which are nothing to the collector: what is held for some
 * seconds only to be given up would else be copied, found old, and lie about as such until everything is collected.
 */

export interface TextPage {
  readonly count: number;
  /** What the texts take. */
  readonly size: number;
  /** False when there is no room; the first text has it, however large it is. */
  add(text: string): boolean;
  /** Counted from zero. */
  read(index: number): string;
  /** Nothing of it is read any more. */
  close(): void;
}

/** So large, unless its first text is larger. */
export type OpenTextPage = (sizeMax: number) => TextPage;

export function openTextPage(sizeMax: number): TextPage {
  const texts: string[] = [];
  let size = 0;
  return {
    get count() {
      return texts.length;
    },
    get size() {
      return size;
    },
    add(text) {
      if (texts.length > 0 && size + text.length > sizeMax) return false;
      texts.push(text);
      size += text.length;
      return true;
    },
    read: (index) => texts[index] as string,
    close: () => {},
  };
}
