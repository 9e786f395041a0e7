/**
 * A client that can be flooded: it counts outcomes by id as they come, keeps nothing else, and reads
 * only while it is told to.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { within } from './deadline.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into messages by name.
type Any = any;

export interface HardClient {
  readonly socket: Socket;
  /** Every answer by its id; two under one id are a failure of the test. */
  readonly outcomes: Map<number, Any>;
  onNotification: (message: Any) => void;
  readonly isClosed: boolean;
  send(...messages: object[]): void;
  /** Waits until so many have an outcome. */
  until(what: string, isSo: () => boolean, afterMs?: number): Promise<void>;
}

export async function openHardClient(path: string): Promise<HardClient> {
  const socket = connect({ path });
  await within(`a connection to ${path}`, once(socket, 'connect'));
  let carried = '';
  let isClosed = false;
  let failure: Error | null = null;
  const take = (line: string): void => {
    const message = JSON.parse(line);
    if (message.method !== undefined) {
      client.onNotification(message);
      return;
    }
    if (client.outcomes.has(message.id)) failure ??= new Error(`a second outcome: ${line}`);
    client.outcomes.set(message.id, message);
  };
  socket.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${carried}${text}`.split('\n');
    carried = lines.pop() ?? '';
    for (const line of lines) take(line);
    socket.emit('heard');
  });
  socket.on('error', () => {});
  socket.once('close', () => {
    isClosed = true;
    socket.emit('heard');
  });
  const client: HardClient = {
    socket,
    outcomes: new Map(),
    onNotification() {},
    get isClosed() {
      return isClosed;
    },
    send(...messages) {
      socket.write(
        messages.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join(''),
      );
    },
    async until(what, isSo, afterMs) {
      const look = async (): Promise<void> => {
        while (!isSo() && failure === null) await once(socket, 'heard');
      };
      await within(what, look(), afterMs);
      if (failure !== null) throw failure;
    },
  };
  return client;
}

/** The most memory a process ever had, in bytes. */
export function peakMemoryOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(status) ?? [];
  return Number(kilobytes) * 1_024;
}
