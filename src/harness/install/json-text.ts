/**
 * A JSON text as it lies on the page: its tree, its tokens, its way of indenting.
 *
 * Comments and trailing commas are taken as they are, because people write them. Text that is no
 * JSON, and an object that says one name twice on our way through it, is a fault with its place.
 */
import {
  createScanner,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import type { JsonPath } from './piece.ts';
import { faultAt, type TextFault } from './problem.ts';

// The library's enumerations are const enums, which a compiler of single files cannot see.
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const LINE_BREAK = 14;
const TRIVIA = 15;
const END = 17;

export interface Token {
  readonly kind: 'comma' | 'comment' | 'other';
  readonly offset: number;
  readonly end: number;
}

export interface JsonText {
  readonly text: string;
  readonly root: Node;
  readonly eol: string;
  /** One step of indentation. */
  readonly unit: string;
}

export function readJsonText(text: string): JsonText | TextFault {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) {
    const what = printParseErrorCode(first.error).replace(/\B[A-Z]/g, (c) => ` ${c.toLowerCase()}`);
    return faultAt(text, first.offset, 'broken', what);
  }
  if (root === undefined) return faultAt(text, 0, 'broken', 'Value expected');
  if (root.type !== 'object') {
    return faultAt(text, root.offset, 'odd-shape', 'the outermost value is no object');
  }
  return { text, root, eol: lineEnding(text), unit: indentUnit(text, root) };
}

/** The line ending most lines have. */
export function lineEnding(text: string): '\n' | '\r\n' {
  const crlf = text.split('\r\n').length - 1;
  return crlf * 2 > text.split('\n').length - 1 ? '\r\n' : '\n';
}

function indentUnit(text: string, root: Node): string {
  const first = root.children?.[0];
  const own = first === undefined ? null : ownIndent(text, first.offset);
  return own === null || own === '' ? '  ' : own;
}

/** The white space before this place, where nothing else is before it on its line. */
export function ownIndent(text: string, offset: number): string | null {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(start, offset);
  return start > 0 && /^[ \t]*$/.test(before) ? before : null;
}

/** The white space the line of this place begins with. */
export function lineIndent(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

/** What lies between two places, without white space. */
export function tokensBetween(text: string, from: number, to: number): Token[] {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  const tokens: Token[] = [];
  for (;;) {
    const kind = scanner.scan() as number;
    const offset = scanner.getTokenOffset();
    if (kind === END || offset >= to) return tokens;
    if (kind === LINE_BREAK || kind === TRIVIA) continue;
    const isComment = kind === LINE_COMMENT || kind === BLOCK_COMMENT;
    tokens.push({
      kind: kind === COMMA ? 'comma' : isComment ? 'comment' : 'other',
      offset,
      end: offset + scanner.getTokenLength(),
    });
  }
}

export function endOf(node: Node): number {
  return node.offset + node.length;
}

export function childrenOf(node: Node): readonly Node[] {
  return node.children ?? [];
}

/** The value at a path, null where there is none; a name said twice on the way is a fault. */
export function valueAt({ text, root }: JsonText, path: JsonPath): Node | null | TextFault {
  let node = root;
  for (const [depth, name] of path.entries()) {
    if (node.type !== 'object') return oddShape(text, node, path.slice(0, depth));
    const named = childrenOf(node).filter((child) => child.children?.[0]?.value === name);
    const [property, second] = named;
    if (second !== undefined) {
      const message = `${path.slice(0, depth + 1).join('.')} is there twice`;
      return faultAt(text, second.offset, 'odd-shape', message);
    }
    const value = property?.children?.[1];
    if (value === undefined) return null;
    node = value;
  }
  return node;
}

export function oddShape(text: string, node: Node, path: JsonPath, wanted = 'object'): TextFault {
  const article = wanted === 'object' ? 'an object' : 'a list';
  const is = node.type === 'array' ? 'a list' : node.type === 'object' ? 'an object' : node.type;
  return faultAt(text, node.offset, 'odd-shape', `${path.join('.')} is ${is} and not ${article}`);
}
