/**
 * Codex's own daemon: JSON-RPC over a WebSocket on the Unix socket in its home. A turn is begun only in a
 * thread the daemon has loaded, so a thread that is gone is not resurrected. `codex queue` leads to
 * the same daemon, but shows the text to everybody on the machine as an argument: not used.
 */
import { lstatSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { readJson } from '../../../core/law/json.ts';
import { ATTEMPT_MS, type WakeMeans } from './wake-means.ts';

const SOCKET = join('app-server-control', 'app-server-control.sock');
const FRAME_BYTES_MAX = 8 * 1024 * 1024;

type RpcReply = Readonly<Record<string, unknown>>;

export const codexAppServer: WakeMeans = {
  name: 'codex-app-server',
  isFor: ({ booked }) => booked.vendor === 'codex' && booked.session !== null,
  async attempt({ attention, text }) {
    const path = socketIn(attention.reach.codexHome ?? join(homedir(), '.codex'));
    const { session } = attention.booked;
    if (path === null || session === null) return 'no Codex daemon runs';
    return startTurn(path, session, text).catch((error: Error) => error.message);
  },
};

function socketIn(home: string): string | null {
  try {
    const path = realpathSync(join(home, SOCKET));
    const stat = lstatSync(path);
    const isOurs = process.getuid === undefined || stat.uid === process.getuid();
    return stat.isSocket() && isOurs ? path : null;
  } catch {
    // Not there: no daemon.
    return null;
  }
}

async function startTurn(path: string, threadId: string, text: string): Promise<string | null> {
  const socket = new WebSocket(`ws+unix:${path}:/`, {
    handshakeTimeout: ATTEMPT_MS,
    maxPayload: FRAME_BYTES_MAX,
  });
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const timer = setTimeout(() => reject(new Error('the Codex daemon did not answer')), ATTEMPT_MS);
  const waiting = new Map<number, (answer: RpcReply) => void>();
  socket.on('error', reject);
  socket.on('close', () => reject(new Error('the Codex daemon closed the connection')));
  socket.on('message', (frame) => {
    const message = parse(String(frame));
    if (typeof message.id === 'number' && message.method === undefined) {
      waiting.get(message.id)?.(message);
    }
  });
  let count = 0;
  const ask = (method: string, params: object): Promise<RpcReply> =>
    Promise.race([
      failed,
      new Promise<RpcReply>((resolve) => {
        waiting.set(++count, resolve);
        socket.send(JSON.stringify({ id: count, method, params }));
      }),
    ]);
  try {
    await Promise.race([failed, new Promise<void>((resolve) => socket.once('open', resolve))]);
    await ask('initialize', { clientInfo: { name: 'synod', version: '1' } });
    socket.send(JSON.stringify({ method: 'initialized' }));
    const loaded = await ask('thread/loaded/list', {});
    if (!JSON.stringify(loaded.result ?? null).includes(JSON.stringify(threadId))) {
      return 'the thread is not open any more';
    }
    const started = await ask('turn/start', { threadId, input: [{ type: 'text', text }] });
    return started.error === undefined ? null : 'the Codex daemon refused the turn';
  } finally {
    clearTimeout(timer);
    socket.terminate();
  }
}

function parse(text: string): RpcReply {
  try {
    const value: unknown = readJson(text);
    return typeof value === 'object' && value !== null ? (value as RpcReply) : {};
  } catch {
    return {};
  }
}
