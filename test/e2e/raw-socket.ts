/**
 * Bytes to a TCP port and what comes back, for requests no client would make. The answer is
 * everything until the hub closes, or until the text wanted is there.
 */
import { connect, type Socket } from 'node:net';
import { within } from './deadline.ts';

export interface RawSocket {
  readonly socket: Socket;
  write(bytes: string | Uint8Array): void;
  /** What was received so far, once it holds the text. */
  until(text: string): Promise<string>;
  /** Everything, once the hub has closed. */
  readonly ended: Promise<string>;
  close(): void;
}

export async function openRawSocket(port: number): Promise<RawSocket> {
  const socket = connect({ port, host: '127.0.0.1' });
  let received = '';
  const waiting = new Set<() => void>();
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => {
    received += chunk;
    for (const look of [...waiting]) look();
  });
  socket.on('error', () => {});
  const ended = new Promise<string>((resolve) => socket.on('close', () => resolve(received)));
  await within('a TCP connection', new Promise<void>((resolve) => socket.on('connect', resolve)));
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    async until(text) {
      let look = (): void => {};
      const found = new Promise<string>((resolve) => {
        look = () => {
          if (received.includes(text)) resolve(received);
        };
        waiting.add(look);
        look();
      });
      return within(`${JSON.stringify(text)} in the answer`, found).finally(() =>
        waiting.delete(look),
      );
    },
    ended,
    close: () => socket.destroy(),
  };
}
