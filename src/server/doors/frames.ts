/**
 * WebSocket text frames, many in one buffer. Frames from server to client are not
 * masked, so the same bytes serve every connection: messages are encoded once and
 * all frames for a socket leave in one write.
 */

export function encodeFrames(texts: readonly string[]): Buffer {
  let size = 0;
  const lengths = new Array<number>(texts.length);
  for (let i = 0; i < texts.length; i++) {
    const length = Buffer.byteLength(texts[i] as string);
    lengths[i] = length;
    size += length + (length < 126 ? 2 : length < 65_536 ? 4 : 10);
  }
  const buffer = Buffer.allocUnsafe(size);
  let at = 0;
  for (let i = 0; i < texts.length; i++) {
    const length = lengths[i] as number;
    // FIN and opcode 1: a whole text message.
    buffer[at++] = 0x81;
    if (length < 126) {
      buffer[at++] = length;
    } else if (length < 65_536) {
      buffer[at++] = 126;
      at = buffer.writeUInt16BE(length, at);
    } else {
      buffer[at++] = 127;
      at = buffer.writeUInt32BE(Math.floor(length / 2 ** 32), at);
      at = buffer.writeUInt32BE(length % 2 ** 32, at);
    }
    at += buffer.write(texts[i] as string, at);
  }
  return buffer;
}
