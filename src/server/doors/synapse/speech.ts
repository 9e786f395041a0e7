/**
 * What the hub says to Synapse clients: the five fields of the envelope, `hub_id`, and flat
 * fields. Every frame is strict JSON and smaller than 1 MiB, because the original's client
 * dies of a larger one [SY5]: what does not fit is cut and marked `truncated`.
 */
import { randomBytes } from 'node:crypto';

export const HUB_NAME = 'SynapseHub';
/** Below the 1 MiB that clients take, with room for an envelope. */
const FRAME_BYTES_MAX = 1_000_000;
const FIELD_BYTES_MAX = 65_536;
const CUT_CHARS = 4_096;

export type Fields = Readonly<Record<string, unknown>>;

export interface Speech {
  readonly hubId: string;
  say(type: string, target: string, payload: string, fields?: Fields): string;
  /** A frame that somebody else composed; only the hub's marks are added. */
  relay(frame: Fields): string;
}

export function createSpeech(now: () => number): Speech {
  const hubId = `syn-${randomBytes(4).toString('hex')}`;
  const textOf = (frame: Fields): string => {
    const text = JSON.stringify(frame);
    return fits(text) ? text : JSON.stringify(cut(frame));
  };
  return {
    hubId,
    say: (type, target, payload, fields = {}) =>
      textOf({
        ...fields,
        sender: HUB_NAME,
        target,
        type,
        payload,
        timestamp: now() / 1000,
        hub_id: hubId,
      }),
    relay: (frame) => textOf({ ...frame, hub_id: hubId }),
  };
}

export function fits(text: string): boolean {
  // A UTF-16 unit is at most three bytes; counting is needed only near the limit.
  return text.length * 3 <= FRAME_BYTES_MAX || Buffer.byteLength(text) <= FRAME_BYTES_MAX;
}

function cut(frame: Fields): Fields {
  const small = Object.entries(frame).map(([name, value]) => {
    const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
    if (bytes <= FIELD_BYTES_MAX) return [name, value];
    if (typeof value === 'string') return [name, value.slice(0, CUT_CHARS)];
    return [name, Array.isArray(value) ? [] : null];
  });
  // So many fields that each is small and all are not: only an envelope is left.
  const text = JSON.stringify(Object.fromEntries(small));
  const kept = fits(text) ? small : small.filter(([name]) => ENVELOPE.has(name as string));
  return { ...Object.fromEntries(kept), truncated: true };
}

const ENVELOPE: ReadonlySet<string> = new Set([
  'sender',
  'target',
  'type',
  'payload',
  'timestamp',
  'hub_id',
  'msg_id',
  'task_id',
]);

/** The newest rows that fit into so many bytes; rows come oldest first. */
export function newestThatFit<T>(
  rows: readonly T[],
  bytesMax: number,
): { readonly rows: T[]; readonly isCut: boolean } {
  let bytes = 0;
  let from = rows.length;
  while (from > 0) {
    bytes += Buffer.byteLength(JSON.stringify(rows[from - 1])) + 1;
    if (bytes > bytesMax) break;
    from--;
  }
  return { rows: rows.slice(from), isCut: from > 0 };
}
