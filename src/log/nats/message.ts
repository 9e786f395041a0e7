/**
 * A batch as it travels: one message, or several when the server takes none that large. Each says which batch
 * it is of and which part. A batch is there when all of its parts follow one another in the stream, so that
 * one whose writer was stopped half-way is passed over by everybody alike [G1].
 */
import type { MsgHdrs } from '@nats-io/transport-node';
import type { StoredBatch } from '../log.ts';
import { decompress, PLAIN_BYTES_MAX } from './compressed.ts';

const HEADER = {
  ...{ first: 'Synod-First', count: 'Synod-Count', head: 'Synod-Head' },
  ...{ part: 'Synod-Part', by: 'Synod-By', replaced: 'Synod-Replaced', zstd: 'Synod-Zstd' },
} as const;
/** Room for the headers of a message. */
const HEADER_BYTES = 1_024;

export interface Label {
  readonly first: number;
  readonly count: number;
  readonly head: string;
  /** From 1. */
  readonly part: number;
  readonly parts: number;
  /** The opening that wrote it. */
  readonly by: string;
  /** How many bytes it has when it is not compressed; null where it is not. */
  readonly plainBytes: number | null;
}

/** What was read of the stream. */
export interface Stored {
  readonly seq: number;
  readonly label: Label | null;
  readonly data: Uint8Array;
  /** The stream was replaced by this generation: nothing follows. */
  readonly replaced: string | null;
}

export function readMessage(message: {
  readonly seq: number;
  readonly headers?: MsgHdrs | undefined;
  readonly header?: MsgHdrs;
  readonly data: Uint8Array;
}): Stored {
  const headers = message.headers ?? message.header;
  const { seq, data } = message;
  if (headers === undefined) return { seq, data, label: null, replaced: null };
  const replaced = headers.get(HEADER.replaced) || null;
  return { seq, data, label: labelOf(headers), replaced };
}

function labelOf(headers: MsgHdrs): Label | null {
  const [, part, parts] = /^(\d+)\/(\d+)$/.exec(headers.get(HEADER.part)) ?? [];
  const first = Number(headers.get(HEADER.first));
  const count = Number(headers.get(HEADER.count));
  const head = headers.get(HEADER.head);
  if (part === undefined || !Number.isSafeInteger(first) || !(count > 0)) return null;
  if (!/^[0-9a-f]{64}$/.test(head)) return null;
  const by = headers.get(HEADER.by);
  const plainBytes = Number(headers.get(HEADER.zstd)) || null;
  if (plainBytes !== null && !isSize(plainBytes)) return null;
  return { first, count, head, part: Number(part), parts: Number(parts), by, plainBytes };
}

function isSize(bytes: number): boolean {
  return Number.isInteger(bytes) && bytes > 0 && bytes <= PLAIN_BYTES_MAX;
}

export function writeLabel(headers: MsgHdrs, label: Label): MsgHdrs {
  headers.set(HEADER.first, String(label.first));
  headers.set(HEADER.count, String(label.count));
  headers.set(HEADER.head, label.head);
  headers.set(HEADER.part, `${label.part}/${label.parts}`);
  headers.set(HEADER.by, label.by);
  if (label.plainBytes !== null) headers.set(HEADER.zstd, String(label.plainBytes));
  return headers;
}

export function writeReplaced(headers: MsgHdrs, generation: string): MsgHdrs {
  headers.set(HEADER.replaced, generation);
  return headers;
}

export function partsOf(bytes: Uint8Array, payloadMax: number): Uint8Array[] {
  const room = Math.max(1, payloadMax - HEADER_BYTES);
  const parts: Uint8Array[] = [];
  for (let at = 0; at === 0 || at < bytes.byteLength; at += room) {
    parts.push(bytes.subarray(at, at + room));
  }
  return parts;
}

export interface Whole {
  readonly batch: StoredBatch;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** Puts parts together as they come in the order of the stream; null until a batch is whole. */
export function createAssembler(): (stored: Stored) => Whole | null {
  let parts: Stored[] = [];
  return (stored) => {
    const { label, seq } = stored;
    const last = parts.at(-1);
    const follows =
      label !== null &&
      last?.label?.head === label.head &&
      last.label.by === label.by &&
      last.label.part + 1 === label.part &&
      last.seq + 1 === seq;
    if (!follows) parts = [];
    if (label === null || (!follows && label.part !== 1)) return null;
    parts.push(stored);
    if (label.part < label.parts) return null;
    const kept = parts.length === 1 ? stored.data : Buffer.concat(parts.map(({ data }) => data));
    // What cannot be taken apart is handed on as it is, and makes its head for nobody.
    const bytes = label.plainBytes === null ? kept : (decompress(kept, label.plainBytes) ?? kept);
    const whole = {
      batch: { first: label.first, count: label.count, bytes, head: label.head },
      firstSeq: seq - label.parts + 1,
      lastSeq: seq,
    };
    parts = [];
    return whole;
  };
}
