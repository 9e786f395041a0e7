/**
 * The envelope: what a message says about itself at its top level, read in one pass that checks the
 * whole line and builds nothing below [EN1]. The bus routes by it and forwards the bytes.
 *
 * It refuses what two parsers could read as two messages: broken JSON, and a routing key that is
 * there twice [EN4].
 */

import { type ByteLine, textOf } from './byte-line.ts';
import {
  BACKSLASH,
  bytesOf,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  isAt,
  type JsonProblem,
  letGo,
  OPEN_ARRAY,
  OPEN_OBJECT,
  problemAt,
  QUOTE,
  skipColon,
  skipSpace,
  skipString,
  skipValue,
} from './scan-json.ts';

/** Elements of one batch. */
export const BATCH_MAX = 10_000;

export type MessageKind = 'request' | 'notification' | 'response' | 'invalid';

/** A message with what it says about itself. Offsets are into its line; -1 for a member not there. */
export interface Envelope {
  readonly line: ByteLine;
  /** `invalid`: JSON-RPC knows no such object; `id` is there if it can be answered. */
  readonly kind: MessageKind;
  /** The raw JSON of the id, also `null` written out; null when there is none that can be used. */
  readonly id: ByteLine | null;
  readonly idStart: number;
  readonly idEnd: number;
  /** Decoded. Null when absent or not a string. */
  readonly method: string | null;
  readonly sessionId: string | null;
  readonly pool: string | null;
  readonly agentId: string | null;
  /** The last member that says where to go and is neither a string nor null. */
  readonly mistyped: string | null;
  readonly hasResult: boolean;
  readonly hasError: boolean;
  readonly extStart: number;
  readonly extEnd: number;
  readonly paramsStart: number;
  readonly paramsEnd: number;
  /** Behind the opening brace: where members can be put in. */
  readonly bodyStart: number;
}

/** A top-level array: its elements, checked as JSON and not as messages. */
export interface Batch {
  readonly kind: 'batch';
  readonly batch: ByteLine[];
}

export interface ScanProblem {
  readonly kind: 'problem';
  readonly problem: JsonProblem | 'duplicate' | 'not-an-object' | 'batch-too-long';
  /** Where in the line it was noticed. */
  readonly at: number;
  /** Of a `duplicate`: the raw id, if it is a request that can be answered, and what is there twice. */
  readonly id: ByteLine | null;
  readonly member: string | null;
}

export type Scanned = Envelope | Batch | ScanProblem;

/** How `null` begins, which stands for a member that is not there. */
const LOWER_N = 0x6e;

const OTHER = 0;
const ID = 1;
const METHOD = 2;
const SESSION = 4;
const POOL = 8;
const AGENT = 16;
const EXT = 32;
const RESULT = 64;
const ERROR = 128;
const PARAMS = 256;
/** Those that are decoded. */
const TEXTS = METHOD | SESSION | POOL | AGENT;
/** Those that say where to go. */
const ROUTES = SESSION | POOL | AGENT;
/** Of several params the last one counts, as for JSON.parse: nothing is routed by them. */
const ONCE = ~PARAMS;

const NAMES = [
  ['id', ID],
  ['method', METHOD],
  ['sessionId', SESSION],
  ['pool', POOL],
  ['agentId', AGENT],
  ['_ext', EXT],
  ['result', RESULT],
  ['error', ERROR],
  ['params', PARAMS],
] as const;

interface Key {
  readonly name: Buffer;
  readonly length: number;
  readonly bit: number;
}

/** The keys that mean something, by their first byte; an escape may begin any of them. */
const KEYS: (Key[] | undefined)[] = new Array(256).fill(undefined);
KEYS[BACKSLASH] = [];
for (const [name, bit] of NAMES) {
  const first = name.charCodeAt(0);
  KEYS[first] = [...(KEYS[first] ?? []), { name: Buffer.from(name), length: name.length, bit }];
}

/** `\u0069d` is the shortest key with an escape, `sessionId` in nothing but escapes the longest. */
const ESCAPED_KEY_CHARS_MIN = 7;
const ESCAPED_KEY_CHARS_MAX = 54;

export function scan(line: ByteLine): Scanned {
  const scanned = scanBytes(line, bytesOf(line));
  letGo();
  return scanned;
}

function scanBytes(line: ByteLine, bytes: Uint8Array): Scanned {
  const start = skipSpace(bytes, 0);
  if (bytes[start] === OPEN_OBJECT) return scanObject(line, bytes, start + 1);
  if (bytes[start] === OPEN_ARRAY) return scanBatch(line, bytes, start + 1);
  const end = skipValue(bytes, start, 0);
  if (end < 0) return broken(end);
  return finish(line, bytes, end) ?? refused('not-an-object', start);
}

function scanObject(line: ByteLine, bytes: Uint8Array, bodyStart: number): Envelope | ScanProblem {
  let seen = 0;
  let twice = 0;
  let twiceAt = -1;
  let mistyped = 0;
  let idStart = -1;
  let idEnd = -1;
  let method: string | null = null;
  let sessionId: string | null = null;
  let pool: string | null = null;
  let agentId: string | null = null;
  let extStart = -1;
  let extEnd = -1;
  let paramsStart = -1;
  let paramsEnd = -1;

  let at = skipSpace(bytes, bodyStart);
  let isMore = bytes[at] !== CLOSE_OBJECT;
  while (isMore) {
    if (bytes[at] !== QUOTE) return refused('syntax', at);
    const keyStart = at + 1;
    at = skipString(bytes, keyStart);
    if (at < 0) return broken(at);
    const key = keyOf(line, bytes, keyStart, at - 1);
    if ((seen & key & ONCE) !== 0) {
      // Read on: who sent it waits for an answer under its id.
      if (twice === 0) twiceAt = keyStart - 1;
      twice |= key;
    }
    seen |= key;
    const start = skipColon(bytes, at);
    if (start < 0) return broken(start);
    // Most of them are strings: they are spared a call, and those we read a second look.
    let text: string | null = null;
    if (bytes[start] !== QUOTE) {
      if ((key & ROUTES) !== 0 && bytes[start] !== LOWER_N) mistyped = key;
      at = skipValue(bytes, start, 1);
    } else if ((key & TEXTS) === 0) at = skipString(bytes, start + 1);
    else {
      at = skipPlain(bytes, start + 1);
      if (bytes[at] === QUOTE) text = line.slice(start + 1, at++);
      else {
        at = skipString(bytes, at);
        if (at >= 0) text = JSON.parse(textOf(line.slice(start, at) as ByteLine)) as string;
      }
    }
    if (at < 0) return broken(at);
    switch (key) {
      case ID:
        idStart = start;
        idEnd = at;
        break;
      case METHOD:
        method = text;
        break;
      case SESSION:
        sessionId = text;
        break;
      case POOL:
        pool = text;
        break;
      case AGENT:
        agentId = text;
        break;
      case EXT:
        extStart = start;
        extEnd = at;
        break;
      case PARAMS:
        paramsStart = start;
        paramsEnd = at;
        break;
      default:
    }
    at = skipSpace(bytes, at);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
    else if (bytes[at] === CLOSE_OBJECT) isMore = false;
    else return refused('syntax', at);
  }
  const tail = finish(line, bytes, at + 1);
  if (tail !== null) return tail;
  const isIdUsable =
    idStart >= 0 && bytes[idStart] !== OPEN_OBJECT && bytes[idStart] !== OPEN_ARRAY;
  const hasAnswer = (seen & (RESULT | ERROR)) !== 0;
  if (twice !== 0) {
    const isAsk = isIdUsable && (twice & ID) === 0 && (seen & METHOD) !== 0 && !hasAnswer;
    const id = isAsk ? (line.slice(idStart, idEnd) as ByteLine) : null;
    return { kind: 'problem', problem: 'duplicate', at: twiceAt, id, member: nameOf(twice) };
  }
  return {
    line,
    kind: idStart >= 0 && !isIdUsable ? 'invalid' : kindOf(method !== null, hasAnswer, isIdUsable),
    id: isIdUsable ? (line.slice(idStart, idEnd) as ByteLine) : null,
    idStart,
    idEnd,
    method,
    sessionId,
    pool,
    agentId,
    mistyped: mistyped === 0 ? null : nameOf(mistyped),
    hasResult: (seen & RESULT) !== 0,
    hasError: (seen & ERROR) !== 0,
    extStart,
    extEnd,
    paramsStart,
    paramsEnd,
    bodyStart,
  };
}

function kindOf(hasMethod: boolean, hasAnswer: boolean, hasId: boolean): MessageKind {
  // With both, one reader would take it for a question and another for an answer.
  if (hasMethod === hasAnswer) return 'invalid';
  if (hasMethod) return hasId ? 'request' : 'notification';
  return hasId ? 'response' : 'invalid';
}

function scanBatch(line: ByteLine, bytes: Uint8Array, bodyStart: number): Batch | ScanProblem {
  const batch: ByteLine[] = [];
  let at = skipSpace(bytes, bodyStart);
  let isMore = bytes[at] !== CLOSE_ARRAY;
  while (isMore) {
    const end = skipValue(bytes, at, 1);
    if (end < 0) return broken(end);
    if (batch.length === BATCH_MAX) return refused('batch-too-long', at);
    batch.push(line.slice(at, end) as ByteLine);
    at = skipSpace(bytes, end);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
    else if (bytes[at] === CLOSE_ARRAY) isMore = false;
    else return refused('syntax', at);
  }
  return finish(line, bytes, at + 1) ?? { kind: 'batch', batch };
}

/** Only white space may follow the value. */
function finish(line: ByteLine, bytes: Uint8Array, end: number): ScanProblem | null {
  const at = skipSpace(bytes, end);
  return at < line.length ? refused('syntax', at) : null;
}

function broken(answer: number): ScanProblem {
  const { problem, at } = problemAt(answer);
  return refused(problem, at);
}

function refused(problem: ScanProblem['problem'], at: number): ScanProblem {
  return { kind: 'problem', problem, at, id: null, member: null };
}

/** The first of these by name. */
function nameOf(bits: number): string | null {
  return NAMES.find(([, bit]) => (bits & bit) !== 0)?.[0] ?? null;
}

/** Which key stands between two quotes, however it is written. */
function keyOf(line: ByteLine, bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  const keys = KEYS[bytes[start] as number] as readonly Key[] | undefined;
  if (keys === undefined) return OTHER;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as Key;
    if (key.length === length && isAt(bytes, start, key.name)) return key.bit;
  }
  if (length < ESCAPED_KEY_CHARS_MIN || length > ESCAPED_KEY_CHARS_MAX) return OTHER;
  const raw = line.slice(start, end);
  if (!raw.includes('\\')) return OTHER;
  const name = JSON.parse(`"${raw}"`);
  return NAMES.find((known) => known[0] === name)?.[1] ?? OTHER;
}

/** As far as a string means what it looks like: ASCII without an escape. */
function skipPlain(bytes: Uint8Array, at: number): number {
  for (;;) {
    const byte = bytes[at] as number;
    if (byte === QUOTE || byte === BACKSLASH || byte < 0x20 || byte > 0x7f) return at;
    at++;
  }
}

/** The message under another id. */
export function withId(envelope: Envelope, idText: string): ByteLine {
  return rewrite(envelope, idText, null);
}

/** The message with another id and another `_ext`; null leaves what is there. */
export function rewrite(
  envelope: Envelope,
  idText: string | null,
  extJson: string | null,
): ByteLine {
  const { line, idStart, idEnd, extStart, extEnd, bodyStart } = envelope;
  // Nearly every message that passes has its id replaced, and nothing else.
  if (extJson === null && idText !== null && idStart >= 0) {
    return `${line.slice(0, idStart)}${idText}${line.slice(idEnd)}` as ByteLine;
  }
  let text = line.slice(0, bodyStart);
  let at = bodyStart;
  const put = (start: number, end: number, value: string | null) => {
    if (value === null || start < 0) return;
    text += `${line.slice(at, start)}${value}`;
    at = end;
  };
  const comma = isEmpty(line, bodyStart) ? '' : ',';
  if (extJson !== null && extStart < 0) text += `"_ext":${extJson}${comma}`;
  if (idText !== null && idStart < 0) {
    // Between two new members there is one in any case.
    if (comma === '' && text.length > bodyStart) text += ',';
    text += `"id":${idText}${comma}`;
  }
  if (idStart < extStart) put(idStart, idEnd, idText);
  put(extStart, extEnd, extJson);
  if (idStart > extStart) put(idStart, idEnd, idText);
  return `${text}${line.slice(at)}` as ByteLine;
}

function isEmpty(line: ByteLine, bodyStart: number): boolean {
  return line.charCodeAt(bodyStart) !== QUOTE && line.slice(bodyStart).trimStart().startsWith('}');
}

/** What `_ext` says; undefined when it is not there or not an object. */
export function readExt({ line, extStart, extEnd }: Envelope): Record<string, unknown> | undefined {
  if (extStart < 0 || line.charCodeAt(extStart) !== OPEN_OBJECT) return undefined;
  return JSON.parse(textOf(line.slice(extStart, extEnd) as ByteLine));
}

/** What `params` say; undefined when there are none. */
export function readParams({ line, paramsStart, paramsEnd }: Envelope): unknown {
  if (paramsStart < 0) return undefined;
  return JSON.parse(textOf(line.slice(paramsStart, paramsEnd) as ByteLine));
}
