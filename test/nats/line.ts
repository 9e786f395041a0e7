/**
 * A line to NATS on which single messages meet with something: a proxy that takes what passes apart into messages, so that one
 * may be lost whole, be answered by somebody else than the server, or be the last that passes. It knows of the protocol what that takes.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** As they begin: whom a message is for, and what is in an answer. */
export const STARTS = {
  /** An append, there. */
  append: /^HPUB \S+\.log\./,
  /** That a log was replaced, there. */
  marker: /^HPUB \S+\.log\.[\s\S]*\r\nSynod-Replaced:/,
  /** The answer to one of the two, back. */
  stored: /^MSG \S+ \d+ +\d+\r\n\{"stream":"\S+-log-/,
  /** How far a log is, there. */
  question: /^PUB \$JS\.API\.STREAM\.INFO\.\S+-log-/,
  /** A space is named, there; and the answer to it, back. */
  pointer: /^H?PUB \S+\.spaces\./,
  pointed: /^MSG \S+ \d+ +\d+\r\n\{"stream":"\S+-spaces"/,
  /** A stream of snapshots is made, and one of a log removed, there. */
  makeSnapshots: /^PUB \$JS\.API\.STREAM\.CREATE\.\S+-snap-/,
  remove: /^PUB \$JS\.API\.STREAM\.DELETE\.\S+-log-/,
} as const;

/** Nothing befalls it; it is lost; the line breaks with it; it is answered with this and never comes there. */
type Fate = 'pass' | 'lose' | 'break' | { readonly answer: string };

export interface Line extends AsyncDisposable {
  readonly port: number;
  /** How many messages met with what was said. */
  readonly met: number;
  /** The next that begins so; what is said after this waits until it came. */
  next(start: RegExp, fate: Fate): void;
}

export async function openLine(to: number): Promise<Line> {
  const sockets = new Set<Socket>();
  const fates: { readonly start: RegExp; readonly fate: Fate }[] = [];
  let met = 0;
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    /** By which number who connected knows answers. */
    const inboxes = new Map<string, string>();
    const pass = (into: Socket, message: Buffer): void => {
      const text = message.toString('latin1');
      const [, inbox, id] = /^SUB (_INBOX\.\S+)\.\* (\S+)\r\n/.exec(text) ?? [];
      if (inbox !== undefined && id !== undefined) inboxes.set(inbox, id);
      const [first] = fates;
      if (first === undefined || !first.start.test(text)) return void into.write(message);
      met++;
      fates.shift();
      const { fate } = first;
      if (fate === 'pass') into.write(message);
      else if (fate === 'break') near.destroy();
      else if (fate !== 'lose') answer(text, fate.answer);
    };
    const answer = (text: string, said: string): void => {
      const [, reply = ''] = /^\S+ \S+ (_INBOX\.\S+) /.exec(text) ?? [];
      const id = inboxes.get(reply.slice(0, reply.lastIndexOf('.')));
      near.write(`MSG ${reply} ${id} ${Buffer.byteLength(said)}\r\n${said}\r\n`);
    };
    near.on(
      'data',
      takeApart((message) => pass(far, message)),
    );
    far.on(
      'data',
      takeApart((message) => pass(near, message)),
    );
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {}).on('close', () => other.destroy());
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get met() {
      return met;
    },
    next: (start, fate) => void fates.push({ start, fate }),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Whole messages as they come: a line, and what it says that follows. */
function takeApart(hear: (message: Buffer) => void): (chunk: Buffer) => void {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let wanted = 1;
  return (chunk) => {
    waiting.push(chunk);
    bytes += chunk.byteLength;
    if (bytes < wanted) return;
    let rest = Buffer.concat(waiting);
    for (;;) {
      const size = sizeOf(rest);
      wanted = size ?? rest.byteLength + 1;
      if (rest.byteLength < wanted) break;
      hear(rest.subarray(0, wanted));
      rest = rest.subarray(wanted);
    }
    waiting = [rest];
    bytes = rest.byteLength;
  };
}

/** Null while it is not known. */
function sizeOf(bytes: Buffer): number | null {
  const end = bytes.indexOf('\r\n');
  if (end < 0) return null;
  const line = bytes.toString('latin1', 0, end);
  if (!/^(H?PUB|H?MSG) /.test(line)) return end + 2;
  return end + 2 + Number(line.split(' ').at(-1)) + 2;
}
