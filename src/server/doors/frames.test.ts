/** Frames as bytes, read back by the library that clients use. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeFrames } from './frames.ts';

/** What a WebSocket client that is written independently makes of the bytes. */
async function readBack(bytes: Buffer): Promise<string[]> {
  const { WebSocket } = await import('ws');
  const { createHash } = await import('node:crypto');
  const server = createServer((socket) => {
    socket.once('data', (request) => {
      const key = /sec-websocket-key: (.*)\r\n/i.exec(request.toString())?.[1] ?? '';
      const accept = createHash('sha1')
        .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
        .digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
      );
      // A normal close behind the frames says that they were all.
      socket.write(Buffer.concat([bytes, Buffer.from([0x88, 0x02, 0x03, 0xe8])]));
    });
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const texts: string[] = [];
  const ws = new WebSocket(`ws://127.0.0.1:${port}`, { maxPayload: 0 });
  ws.on('message', (raw, isBinary) => texts.push(isBinary ? 'binary' : raw.toString()));
  await once(ws, 'close');
  server.close();
  return texts;
}

/** Of whole frames below 64 KB. */
function decoded(bytes: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    expect(bytes[at]).toBe(0x81);
    const first = bytes[at + 1] as number;
    const from = at + (first < 126 ? 2 : 4);
    at = from + (first < 126 ? first : bytes.readUInt16BE(at + 2));
    texts.push(bytes.toString('utf8', from, at));
  }
  return texts;
}

test('[W9] texts of every length class come back as they were, in order', async () => {
  const lengths = [0, 1, 125, 126, 127, 65_535, 65_536, 65_537, 200_000];
  const texts = lengths.map((length) => 'x'.repeat(length));
  expect(await readBack(encodeFrames(texts))).toEqual(texts);
});

test('[W9] any text comes back as it was', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { maxLength: 20 }),
      async (texts) => {
        expect(await readBack(encodeFrames(texts))).toEqual(texts);
      },
    ),
    { seed: 1, numRuns: 25 },
  );
});

test('[W9] very many short texts come back as they were, also when one is not ASCII', async () => {
  const texts = Array.from({ length: 300 }, (_, n) => 'x'.repeat((n * 37) % 1_025));
  for (const some of [texts, texts.with(170, 'grün ✓'), texts, ...Array(20).fill(['a'])]) {
    expect(decoded(encodeFrames(some))).toEqual(some);
  }
});
