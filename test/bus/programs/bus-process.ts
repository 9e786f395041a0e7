/** A real bus with workers of the box in its pools, as a process; and a line to it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { within } from '../../e2e/deadline.ts';
import { type Message, SYNOD } from './worker-process.ts';

export interface BusProcess {
  stop(): Promise<void>;
}

/** `address`: `--unix PATH` or `--tcp HOST:PORT`. Each pool has the name of its worker. */
export async function startBus(
  dir: string,
  address: readonly [flag: string, value: string],
  pools: Readonly<Record<string, number>>,
  env: Readonly<Record<string, string>> = {},
): Promise<BusProcess> {
  const path = join(dir, 'bus.json');
  const config = {
    pools: Object.entries(pools).map(([id, instances]) => ({
      ...{ id, command: process.execPath, args: [SYNOD, 'worker', id], instances },
    })),
  };
  writeFileSync(path, JSON.stringify(config));
  const bus = spawn(process.execPath, [SYNOD, 'bus', '--config', path, ...address], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  let log = '';
  const ready = new Promise<void>((resolve) => {
    bus.stderr.setEncoding('utf8').on('data', (text) => {
      log += text;
      if (log.includes('] ready on ')) resolve();
    });
  });
  const closed = once(bus, 'close');
  const gone = closed.then(() => Promise.reject(new Error(`the bus has ended: ${log}`)));
  // It is also rejected long after, when the bus is stopped.
  gone.catch(() => {});
  await within('the bus is ready', Promise.race([ready, gone]));
  return {
    async stop() {
      bus.kill('SIGTERM');
      await within(`the bus ends: ${log}`, closed);
    },
  };
}

export function openSocket(address: string): Socket {
  const [, host = '', port = ''] = /^([\d.]+):(\d+)$/.exec(address) ?? [];
  return host === '' ? connect(address) : connect(Number(port), host);
}

export interface BusClient {
  readonly heard: readonly Message[];
  send(message: object): void;
  until(what: string, isWanted: (message: Message) => boolean): Promise<Message>;
  answer(id: unknown): Promise<Message>;
  close(): void;
}

export function openClient(address: string): BusClient {
  const socket = openSocket(address);
  const heard: Message[] = [];
  createInterface({ input: socket }).on('line', (line) => {
    heard.push(JSON.parse(line));
    socket.emit('heard');
  });
  async function wait(what: string, isWanted: (message: Message) => boolean): Promise<Message> {
    for (let from = 0; ; ) {
      const found = heard.slice(from).find(isWanted);
      if (found !== undefined) return found;
      from = heard.length;
      await within(what, once(socket, 'heard'));
    }
  }
  return {
    heard,
    send: (message) => void socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    until: wait,
    answer: (id) =>
      wait(`an answer to ${JSON.stringify(id)}`, (one) => one.id === id && !('method' in one)),
    close: () => void socket.destroy(),
  };
}
