/** A client of the bus's Unix socket: lines in, lines out. */
import { connect, type Socket } from 'node:net';

export async function openLineSocket(
  path: string,
  onLine: (line: string) => void,
): Promise<Socket> {
  const socket = connect(path);
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve).once('error', reject);
  });
  let tail = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    const lines = (tail + text).split('\n');
    tail = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
  socket.on('error', () => {});
  return socket;
}
