/**
 * Anchors: signed heads that were put where whoever writes the log cannot reach. Before one is held
 * against a log it must be sound itself: signed as it says, by a key that is known, and of this log [RC3].
 * What is not has a code of its own; what is becomes a pin, a head that the chain must have.
 */
import type { Heads } from './heads.ts';
import { LogError } from './log.ts';
import { hasGoodSignature, parseSignedHead, type SignedHead } from './signed-head.ts';

/** The chain must have this head at this position. */
export interface Pin {
  readonly position: number;
  readonly head: string;
  /** Who says so, as messages name it: `the anchor of 11:12`. */
  readonly what: string;
}

export interface Anchor {
  readonly head: SignedHead;
  /** An RFC 3161 token over the text of the head, DER as base64. */
  readonly stamp: string | null;
  /** Where it was read: `anchors.ndjson:3`. */
  readonly place: string;
}

export interface LogIdentity {
  /** Null when it is not known which space the log is of. */
  readonly space: string | null;
  /** Null for a log that holds nothing. */
  readonly origin: string | null;
}

/** Every line of a file of anchors; one that is none is refused with its number. */
export function parseAnchors(text: string, file: string): Anchor[] {
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    const head = parseSignedHead(line);
    const place = `${file}:${i + 1}`;
    if (head === null) {
      throw new LogError(
        'log.anchor-bad',
        `${place} is no signed head (the line may be cut short); take the anchors from where they were put`,
      );
    }
    const { stamp } = JSON.parse(line) as { stamp?: unknown };
    return [{ head, stamp: typeof stamp === 'string' ? stamp : null, place }];
  });
}

/** The pins of the anchors that are of this log, in its order; those of other spaces are passed by. */
export function pinsOf(
  anchors: readonly Anchor[],
  log: LogIdentity,
  keys: ReadonlySet<string> | null,
  now: number,
): Pin[] {
  const pins: Pin[] = [];
  for (const { head: signed, place } of anchors) {
    const { space, origin, position, head, key } = signed;
    const what = anchorText(signed, now);
    if (!hasGoodSignature(signed)) {
      throw new LogError(
        'log.anchor-bad',
        `${what} (${place}) does not carry the signature of its key: it was changed, and proves nothing`,
      );
    }
    if (keys !== null && !keys.has(key)) {
      throw new LogError(
        'log.anchor-key',
        `${what} (${place}) is signed by ${key}, which is not known here; if it is yours, name it with --key`,
      );
    }
    if (log.space !== null && space !== log.space) continue;
    if (log.origin !== null && origin !== log.origin) {
      throw new LogError(
        'log.anchor-other',
        `${what} (${place}) is of another log: that began with head ${origin.slice(0, 16)}…, this with ${log.origin.slice(0, 16)}…; if it should be this one, all of it was replaced`,
      );
    }
    pins.push({ position, head, what });
  }
  return pins.sort((a, b) => a.position - b.position);
}

/**
 * The signed heads that lie beside a log, as pins, and what is wrong with them. They prove nothing against
 * somebody who takes them away; against whoever forgets to, and has not the key, they do.
 */
export function pinsBeside(
  { heads, strange, where: path }: Pick<Heads, 'heads' | 'strange' | 'where'>,
  now: number,
): { pins: Pin[]; changed: string | null } {
  const bad = heads.filter((head) => !hasGoodSignature(head)).length;
  const pins = heads.map(({ at, position, head }) => {
    return { position, head, what: `the head signed at ${timeText(at, now)}` };
  });
  if (bad > 0) return { pins: [], changed: `${path} holds ${bad} heads that were changed` };
  // A crash can cut the last line short, and no other.
  if (strange > 1)
    return { pins, changed: `${path} holds ${strange} lines that are no signed heads` };
  return { pins, changed: null };
}

export function noneIsOf(log: string, files: readonly string[]): LogError {
  return new LogError(
    'log.anchor-other',
    `no anchor in ${files.join(', ')} is of ${log}; name the file with its own anchors`,
  );
}

/** `the anchor of 11:12`; of another day with its date. */
export function anchorText({ at }: Pick<SignedHead, 'at'>, now: number): string {
  return `the anchor of ${timeText(at, now)}`;
}

function timeText(at: string, now: number): string {
  const two = (n: number): string => String(n).padStart(2, '0');
  const dayOf = (date: Date): string =>
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const date = new Date(at);
  const day = dayOf(date) === dayOf(new Date(now)) ? '' : `${dayOf(date)} `;
  return `${day}${two(date.getHours())}:${two(date.getMinutes())}`;
}
