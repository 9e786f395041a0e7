/**
 * A question to the hub's own Unix socket in one go: written, read to its end, taken apart. A command asks
 * once and ends, and `node:http` takes it longer to load and set up than everything else it does [CL37].
 * What is not as a hub's answer is, such as half of one, is a failed connection, as it would be there.
 */
import { connect } from 'node:net';

/** An answer that was read whole. */
export interface Told {
  readonly statusCode: number;
  readonly text: string;
}

export interface OneGo {
  readonly socketPath: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
  readonly timeoutMs: number;
}

/** What a header may hold; anything else could end it and begin another. */
const PLAIN = /^[\t\x20-\x7e\x80-\xff]*$/;
const HEAD_END = '\r\n\r\n';
const STATUS = /^HTTP\/1\.1 (\d{3}) /;
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;

/** Whether every header can be written down as it is. */
export function isPlain(headers: OneGo['headers']): boolean {
  return Object.values(headers).every((value) => PLAIN.test(String(value)));
}

export function askInOneGo(question: OneGo): Promise<Told> {
  const { socketPath, method, path, headers, body, timeoutMs } = question;
  const { promise, resolve, reject } = Promise.withResolvers<Told>();
  const chunks: Buffer[] = [];
  const socket = connect(socketPath);
  const fields = Object.entries({ ...headers, connection: 'close' });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.setTimeout(timeoutMs, () =>
    socket.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)),
  );
  let failure: Error = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  socket.on('error', (error) => {
    failure = error;
  });
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('close', () => {
    // Who refuses by the head alone answers and closes, maybe while the body is being written: that is an answer.
    const told = readTold(Buffer.concat(chunks));
    if (told !== null) resolve(told);
    else reject(failure);
  });
  socket.cork();
  socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n`, 'latin1');
  socket.write(body);
  socket.uncork();
  return promise;
}

/** Null when it is not whole. */
export function readTold(bytes: Buffer): Told | null {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return null;
  const head = bytes.toString('latin1', 0, headEnd);
  const status = STATUS.exec(head)?.[1];
  if (status === undefined) return null;
  const rest = bytes.subarray(headEnd + HEAD_END.length);
  const body = CHUNKED.test(head) ? unchunked(rest) : sized(rest, LENGTH.exec(head)?.[1]);
  return body === null ? null : { statusCode: Number(status), text: body.toString('utf8') };
}

function sized(rest: Buffer, length: string | undefined): Buffer | null {
  if (length === undefined) return rest;
  return rest.length < Number(length) ? null : rest.subarray(0, Number(length));
}

function unchunked(rest: Buffer): Buffer | null {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at);
    const size =
      lineEnd < 0 ? Number.NaN : Number.parseInt(rest.toString('latin1', at, lineEnd), 16);
    const from = lineEnd + 2;
    if (!(from + size <= rest.length)) return null;
    if (size === 0) return Buffer.concat(pieces);
    pieces.push(rest.subarray(from, from + size));
    at = from + size + 2;
  }
}
