/**
 * A raw WebSocket client, lean enough not to be what is measured.
 *
 * Outgoing text is masked with a real (non-zero) key, since servers skip the unmasking of a zero
 * one. Incoming frames are walked, not parsed: the owner learns how many arrived and may look at
 * the last. A frame that holds an error, a close frame or an early end fails the run: a figure
 * that counted refusals would be a lie.
 */
import { connect, type Socket } from 'node:net';

const MASK = [0x5a, 0xc3, 0x3c, 0xa5] as const;
/** Masked, as what a client says is. */
const PONG = Buffer.from([0x8a, 0x80, ...MASK]);
const ERROR_MARK = Buffer.from('"error":{');

export interface LoadSocket {
  /** Frames received since the socket opened. */
  readonly received: number;
  /** The newest whole frame, parsed. */
  last(): { result?: Record<string, unknown>; params?: Record<string, unknown> };
  /** Called after each read with the number of frames it completed. */
  onFrames: (count: number) => void;
  /** Called with each whole frame, once somebody asks for it. */
  onText: ((text: string) => void) | null;
  /**
   * Whether each read is searched for errors. A listener may turn it off once it only gets pushes,
   * which are counted exactly: the search would make the load the bottleneck at 3 million a second.
   */
  isSearched: boolean;
  write(frames: Buffer): void;
  /** One call, one reply: for setting up, while nothing else is in flight. */
  call(method: string, params: object): Promise<Record<string, unknown>>;
  /** Reads nothing more; the server may cut it off. */
  stop(): void;
  close(): void;
}

export async function openLoadSocket(
  url: string,
  agent: string,
  space?: string,
): Promise<LoadSocket> {
  const { hostname, port } = new URL(url);
  const tcp = connect(Number(port), hostname);
  tcp.setNoDelay(true);
  tcp.write(
    `GET /ws HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      'Sec-WebSocket-Key: c3lub2QtYmVuY2gtbG9hZA==\r\nSec-WebSocket-Version: 13\r\n' +
      (space === undefined ? '' : `X-SOX-Namespace: ${space}\r\n`) +
      `X-SOX-Agent-ID: ${agent}\r\n\r\n`,
  );
  const rest = await upgraded(tcp);
  return attach(tcp, rest, agent);
}

function upgraded(tcp: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const onData = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      tcp.off('data', onData);
      const text = head.toString('latin1', 0, end);
      if (text.startsWith('HTTP/1.1 101')) resolve(head.subarray(end + 4));
      else reject(new Error(`the upgrade was refused: ${text.split('\r\n')[0]}`));
    };
    tcp.on('data', onData);
    tcp.once('error', reject);
  });
}

function attach(tcp: Socket, rest: Buffer, agent: string): LoadSocket {
  let received = 0;
  let isClosing = false;
  let last: Buffer = rest.subarray(0, 0);
  let nextId = 1;
  const fail = (why: string): never => {
    throw new Error(`socket of ${agent}: ${why}`);
  };
  const onText = (frame: Buffer) => socket.onText?.(frame.toString());
  const walk = createWalker(
    (chunk, count, lastFrame) => {
      received += count;
      last = lastFrame;
      const errorAt = socket.isSearched ? chunk.indexOf(ERROR_MARK) : -1;
      if (errorAt >= 0)
        fail(`the server refused: ${chunk.toString('utf8', errorAt, errorAt + 300)}`);
      socket.onFrames(count);
    },
    fail,
    () => (socket.onText === null ? null : onText),
    () => tcp.write(PONG),
  );
  const socket: LoadSocket = {
    get received() {
      return received;
    },
    last: () => JSON.parse(last.toString()),
    onFrames: () => {},
    onText: null,
    isSearched: true,
    write: (frames) => tcp.write(frames),
    call(method, params) {
      const id = nextId++;
      tcp.write(encodeMasked(JSON.stringify({ jsonrpc: '2.0', id, method, params })));
      return new Promise((resolve) => {
        socket.onFrames = () => {
          const reply = socket.last();
          if (!('result' in reply)) return;
          socket.onFrames = () => {};
          resolve(reply.result ?? {});
        };
      });
    },
    stop() {
      isClosing = true;
      tcp.pause();
    },
    close() {
      isClosing = true;
      tcp.destroy();
    },
  };
  tcp.on('data', walk);
  tcp.on('error', (error) => isClosing || fail(error.message));
  tcp.on('close', () => isClosing || fail('the server closed it'));
  if (rest.length > 0) walk(rest);
  return socket;
}

/** Finds frame borders across reads; keeps only the bytes of an unfinished frame. */
function createWalker(
  onRead: (chunk: Buffer, count: number, last: Buffer) => void,
  fail: (why: string) => never,
  each: () => ((frame: Buffer) => void) | null,
  onPing: () => void,
): (chunk: Buffer) => void {
  let tail: Buffer | undefined;
  return (fresh) => {
    const chunk = tail === undefined ? fresh : Buffer.concat([tail, fresh]);
    tail = undefined;
    let at = 0;
    let count = 0;
    let from = 0;
    let to = 0;
    while (at + 2 <= chunk.length) {
      const opcode = (chunk[at] as number) & 0x0f;
      let length = (chunk[at + 1] as number) & 0x7f;
      let header = 2;
      if (length >= 126) {
        header = length === 126 ? 4 : 10;
        if (at + header > chunk.length) break;
        length =
          header === 4
            ? ((chunk[at + 2] as number) << 8) | (chunk[at + 3] as number)
            : Number(chunk.readBigUInt64BE(at + 2));
      }
      const end = at + header + length;
      if (end > chunk.length) break;
      if (opcode === 8) fail(`closed: ${chunk.toString('utf8', at + header + 2, end)}`);
      if (opcode === 9) onPing();
      if (opcode < 8) {
        count += 1;
        from = at + header;
        to = end;
        each()?.(chunk.subarray(from, to));
      }
      at = end;
    }
    if (at < chunk.length) tail = chunk.subarray(at);
    if (count > 0) onRead(chunk.subarray(0, at), count, chunk.subarray(from, to));
  };
}

/** One masked client frame. */
export function encodeMasked(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const header = length < 126 ? 6 : length < 65_536 ? 8 : 14;
  const frame = Buffer.allocUnsafe(header + length);
  frame[0] = 0x81;
  frame[1] = 0x80 | (header === 6 ? length : header === 8 ? 126 : 127);
  if (header === 8) frame.writeUInt16BE(length, 2);
  if (header === 14) frame.writeBigUInt64BE(BigInt(length), 2);
  frame.set(MASK, header - 4);
  frame.write(text, header);
  for (let i = 0; i < length; i++) {
    frame[header + i] = (frame[header + i] as number) ^ (MASK[i & 3] as number);
  }
  return frame;
}

/** A request encoded once, with nine id digits that are rewritten in place for each copy. */
export function createRequestStamp(method: string, params: object): (count: number) => Buffer {
  return createStamp([{ jsonrpc: '2.0', id: FIRST, method, params }]);
}

/** Where a stamp counts from: the number to put where it counts, once, behind nothing but ASCII. */
export const FIRST = 100_000_000;

/** Frames encoded once, all of one length, and said in turns, with a number of nine digits that is counted up in place for each copy. */
export function createStamp(said: readonly object[]): (count: number) => Buffer {
  const [text = ''] = said.map((one) => JSON.stringify(one));
  const frames = said.map((one) => encodeMasked(JSON.stringify(one)));
  const { length } = frames[0] as Buffer;
  if (frames.some((frame) => frame.length !== length)) throw new Error('frames of several lengths');
  const idAt = text.indexOf(String(FIRST));
  const payloadAt = length - Buffer.byteLength(text);
  let next = FIRST;
  return (count) => {
    const bytes = Buffer.allocUnsafe(length * count);
    for (let n = 0; n < count; n++) {
      const at = n * length;
      bytes.set(frames[next % frames.length] as Buffer, at);
      let id = next++;
      for (let digit = 8; digit >= 0; digit--) {
        const offset = idAt + digit;
        bytes[at + payloadAt + offset] = (48 + (id % 10)) ^ (MASK[offset & 3] as number);
        id = Math.floor(id / 10);
      }
    }
    return bytes;
  };
}
