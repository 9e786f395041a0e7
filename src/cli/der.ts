/** DER, as much of it as a time stamp needs: values written, and read back one by one. */

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  octets: 0x04,
  null: 0x05,
  oid: 0x06,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
  context0: 0xa0,
} as const;

export interface Der {
  readonly tag: number;
  /** What is inside. */
  readonly body: Buffer;
  /** Tag, length and body. */
  readonly whole: Buffer;
}

export function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), body]);
  const size = length > 0xffff ? 3 : length > 0xff ? 2 : 1;
  const header = Buffer.alloc(2 + size);
  header[0] = tag;
  header[1] = 0x80 | size;
  header.writeUIntBE(length, 2, size);
  return Buffer.concat([header, body]);
}

/** The values one after the other; null when the bytes are no DER. */
export function readDer(bytes: Buffer): Der[] | null {
  const values: Der[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    const first = bytes[at + 1] ?? 0;
    const size = first < 0x80 ? 0 : first & 0x7f;
    if (at + 2 + size > bytes.length || size > 4 || first === 0x80) return null;
    const length = size === 0 ? first : bytes.readUIntBE(at + 2, size);
    const start = at + 2 + size;
    if (start + length > bytes.length) return null;
    const body = bytes.subarray(start, start + length);
    values.push({ tag, body, whole: bytes.subarray(at, start + length) });
    at = start + length;
  }
  return values;
}
