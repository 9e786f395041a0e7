/** One connection over a real socket: order, back-pressure, half-close and farewell. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { within } from '../../../test/e2e/deadline.ts';
import { type ByteLine, lineOf } from '../process/byte-line.ts';
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import type { Attachment, PeerClosing } from './peer.ts';
import { GARBLED } from './utf8.ts';

let dir: string;
let server: Server;
let client: Socket;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'synod-connection-'));
});
afterEach(() => {
  client?.destroy();
  server?.close();
  rmSync(dir, { recursive: true });
});

class Ear implements Attachment {
  readonly lines: ByteLine[] = [];
  readonly tooLargeBytes: number[] = [];
  drains = 0;
  owed = 0;
  refused = 0;
  replayed = 0;
  reason: PeerClosing | null = null;
  onLine: (line: ByteLine) => void = () => {};
  #woken: (() => void)[] = [];

  receive(line: ByteLine): void {
    this.lines.push(line);
    this.onLine(line);
    this.#wake();
  }
  tooLarge(bytes: number): void {
    this.tooLargeBytes.push(bytes);
    this.#wake();
  }
  garbled(): void {
    this.lines.push(GARBLED);
    this.#wake();
  }
  drained(): void {
    this.drains += 1;
    this.#wake();
  }
  closed(reason: PeerClosing): void {
    expect(this.reason).toBeNull();
    this.reason = reason;
    this.#wake();
  }
  #wake(): void {
    for (const wake of this.#woken.splice(0)) wake();
  }
  /** Waits for the ear to have heard something; asked again at every sound. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    const heard = async () => {
      while (!isSo()) await new Promise<void>((resolve) => this.#woken.push(resolve));
    };
    await within(what, heard());
  }
}

async function open(
  options: Partial<ConnectionOptions> = {},
): Promise<{ connection: Connection; ear: Ear; socket: Socket }> {
  server = createServer({ allowHalfOpen: true }).listen(
    options.isFar ? { host: '127.0.0.1', port: 0 } : { path: join(dir, 's') },
  );
  await once(server, 'listening');
  const address = server.address() as AddressInfo | string;
  client = connect({
    ...(typeof address === 'string'
      ? { path: address }
      : { host: '127.0.0.1', port: address.port }),
    allowHalfOpen: true,
  });
  const [socket] = (await once(server, 'connection')) as [Socket];
  const ear = new Ear();
  const connection = openConnection({
    label: 'unix#1',
    identity: null,
    input: socket,
    output: socket,
    framing: 'ndjson',
    messageBytesMax: 100_000,
    ...options,
  });
  connection.open(ear);
  return { connection, ear, socket };
}

async function readAll(): Promise<string> {
  let text = '';
  client.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
  });
  await within('the end of the answers', once(client, 'end'));
  return text;
}

test('[BD1] what is sent in one tick is written at once, in order, and counted until it is taken', async () => {
  const { connection, ear } = await open();
  const chunks: string[] = [];
  client.setEncoding('latin1').on('data', (chunk) => chunks.push(String(chunk)));
  for (let i = 0; i < 100; i++) connection.send(lineOf(`{"n":${i}}`));
  expect(connection.queuedBytes).toBe(10 * 8 + 90 * 9);
  await ear.until('nothing left', () => connection.queuedBytes === 0);
  // The first sixteen, so that the client can begin, and all the others together.
  expect(ear.drains).toBe(2);
  await within(
    'the data',
    once(client, 'data').catch(() => {}),
  );
  expect(chunks.join('')).toBe(Array.from({ length: 100 }, (_, i) => `{"n":${i}}\n`).join(''));
});

test('[BD2] while reading is off nothing is handed over; afterwards all of it, in order', async () => {
  const { connection, ear } = await open();
  ear.onLine = () => {
    if (ear.lines.length === 2) connection.setReading(false);
  };
  const all = Array.from({ length: 20_000 }, (_, i) => `{"n":${i}}`);
  client.write(`${all.join('\n')}\n`);
  await ear.until('two lines', () => ear.lines.length === 2);
  // Something that surely comes later: a whole exchange on the other direction.
  connection.send(lineOf('{}'));
  await within('the other direction', once(client, 'data'));
  expect(ear.lines).toHaveLength(2);
  connection.setReading(true);
  await ear.until('the rest', () => ear.lines.length === all.length);
  expect(ear.lines).toEqual(all);
});

test('[BD3] a client that ends its sending side still gets what it is owed', async () => {
  const { connection, ear } = await open();
  ear.owed = 1;
  client.end('{"id":1}');
  await ear.until('the line without its newline', () => ear.lines.length === 1);
  const answers = readAll();
  connection.send(lineOf('{"method":"note"}'));
  await ear.until('a drain', () => ear.drains === 1);
  expect(ear.reason).toBeNull();
  connection.send(lineOf('{"id":1,"result":1}'));
  ear.owed = 0;
  expect(await answers).toBe('{"method":"note"}\n{"id":1,"result":1}\n');
  expect(await within('the close', connection.closed)).toBe('closed');
  expect(ear.reason).toBe('closed');
});

test('[BD3] one that is owed nothing is gone at once', async () => {
  const { connection } = await open();
  client.end();
  expect(await within('the close', connection.closed)).toBe('closed');
});

test('[BD22] a client that died while it was owed something is let go, near and far', async () => {
  for (const isFar of [false, true]) {
    const { connection, ear } = await open({ isFar, probeMs: 5 });
    ear.owed = 1;
    client.write('{"id":1}\n');
    await ear.until('the request', () => ear.lines.length === 1);
    client.destroy();
    expect(await within('the close', connection.closed)).toBe('closed');
    expect(ear.reason).toBe('closed');
    server.close();
  }
});

test('[BD22] one that waits for its answers is asked with nothing it could see, and over TCP by a ping', async () => {
  for (const isFar of [false, true]) {
    const { connection, ear, socket } = await open({ isFar, probeMs: 1 });
    const asked = new Promise<void>((resolve) => {
      let writes = 0;
      const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
      socket.write = (...given: unknown[]) => {
        writes += 1;
        if (writes === 2) resolve();
        return write(...given);
      };
    });
    ear.owed = 1;
    client.end('{"id":1}');
    await ear.until('the request', () => ear.lines.length === 1);
    await within('two questions', asked);
    const answers = readAll();
    connection.send(lineOf('{"id":1,"result":1}'));
    ear.owed = 0;
    const lines = (await answers).trim().split('\n');
    expect(lines.at(-1)).toBe('{"id":1,"result":1}');
    const pings = lines.slice(0, -1);
    expect(pings.length > 0).toBe(isFar);
    for (const ping of pings) expect(JSON.parse(ping)).toMatchObject({ method: 'stdio_bus/ping' });
    await within('the close', connection.closed);
    server.close();
  }
});

test('[BD4] a graceful close first writes everything, also megabytes to a slow reader', async () => {
  const { connection, ear } = await open();
  client.pause();
  const big = lineOf(`"${'x'.repeat(5_000_000)}"`);
  for (let i = 0; i < 3; i++) connection.send(big);
  connection.close('draining', true);
  connection.send(lineOf('"late but before the end"'));
  client.write('{"ignored":true}\n');
  await ear.until('nothing yet', () => ear.reason === null);
  client.resume();
  const text = await readAll();
  expect(text.length).toBeGreaterThanOrEqual(3 * (big.length + 1));
  expect(text.startsWith(`${big}\n${big}\n${big}\n`)).toBe(true);
  client.end();
  expect(await within('the close', connection.closed)).toBe('draining');
  expect(ear.lines).toEqual([]);
});

test('[BD4] queuedBytes falls while a long line is being taken', async () => {
  const { connection, ear } = await open();
  client.pause();
  connection.send(lineOf('y'.repeat(8_000_000)));
  const before = connection.queuedBytes;
  client.resume();
  await ear.until('some of it', () => connection.queuedBytes < before);
  expect(connection.queuedBytes).toBeGreaterThan(0);
  await ear.until('all of it', () => connection.queuedBytes === 0);
});

test('[BD12] an over-size message is told once and its neighbours arrive, in both framings', async () => {
  const { ear } = await open({ messageBytesMax: 10 });
  client.write(`{"a":1}\n${'z'.repeat(50_000)}\n{"b":2}\n`);
  await ear.until('both', () => ear.lines.length === 2);
  expect(ear.lines).toEqual(['{"a":1}', '{"b":2}']);
  expect(ear.tooLargeBytes).toHaveLength(1);
});

test('[BD12] length framing, both ways, with a line break in the message', async () => {
  const { connection, ear } = await open({ framing: 'length', messageBytesMax: 10 });
  const frame = (text: string): Buffer => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(Buffer.byteLength(text));
    return Buffer.concat([head, Buffer.from(text)]);
  };
  client.write(Buffer.concat([frame('{"a":\n1}'), frame('z'.repeat(11)), frame('{"b":2}')]));
  await ear.until('both', () => ear.lines.length === 2);
  expect(ear.lines).toEqual(['{"a":\n1}', '{"b":2}']);
  expect(ear.tooLargeBytes).toEqual([11]);
  connection.send(lineOf('{"c":"ü"}'));
  const [answer] = (await within('a frame', once(client, 'data'))) as [Buffer];
  expect(answer).toEqual(frame('{"c":"ü"}'));
});

test('[BD13] a client that is killed is told as closed, once, and takes nothing more', async () => {
  const { connection, ear } = await open();
  client.destroy();
  await within('the close', connection.closed);
  connection.send(lineOf('{}'));
  expect(connection.queuedBytes).toBe(0);
  connection.close('timeout', false);
  expect(ear.reason).toBe('closed');
});

test('[BD23] a thousand messages at once do not keep another client waiting, and none is lost', async () => {
  const { ear } = await open();
  const order: string[] = [];
  const input = new PassThrough();
  const other = openConnection({
    ...{ label: 'other', identity: null, input, output: new PassThrough(), framing: 'ndjson' },
    messageBytesMax: 1_000,
  });
  const otherEar = new Ear();
  otherEar.onLine = () => order.push('other');
  other.open(otherEar);
  ear.onLine = () => {
    // It comes while the first of the thousand is taken, when all of them are there already.
    if (order.length === 0) setImmediate(() => input.write('{"id":0}\n'));
    order.push('flood');
  };
  const flood = Array.from({ length: 1_000 }, (_, id) => `{"id":${id}}`);
  client.end(`${flood.join('\n')}\n`);
  await ear.until('all of it and the end', () => ear.reason !== null);
  expect(ear.lines).toEqual(flood.map(lineOf));
  expect(order.indexOf('other')).toBeGreaterThan(0);
  expect(order.indexOf('other')).toBeLessThanOrEqual(64);
  other.close('closed', false);
});

test('[BD24] who is refused all it asks is heard less often than who is not, and none of it is lost', async () => {
  /** Messages taken while another connection sends as often as it is answered: an event loop's turns. */
  async function turnsOf(isRefused: boolean): Promise<number> {
    const { ear } = await open();
    const flood = Array.from({ length: 1_000 }, (_, id) => `{"id":${id}}`);
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    ear.onLine = () => {
      if (isRefused) ear.refused += 1;
      if (turns === 0) count();
    };
    client.end(`${flood.join('\n')}\n`);
    await ear.until('all of it and the end', () => ear.reason !== null);
    isOver = true;
    expect(ear.lines).toEqual(flood.map(lineOf));
    server.close();
    return turns;
  }
  const answered = await turnsOf(false);
  // Fifteen rests of two milliseconds are thousands of turns that others have.
  expect(await turnsOf(true)).toBeGreaterThan(answered * 5);
});
