/**
 * Server-side WebSocket text frames as bytes, many at once.
 *
 * Server frames carry no mask, so one encoding serves every socket, and a run
 * of frames is one buffer and one write.
 */
export function encodeFrames(texts: readonly string[]): Buffer {
  let room = 0;
  for (const text of texts) room += text.length * 3 + 10;
  const bytes = Buffer.allocUnsafe(room);
  let at = 0;
  for (const text of texts) {
    // A header's length depends on the payload's, which is known once written: guess from the
    // string, and move the payload in the rare case that non-ASCII text crosses the border.
    let header = headerLength(text.length);
    const length = bytes.write(text, at + header, 'utf8');
    if (headerLength(length) !== header) {
      bytes.copyWithin(at + headerLength(length), at + header, at + header + length);
      header = headerLength(length);
    }
    bytes[at] = 0x81;
    if (header === 2) {
      bytes[at + 1] = length;
    } else if (header === 4) {
      bytes[at + 1] = 126;
      bytes[at + 2] = length >>> 8;
      bytes[at + 3] = length & 0xff;
    } else {
      bytes[at + 1] = 127;
      bytes.writeBigUInt64BE(BigInt(length), at + 2);
    }
    at += header + length;
  }
  return bytes.subarray(0, at);
}

function headerLength(payloadLength: number): number {
  if (payloadLength < 126) return 2;
  return payloadLength < 65_536 ? 4 : 10;
}
