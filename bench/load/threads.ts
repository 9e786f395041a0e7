/**
 * Reads threads, one in flight, over a connection that is kept. The clock stops when the last byte has
 * arrived; what it says is parsed behind that, so that parsing and its collections are nobody's time.
 * After each read a page that says next to nothing is asked of the same hub: what that takes at the
 * ninety-ninth is the machine and the hub's pauses, and stands beside the figure. What the hub's main
 * thread ran for each read is told too; a busy machine leaves that nearly alone.
 */
import { connect } from 'node:net';
import { type Percentiles, percentiles } from '../percentiles.ts';
import { mainUsOf } from '../process.ts';

export interface ThreadsJob {
  readonly kind: 'threads';
  readonly url: string;
  readonly pid: number;
  /** Messages whose thread is read, one page each. */
  readonly messages: readonly number[];
  /** Of the first so many no time is taken. */
  readonly warm: number;
  /** Messages whose thread is read from its first page to its last. */
  readonly whole: readonly number[];
}

export interface ReadFigures {
  readonly wall: Percentiles;
  readonly ping: Percentiles;
  /** Of the hub's main thread. */
  readonly processor: Percentiles;
}

export interface ThreadsResult {
  readonly various: ReadFigures;
  readonly whole: ReadFigures;
}

interface Page {
  readonly next: string | null;
}

export async function threads(job: ThreadsJob): Promise<ThreadsResult> {
  const ask = await openAsker(job.url);
  const various = createTaker();
  for (const [i, position] of job.messages.entries()) {
    await read(various, { message_id: `m${position}` }, i >= job.warm);
  }
  const whole = createTaker();
  for (const position of job.whole) {
    let next: string | null = null;
    do {
      const after: object = next === null ? {} : { after: next };
      ({ next } = await read(whole, { message_id: `m${position}`, ...after }, true));
    } while (next !== null);
  }
  ask.close();
  return { various: various.figures(), whole: whole.figures() };

  async function read(taker: Taker, input: object, isTaken: boolean): Promise<Page> {
    const before = mainUsOf(job.pid);
    const answer = await ask(requestOf(job.url, 'POST', '/v1/ops/threads.get', input));
    const processor = (mainUsOf(job.pid) - before) / 1000;
    const ping = await ask(requestOf(job.url, 'GET', '/health'));
    if (isTaken) taker.take({ wall: answer.takenMs, ping: ping.takenMs, processor });
    const text = answer.text();
    if (answer.status !== 200) throw new Error(`threads.get was answered ${text.slice(0, 400)}`);
    return JSON.parse(text) as Page;
  }
}

type Taker = ReturnType<typeof createTaker>;

function createTaker() {
  const taken = { wall: [] as number[], ping: [] as number[], processor: [] as number[] };
  return {
    take(one: Record<keyof typeof taken, number>): void {
      taken.wall.push(one.wall);
      taken.ping.push(one.ping);
      taken.processor.push(one.processor);
    },
    figures: (): ReadFigures => ({
      wall: percentiles(taken.wall),
      ping: percentiles(taken.ping),
      processor: percentiles(taken.processor),
    }),
  };
}

function requestOf(url: string, method: string, path: string, input?: object): Buffer {
  const body = input === undefined ? '' : JSON.stringify(input);
  const about = `content-type: application/json\r\nx-sox-agent-id: agent7\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: ${new URL(url).host}\r\n${about}\r\n${body}`,
  );
}

interface Answer {
  readonly status: number;
  readonly takenMs: number;
  text(): string;
}

type Ask = ((request: Buffer) => Promise<Answer>) & { close(): void };

async function openAsker(url: string): Promise<Ask> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay(true);
  let pieces: Buffer[] = [];
  let got = 0;
  let front = 0;
  let whole = Number.POSITIVE_INFINITY;
  let begun = 0;
  let waiting: ReturnType<typeof Promise.withResolvers<Answer>> | null = null;
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece);
    got += piece.length;
    if (front === 0) measureFront();
    if (got < whole) return;
    const takenMs = performance.now() - begun;
    const bytes = Buffer.concat(pieces);
    const start = front;
    const status = Number(bytes.toString('latin1', 9, 12));
    waiting?.resolve({ status, takenMs, text: () => bytes.toString('utf8', start) });
  });
  socket.on('error', (error) => waiting?.reject(error));
  socket.on('close', () => waiting?.reject(new Error('the hub closed the connection')));

  /** Where the head of the answer ends, and the answer, once the head is there. */
  function measureFront(): void {
    const bytes = Buffer.concat(pieces);
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1];
    if (length === undefined) throw new Error('an answer did not say how long it is');
    front = end + 4;
    whole = front + Number(length);
  }

  const ask = (request: Buffer): Promise<Answer> => {
    [pieces, got, front, whole] = [[], 0, 0, Number.POSITIVE_INFINITY];
    waiting = Promise.withResolvers<Answer>();
    begun = performance.now();
    socket.write(request);
    return waiting.promise;
  };
  return Object.assign(ask, { close: () => void socket.destroy() });
}
