/**
 * A line that can be cut: a TCP proxy in front of a port. A cut either resets what is open and takes nobody in, or
 * hangs: what was sent is kept, and arrives late when the line is mended, as on a network that was down for a while. Or it
 * loses packets, as who uses TCP meets that: what was lost is sent again after a while, and all that follows waits for it.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export type Cut = 'reset' | 'hang' | 'loss';

export interface Wire {
  readonly port: number;
  /** For everybody, or for who tells this name when it connects. */
  cut(how: Cut, who?: string): void;
  mend(): void;
  close(): Promise<void>;
}

interface Line {
  name: string | null;
  readonly near: Socket;
  readonly far: Socket;
  readonly held: (() => void)[];
  /** What waits for a packet that was lost, by where it goes. */
  readonly late: Map<Socket, Buffer[]>;
}

const EVERYBODY = '*';
/** Of so many pieces one is lost, and sent again after so long; now and then it is lost again. */
const LOST_OF = 8;
const AGAIN_MS = [200, 400, 200, 800] as const;

/** `nameOf` finds a name in the first bytes of who connects. */
export async function openWire(
  to: number,
  nameOf: (opening: string) => string | null = () => null,
  port = 0,
): Promise<Wire> {
  const cuts = new Map<string, Cut>();
  const lines = new Set<Line>();
  const cutOf = ({ name }: Line): Cut | undefined => cuts.get(EVERYBODY) ?? cuts.get(name ?? '');
  const end = (line: Line): void => {
    lines.delete(line);
    line.near.destroy();
    line.far.destroy();
  };
  let passed = 0;
  const pass = (line: Line, into: Socket, chunk: Buffer, isLate = false): void => {
    const how = cutOf(line);
    const late = line.late.get(into);
    if (how === 'reset') end(line);
    else if (late !== undefined) late.push(chunk);
    else if (how === 'hang') line.held.push(() => into.write(chunk));
    else if (how === 'loss' && !isLate && ++passed % LOST_OF === 0) lose(line, into, chunk);
    else into.write(chunk);
  };
  const lose = (line: Line, into: Socket, chunk: Buffer): void => {
    const waiting = [chunk];
    line.late.set(into, waiting);
    const againMs = AGAIN_MS[(passed / LOST_OF) % AGAIN_MS.length];
    setTimeout(() => {
      line.late.delete(into);
      if (lines.has(line)) for (const one of waiting) pass(line, into, one, true);
    }, againMs).unref();
  };
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    const line: Line = { name: null, near, far, held: [], late: new Map() };
    lines.add(line);
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on('error', () => end(line));
      // An end is news, too: it does not pass where nothing does.
      socket.on('close', () => {
        if (cutOf(line) === 'hang') line.held.push(() => end(line));
        else end(line);
      });
    }
    let opening = '';
    near.on('data', (chunk: Buffer) => {
      if (line.name === null && opening.length < 8192) {
        opening += chunk.toString('latin1');
        line.name = nameOf(opening);
      }
      pass(line, far, chunk);
    });
    far.on('data', (chunk: Buffer) => pass(line, near, chunk));
    if (cutOf(line) === 'reset') end(line);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut(how, who = EVERYBODY) {
      cuts.set(who, how);
      for (const line of lines) if (cutOf(line) === 'reset') end(line);
    },
    mend() {
      cuts.clear();
      for (const line of lines) for (const go of line.held.splice(0)) go();
    },
    async close() {
      server.close();
      for (const line of lines) end(line);
    },
  };
}
