/**
 * A shell command as words and operators: quoting is undone, and each word says whether it is the
 * very text the command will get. Only lists and pipelines of simple commands are read; at anything
 * else (substitution, compound command, function) reading ends and says why [GI17].
 */
export const COMMAND_CHARS_MAX = 65_536;

export interface Word {
  readonly text: string;
  /** No variable, wildcard, brace or tilde in it. */
  readonly isLiteral: boolean;
}

export interface Redirect {
  readonly operator: string;
  readonly target: Word;
}

export interface SimpleCommand {
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
  /** What stands before and after: `;`, `&`, `&&`, `||`, `|`, or nothing. */
  readonly before: string;
  readonly after: string;
}

export interface ShellReading {
  readonly commands: readonly SimpleCommand[];
  /** Why reading ended early; null when all was read. */
  readonly end: string | null;
}

type Token =
  | ({ readonly kind: 'word' } & Word)
  | { readonly kind: 'redirect'; readonly operator: string }
  | { readonly kind: 'separator'; readonly operator: string };

const KEYWORDS = new Set(
  'if then else elif fi for while until do done case esac select function coproc { } [[ ]] ! time'.split(
    ' ',
  ),
);

export function readShell(text: string): ShellReading {
  if (text.length > COMMAND_CHARS_MAX) {
    return { commands: [], end: `a command of ${text.length} characters is not read` };
  }
  const commands: SimpleCommand[] = [];
  const scanner = new Scanner(text);
  let before = '';
  let words: Word[] = [];
  let redirects: Redirect[] = [];
  const close = (after: string): void => {
    // A newline after `&&` or `|` changes nothing.
    if (words.length === 0 && redirects.length === 0 && before !== '') return;
    if (words.length > 0 || redirects.length > 0) {
      commands.push({ words, redirects, before, after });
    }
    words = [];
    redirects = [];
    before = after;
  };
  try {
    for (let token = scanner.next(); token !== null; token = scanner.next()) {
      if (token.kind === 'separator') close(token.operator);
      else if (token.kind === 'redirect') {
        const target = scanner.next();
        if (target?.kind !== 'word') throw new Unread('a redirection leads nowhere');
        if (token.operator.startsWith('<<') && token.operator !== '<<<') {
          scanner.expectHereDocument(target.text, token.operator === '<<-');
        }
        redirects.push({ operator: token.operator, target });
      } else {
        if (words.length === 0 && KEYWORDS.has(token.text)) {
          throw new Unread(`"${token.text}" makes a compound command`);
        }
        words.push({ text: token.text, isLiteral: token.isLiteral });
      }
    }
    close('');
    return { commands, end: null };
  } catch (error) {
    // The command being read when it ended is not known whole, so it is left out.
    if (error instanceof Unread) return { commands, end: error.message };
    throw error;
  }
}

class Unread extends Error {}

class Scanner {
  readonly #text: string;
  #at = 0;
  readonly #documents: {
    readonly mark: string;
    readonly isIndented: boolean;
    isQuoted: boolean;
  }[] = [];
  #lastWordQuoted = false;

  constructor(text: string) {
    this.#text = text;
  }

  expectHereDocument(mark: string, isIndented: boolean): void {
    this.#documents.push({ mark, isIndented, isQuoted: this.#lastWordQuoted });
  }

  next(): Token | null {
    this.#skipBlank();
    const rest = this.#text.slice(this.#at, this.#at + 3);
    if (rest === '') {
      if (this.#documents.length > 0) throw new Unread('a here-document has no end');
      return null;
    }
    const char = rest[0] as string;
    if (char === '\n') {
      this.#at++;
      this.#skipHereDocuments();
      return { kind: 'separator', operator: ';' };
    }
    const operator = /^(&>>|&>|&&|&|;;|;|\|\||\|&|\||\(|\))/.exec(rest)?.[0];
    if (operator !== undefined) {
      if (operator === '(' || operator === ')') throw new Unread('parentheses make a subshell');
      if (operator === ';;') throw new Unread('";;" makes a compound command');
      this.#at += operator.length;
      if (operator.startsWith('&>')) return { kind: 'redirect', operator };
      return { kind: 'separator', operator: operator === '|&' ? '|' : operator };
    }
    return this.#redirect() ?? this.#word();
  }

  #skipBlank(): void {
    for (;;) {
      const pair = this.#text.slice(this.#at, this.#at + 2);
      if (pair === '\\\n') this.#at += 2;
      else if (/^[ \t\r]/.test(pair)) this.#at++;
      else if (pair.startsWith('#')) this.#at = this.#lineEnd();
      else return;
    }
  }

  #lineEnd(): number {
    const end = this.#text.indexOf('\n', this.#at);
    return end === -1 ? this.#text.length : end;
  }

  #redirect(): Token | null {
    const pattern = /(\d*)(<<<|<<-|<<|<>|<&|>>|>&|>\||<|>)/y;
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return null;
    this.#at += found[0].length;
    if (this.#text[this.#at] === '(') throw new Unread('a process is substituted for a file');
    return { kind: 'redirect', operator: found[2] as string };
  }

  #word(): Token {
    let text = '';
    let isLiteral = true;
    let isQuoted = false;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined || /[\s;&|()<>]/.test(char)) break;
      this.#at++;
      if (char === "'") {
        text += this.#until("'");
        isQuoted = true;
      } else if (char === '"') {
        const inside = this.#doubleQuoted();
        text += inside.text;
        isLiteral &&= inside.isLiteral;
        isQuoted = true;
      } else if (char === '\\') {
        const escaped = this.#text[this.#at++];
        if (escaped === undefined) throw new Unread('the command ends in a backslash');
        if (escaped !== '\n') text += escaped;
        isQuoted = true;
      } else if (char === '$' || char === '`') {
        text += this.#expansion(char);
        isLiteral = false;
      } else {
        // `{}` is what find calls a file, and no brace expansion; a lone `{` or `}` is a keyword.
        if (/[*?[~]/.test(char) || (char === '{' && !/^[\s}]/.test(this.#text[this.#at] ?? ' '))) {
          isLiteral = false;
        }
        text += char;
      }
    }
    const next = this.#text[this.#at];
    if (next === '(') throw new Unread('parentheses make a function or a subshell');
    if ((next === '<' || next === '>') && /^\{\w+\}$/.test(text)) {
      throw new Unread('a redirection to a file descriptor in a variable');
    }
    this.#lastWordQuoted = isQuoted;
    return { kind: 'word', text, isLiteral };
  }

  #until(quote: string): string {
    const end = this.#text.indexOf(quote, this.#at);
    if (end === -1) throw new Unread('a quote is not closed');
    const inside = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return inside;
  }

  #doubleQuoted(): Word {
    let text = '';
    let isLiteral = true;
    for (;;) {
      const char = this.#text[this.#at++];
      if (char === undefined) throw new Unread('a quote is not closed');
      if (char === '"') return { text, isLiteral };
      if (char === '\\') {
        const escaped = this.#text[this.#at++] ?? '';
        // Within double quotes a backslash is one, except before these.
        if (escaped !== '\n') text += /["$`\\]/.test(escaped) ? escaped : `\\${escaped}`;
      } else if (char === '$' || char === '`') {
        // A dollar that starts nothing is a dollar.
        if (char === '$' && /[\s"]/.test(this.#text[this.#at] ?? '"')) text += '$';
        else {
          text += this.#expansion(char);
          isLiteral = false;
        }
      } else text += char;
    }
  }

  /** A plain variable is read over; whatever may run a command ends the reading. */
  #expansion(char: string): string {
    const pattern = /[A-Za-z_]\w*|[0-9@*#?$!-]|\{[#]?[A-Za-z_0-9@*#?$!]+\}/y;
    pattern.lastIndex = this.#at;
    const found = char === '$' ? pattern.exec(this.#text) : null;
    if (found !== null) {
      this.#at += found[0].length;
      return `$${found[0]}`;
    }
    const isEnd = /^[\s;&|]?$/.test(this.#text[this.#at] ?? '');
    if (char === '$' && isEnd) return '$';
    throw new Unread('a command or an expression is substituted');
  }

  #skipHereDocuments(): void {
    for (const { mark, isIndented, isQuoted } of this.#documents.splice(0)) {
      for (;;) {
        if (this.#at >= this.#text.length) throw new Unread('a here-document has no end');
        const end = this.#lineEnd();
        const line = this.#text.slice(this.#at, end);
        this.#at = end + 1;
        if ((isIndented ? line.replace(/^\t+/, '') : line) === mark) break;
        if (!isQuoted && /`|\$\(/.test(line)) {
          throw new Unread('a here-document substitutes a command');
        }
      }
    }
  }
}
