/**
 * A line that can be cut: a TCP proxy in front of a port. A cut either resets what is open and takes nobody in, or
 * hangs: what was sent is kept, and arrives late when the line is mended, as on a network that was down for a while.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export type Cut = 'reset' | 'hang';

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
}

const EVERYBODY = '*';

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
  const pass = (line: Line, into: Socket, chunk: Buffer): void => {
    const how = cutOf(line);
    if (how === 'reset') end(line);
    else if (how === 'hang') line.held.push(() => into.write(chunk));
    else into.write(chunk);
  };
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    const line: Line = { name: null, near, far, held: [] };
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
