/**
 * An answer that is larger than a message of NATS may be, in parts: each is sealed by itself and bound to what it
 * answers, and says which of how many it is. What a batch of commands is answered grows with the state, not with what was
 * asked, so that without this one agent's answer would keep everybody waiting who was asked for with it [SQ26].
 */
import type { Opened, Seals } from './seal.ts';
import type { Session } from './sessions.ts';

/** Before a part: no sealed message begins so, and a server that knows no parts passes it over. */
const PART = 2;
const HEAD_BYTES = 1 + 4;
/** As often as the user of a server may answer one request at NATS. */
export const PARTS_MAX = 16;

/** Null when it is too large all the same. */
export function writeAnswer(
  seals: Seals,
  space: string,
  mark: Uint8Array,
  bytes: Uint8Array,
  roomBytes: number,
  session: Session | null = null,
): Uint8Array[] | null {
  if (bytes.byteLength <= roomBytes)
    return [seals.seal({ purpose: 'answer', space, to: mark }, bytes, session)];
  const count = Math.ceil(bytes.byteLength / roomBytes);
  if (count > PARTS_MAX) return null;
  return Array.from({ length: count }, (_, i) => {
    const head = Buffer.alloc(HEAD_BYTES - 1);
    head.writeUInt16BE(i, 0);
    head.writeUInt16BE(count, 2);
    const part = Buffer.concat([head, bytes.subarray(i * roomBytes, (i + 1) * roomBytes)]);
    const sealed = seals.seal({ purpose: 'part', space, to: mark }, part, session);
    return Buffer.concat([Buffer.of(PART), sealed]);
  });
}

/** Takes what comes for one request; null until the answer is whole. */
export function createAnswerReader(
  seals: Seals,
  space: string,
  mark: Uint8Array,
): (data: Uint8Array) => Opened | null {
  const parts = new Map<number, Uint8Array>();
  let from: Opened | null = null;
  return (data) => {
    if (data[0] !== PART) return seals.open({ purpose: 'answer', space, to: mark }, data);
    const opened = seals.open({ purpose: 'part', space, to: mark }, data.subarray(1));
    if (opened === null || opened.bytes.byteLength < HEAD_BYTES) return null;
    // Of one server and one start of it: two that were asked answer each for itself.
    if (from !== null && (from.from !== opened.from || from.incarnation !== opened.incarnation))
      return null;
    from = opened;
    const part = Buffer.from(opened.bytes);
    const count = part.readUInt16BE(2);
    parts.set(part.readUInt16BE(0), part.subarray(HEAD_BYTES - 1));
    if (parts.size < count) return null;
    const all = Array.from({ length: count }, (_, i) => parts.get(i) ?? new Uint8Array());
    return { ...opened, bytes: Buffer.concat(all) };
  };
}
