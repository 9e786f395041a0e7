/**
 * Members and list items put into a JSON text and taken out again, by text and not by writing the
 * whole anew: every byte that is not ours stays, with comments, order, indentation and line endings.
 *
 * Taking out undoes putting in, byte for byte but for the inside of a list or object that was
 * empty. Whatever is there under our name with another value is left, and told.
 */
import { getNodeValue, type Node } from 'jsonc-parser';
import {
  childrenOf,
  endOf,
  type JsonText,
  lineIndent,
  oddShape,
  ownIndent,
  readJsonText,
  type Token,
  tokensBetween,
  valueAt,
} from './json-text.ts';
import type { ItemPiece, Json, JsonPath, JsonPiece } from './piece.ts';
import { isFault, type TextFault } from './problem.ts';
import { isSameValue } from './same-value.ts';

export interface JsonAdded {
  readonly text: string;
  /** The pieces that were not there before. */
  readonly added: readonly JsonPiece[];
  /** Pieces whose name is taken by something else. */
  readonly taken: readonly JsonPiece[];
  /** Objects and lists that were made to hold them, outermost first. */
  readonly containers: readonly JsonPath[];
}

export type PieceState = 'present' | 'absent' | 'other';

/** Whether a piece is in the text as it should be. */
export function jsonPieceState(json: JsonText, piece: JsonPiece): PieceState | TextFault {
  const found = valueAt(json, piece.at);
  const isOptional = piece.kind === 'member' && piece.isOptional === true;
  if (isFault(found)) return isOptional ? 'other' : found;
  if (found === null) return 'absent';
  if (piece.kind === 'member') {
    return isSameValue(getNodeValue(found), piece.value) ? 'present' : 'other';
  }
  if (found.type !== 'array') return oddShape(json.text, found, piece.at, 'list');
  const items = childrenOf(found);
  if (items.some((child) => isSameValue(getNodeValue(child), piece.value))) return 'present';
  return items.some((group) => handlerIn(group, piece.command) !== null) ? 'other' : 'absent';
}

export function addToJson(text: string, pieces: readonly JsonPiece[]): JsonAdded | TextFault {
  let current = text;
  const added: JsonPiece[] = [];
  const taken: JsonPiece[] = [];
  const containers: JsonPath[] = [];
  for (const piece of pieces) {
    const json = readJsonText(current);
    if (isFault(json)) return json;
    const state = jsonPieceState(json, piece);
    if (isFault(state)) return state;
    if (state === 'other') taken.push(piece);
    if (state !== 'absent') continue;
    const put = putPiece(json, piece);
    if (isFault(put)) return put;
    current = put.text;
    containers.push(...put.containers);
    added.push(piece);
  }
  return { text: current, added, taken, containers };
}

/** Into the deepest container that is there; what lies between is made. */
function putPiece(
  json: JsonText,
  piece: JsonPiece,
): { text: string; containers: JsonPath[] } | TextFault {
  const holders = piece.kind === 'member' ? piece.at.slice(0, -1) : piece.at;
  let depth = holders.length;
  let holder = valueAt(json, holders);
  while (holder === null) {
    depth--;
    holder = valueAt(json, holders.slice(0, depth));
  }
  if (isFault(holder)) return holder;
  const isWhole = depth === holders.length;
  const wanted = isWhole && piece.kind === 'item' ? 'array' : 'object';
  if (holder.type !== wanted) return oddShape(json.text, holder, holders.slice(0, depth));
  const made = holders.slice(depth).map((_, i) => holders.slice(0, depth + i + 1));
  const [name, ...inner] = piece.kind === 'member' ? piece.at.slice(depth) : holders.slice(depth);
  const innermost: Json = piece.kind === 'item' && made.length > 0 ? [piece.value] : piece.value;
  const value = inner.reduceRight<Json>((held, key) => ({ [key]: held }), innermost);
  return { text: insertLast(json, holder, name ?? null, value), containers: made };
}

/** After everything the container holds, comments too, so that none changes what it speaks of. */
function insertLast(
  { text, eol, unit }: JsonText,
  holder: Node,
  name: string | null,
  value: Json,
): string {
  const close = endOf(holder) - 1;
  const children = childrenOf(holder);
  const last = children.at(-1);
  const inside = text.slice(holder.offset + 1, close);
  const label = name === null ? '' : `${JSON.stringify(name)}: `;
  const isInline = !inside.includes('\n') && (last !== undefined || isOnOneLine(text));
  if (isInline) {
    const at = last === undefined ? holder.offset + 1 : endOf(last);
    const hasComma = text.slice(at, close).trimStart().startsWith(',');
    const comma = last === undefined ? '' : /,\S/.test(inside) ? ',' : ', ';
    const written = `${label}${JSON.stringify(value)}`;
    // A list on one line with a comma at its end keeps its habit.
    if (!hasComma) return splice(text, at, at, `${comma}${written}`);
    const after = text.indexOf(',', at) + 1;
    return splice(text, after, after, `${comma.slice(1)}${written},`);
  }
  const tokens = tokensBetween(text, last === undefined ? holder.offset + 1 : endOf(last), close);
  const outer = lineIndent(text, holder.offset);
  const indent = (last && ownIndent(text, last.offset)) ?? outer + unit;
  const lines = JSON.stringify(value, null, unit).split('\n');
  const written = `${eol}${indent}${label}${lines.join(`${eol}${indent}`)}`;
  const end = tokens.at(-1)?.end ?? (last === undefined ? holder.offset + 1 : endOf(last));
  if (last === undefined) {
    const rest = text.slice(end, close);
    return rest.includes('\n')
      ? splice(text, end, end, written)
      : splice(text, end, close, `${written}${eol}${outer}`);
  }
  if (tokens.some(({ kind }) => kind === 'comma')) return splice(text, end, end, `${written},`);
  return splice(splice(text, end, end, written), endOf(last), endOf(last), ',');
}

function isOnOneLine(text: string): boolean {
  return !text.trim().includes('\n') && text.replace(/\s/g, '') !== '{}';
}

function splice(text: string, from: number, to: number, by: string): string {
  return text.slice(0, from) + by + text.slice(to);
}

/** Takes pieces out, wherever they are by now, and the containers made for them once they are empty. */
export function takeFromJson(
  text: string,
  pieces: readonly JsonPiece[],
  containers: readonly JsonPath[],
): string | TextFault {
  let current = text;
  for (const piece of pieces.toReversed()) {
    const next = takePiece(current, piece);
    if (isFault(next)) return next;
    current = next;
  }
  for (const path of containers.toReversed()) {
    const json = readJsonText(current);
    if (isFault(json)) return json;
    const found = valueAt(json, path);
    if (isFault(found)) return found;
    if (found !== null && isHollow(current, found)) current = takeMember(json, path);
  }
  return current;
}

function isHollow(text: string, node: Node): boolean {
  const isContainer = node.type === 'object' || node.type === 'array';
  return isContainer && text.slice(node.offset + 1, endOf(node) - 1).trim() === '';
}

function takePiece(text: string, piece: JsonPiece): string | TextFault {
  const json = readJsonText(text);
  if (isFault(json)) return json;
  const found = valueAt(json, piece.at);
  if (isFault(found)) return found;
  if (found === null) return text;
  if (piece.kind === 'member') {
    // What was only nice to have and says something else by now is somebody's decision.
    const isTheirs = piece.isOptional === true && !isSameValue(getNodeValue(found), piece.value);
    return isTheirs ? text : takeMember(json, piece.at);
  }
  // Somebody made something else of the list, and ours went with it.
  if (found.type !== 'array') return text;
  const whole = childrenOf(found).find((child) => isSameValue(getNodeValue(child), piece.value));
  return whole === undefined ? takeHandler(json, found, piece) : takeNode(json, found, whole);
}

/** Others may have put handlers of theirs into our group: then ours alone goes. */
function takeHandler(json: JsonText, list: Node, { command }: ItemPiece): string {
  for (const group of childrenOf(list)) {
    const mine = handlerIn(group, command);
    if (mine === null) continue;
    const isAlone = childrenOf(mine.handlers).length === 1;
    return isAlone ? takeNode(json, list, group) : takeNode(json, mine.handlers, mine.handler);
  }
  return json.text;
}

/** The handler with our command line in a group of hooks. */
function handlerIn(
  group: Node,
  command: string | undefined,
): { readonly handlers: Node; readonly handler: Node } | null {
  if (command === undefined || group.type !== 'object') return null;
  const named = childrenOf(group).find((child) => child.children?.[0]?.value === 'hooks');
  const handlers = named?.children?.[1];
  if (handlers?.type !== 'array') return null;
  const handler = childrenOf(handlers).find((one) => getNodeValue(one)?.command === command);
  return handler === undefined ? null : { handlers, handler };
}

function takeMember(json: JsonText, path: JsonPath): string {
  const holder = valueAt(json, path.slice(0, -1));
  if (holder === null || isFault(holder) || holder.type !== 'object') return json.text;
  const member = childrenOf(holder).find((child) => child.children?.[0]?.value === path.at(-1));
  return member === undefined ? json.text : takeNode(json, holder, member);
}

function takeNode({ text }: JsonText, holder: Node, node: Node): string {
  const siblings = childrenOf(holder);
  const at = siblings.indexOf(node);
  const previous = siblings[at - 1];
  const close = endOf(holder) - 1;
  const from = previous === undefined ? holder.offset + 1 : endOf(previous);
  const before = tokensBetween(text, from, node.offset);
  const [next] = tokensBetween(text, endOf(node), close);
  const start = before.at(-1)?.end ?? from;
  const isFollowed = next?.kind === 'comma';
  let rest = splice(text, start, isFollowed ? next.end : endOf(node), '');
  const comma = before.find(({ kind }: Token) => kind === 'comma');
  if (!isFollowed && comma !== undefined) rest = splice(rest, comma.offset, comma.end, '');
  const left = close - (text.length - rest.length);
  const hollow = rest.slice(holder.offset + 1, left);
  return siblings.length === 1 && hollow.trim() === ''
    ? splice(rest, holder.offset + 1, left, '')
    : rest;
}
