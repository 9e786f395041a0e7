/** Pages of text as UTF-8 beside the heap. What is well-formed Unicode comes back as it was; nothing else is in a log. */
import type { OpenTextPage, TextPage } from '../../hub/text-page.ts';

/** A unit of UTF-16 is at most so many bytes. */
const UNIT_BYTES_MAX = 3;

/** The page that was closed last is used again: one is given up for each that is opened. */
export function createBytePages(): OpenTextPage {
  let spare: Buffer | null = null;

  function take(size: number): Buffer {
    const found = spare?.length === size ? spare : null;
    if (found !== null) spare = null;
    return found ?? Buffer.allocUnsafeSlow(size);
  }

  return (sizeMax) =>
    new BytePage(sizeMax, take, (bytes) => {
      if (bytes.length === sizeMax) spare = bytes;
    });
}

class BytePage implements TextPage {
  readonly #sizeMax: number;
  readonly #take: (size: number) => Buffer;
  readonly #giveBack: (bytes: Buffer) => void;
  #bytes: Buffer | null = null;
  /** Where each text ends. */
  readonly #ends: number[] = [];
  #size = 0;

  constructor(sizeMax: number, take: (size: number) => Buffer, giveBack: (bytes: Buffer) => void) {
    this.#sizeMax = sizeMax;
    this.#take = take;
    this.#giveBack = giveBack;
  }

  get count(): number {
    return this.#ends.length;
  }

  get size(): number {
    return this.#size;
  }

  add(text: string): boolean {
    const bytes = this.#bytes ?? this.#open(text);
    const left = bytes.length - this.#size;
    if (left < text.length * UNIT_BYTES_MAX && left < Buffer.byteLength(text)) return false;
    this.#size += bytes.write(text, this.#size);
    this.#ends.push(this.#size);
    return true;
  }

  read(index: number): string {
    const from = index === 0 ? 0 : (this.#ends[index - 1] as number);
    return (this.#bytes as Buffer).toString('utf8', from, this.#ends[index]);
  }

  close(): void {
    if (this.#bytes !== null) this.#giveBack(this.#bytes);
    this.#bytes = null;
  }

  #open(first: string): Buffer {
    const isLarge = first.length > this.#sizeMax / UNIT_BYTES_MAX;
    const size = isLarge ? Math.max(this.#sizeMax, Buffer.byteLength(first)) : this.#sizeMax;
    this.#bytes = this.#take(size);
    return this.#bytes;
  }
}
