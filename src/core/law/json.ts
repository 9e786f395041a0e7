/**
 * JSON as it is written. V8 reads a name that is not the first of its object by a short cut: the name
 * that came in its place the last time is compared with the text itself, escapes and all. After somebody
 * sent `{"y":1,"caf\\":1}`, the name of another's `{"y":1,"caf\u00e9":1}` was read as `caf\`
 * (nodejs/node#63785; Node 24 and 26). Names that hold an escape are therefore read here, and all that is
 * read anywhere in the hub and its clients is read through this [M12].
 */

/** Throws SyntaxError, as `JSON.parse` does. */
export function readJson(text: string): unknown {
  return hasEscapedName(text) ? new Reader(text).whole() : JSON.parse(text);
}

/** Looks only at strings that hold an escape: nearly every text is passed over without a stop. */
function hasEscapedName(text: string): boolean {
  let at = text.indexOf('\\');
  while (at >= 0) {
    const end = endOfString(text, at);
    if (end < 0) return false;
    if (text[afterBlanks(text, end + 1)] === ':') return true;
    at = text.indexOf('\\', end + 1);
  }
  return false;
}

/** Where the quote is that ends the string of the escape at `from`; -1 when nothing ends it. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let slash = end - 1;
    while (slash >= from && text[slash] === '\\') slash--;
    if ((end - slash) % 2 === 1) return end;
  }
  return -1;
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (' \n\r\t'.includes(text[at] ?? '-')) at++;
  return at;
}

/** Loosely what a string, a number or a word is; `JSON.parse` is who judges it. */
const SCALAR = /"(?:[^"\\]|\\.)*"|[-+.\w]+/sy;
/** Deeper than anything that is let in anywhere, and far from the end of the stack. */
const DEPTH_MAX = 1_000;

class Reader {
  private readonly text: string;
  private at = 0;
  private depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  whole(): unknown {
    const value = this.value();
    if (this.next() !== '') throw this.fault();
    return value;
  }

  private value(): unknown {
    const char = this.next();
    if (char !== '{' && char !== '[') return this.scalar();
    if (++this.depth > DEPTH_MAX) throw new SyntaxError('JSON with escaped names nests too deep');
    this.at++;
    const value = char === '{' ? this.fields() : this.elements();
    this.depth--;
    return value;
  }

  private fields(): object {
    const object: Record<string, unknown> = {};
    if (this.took('}')) return object;
    do {
      if (this.next() !== '"') throw this.fault();
      const name = this.scalar() as string;
      if (!this.took(':')) throw this.fault();
      set(object, name, this.value());
    } while (this.took(','));
    if (!this.took('}')) throw this.fault();
    return object;
  }

  private elements(): unknown[] {
    const list: unknown[] = [];
    if (this.took(']')) return list;
    do list.push(this.value());
    while (this.took(','));
    if (!this.took(']')) throw this.fault();
    return list;
  }

  private scalar(): unknown {
    SCALAR.lastIndex = this.at;
    const found = SCALAR.exec(this.text);
    if (found === null) throw this.fault();
    this.at = SCALAR.lastIndex;
    return JSON.parse(found[0]);
  }

  private took(char: string): boolean {
    const isThere = this.next() === char;
    if (isThere) this.at++;
    return isThere;
  }

  /** The next character that is no blank; empty at the end. */
  private next(): string {
    this.at = afterBlanks(this.text, this.at);
    return this.text.charAt(this.at);
  }

  private fault(): SyntaxError {
    return new SyntaxError(`no JSON at position ${this.at}`);
  }
}

/** `__proto__` is a name like any other, as it is for `JSON.parse`. */
function set(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else {
    const own = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(object, name, own);
  }
}
