/**
 * The file of a Unix socket. One that a dead bus left behind is taken away; one that answers is
 * in use, and what is no socket is not ours to remove: both are refused. Only the owner
 * may connect, from the first moment [BD5]; at the end the file goes, if it is still the one we made.
 */
import { chmodSync, existsSync, lstatSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname } from 'node:path';
import { ListenError, untilListening } from './listen-address.ts';

/** The kernel's own limits, less the NUL at the end. */
const PATH_BYTES_MAX = process.platform === 'darwin' ? 103 : 107;
const PROBE_MS = 2_000;
const OWNER_ONLY = 0o600;
const OWNER_ONLY_UMASK = 0o177;

/** Which file it is: the number alone is soon given to another. */
function markOf(path: string): string | null {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}

/** Makes sure that nothing is at the path, or says what is. */
export async function clearSocketPath(path: string): Promise<void> {
  const bytes = Buffer.byteLength(path);
  if (bytes > PATH_BYTES_MAX) {
    throw new ListenError(
      'bus.address-unusable',
      `${path} is too long for a socket: ${bytes} bytes, at most ${PATH_BYTES_MAX} fit; use a shorter path`,
    );
  }
  const folder = dirname(path);
  if (!existsSync(folder)) {
    throw new ListenError(
      'bus.address-unusable',
      `cannot listen on ${path}: there is no folder ${folder}; make it, or choose another path`,
    );
  }
  const mark = markOf(path);
  if (mark === null) return;
  if (!lstatSync(path).isSocket()) {
    throw new ListenError(
      'bus.address-taken',
      `${path} is there and is no socket; it was left alone: choose another path, or remove it`,
    );
  }
  const answer = await probe(path);
  if (answer === 'ENOENT') return;
  if (answer !== 'ECONNREFUSED') {
    throw new ListenError(
      'bus.address-taken',
      answer === 'EACCES'
        ? `${path} belongs to another user; choose another path`
        : `${path} is in use: a bus answers there; stop it, or choose another path`,
    );
  }
  // A bus that started at the same time may have put a live one there meanwhile.
  if (markOf(path) === mark) unlinkSync(path);
}

/** Tries to connect: the code of the refusal, or null when it was accepted, or not refused in time. */
function probe(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const finish = (answer: string | null): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(PROBE_MS, () => finish(null));
    socket.once('connect', () => finish(null));
    socket.once('error', (error: NodeJS.ErrnoException) => finish(error.code ?? null));
  });
}

/** Listens; answers how to take the file away. */
export async function listenUnix(server: Server, path: string): Promise<() => void> {
  const begin = (onListening: () => void): void => {
    const restore = closeUmask();
    try {
      // The file is made inside this call, so no other file is made under this umask.
      server.listen(path, onListening);
      if (restore === null) chmodSync(path, OWNER_ONLY);
    } finally {
      restore?.();
    }
  };
  const explain = (code?: string): string =>
    `cannot listen on ${path} (${code}); choose another path`;
  await untilListening(server, begin, explain);
  const mark = markOf(path);
  const remove = (): void => {
    process.off('exit', remove);
    if (mark !== null && markOf(path) === mark) unlinkSync(path);
  };
  process.on('exit', remove);
  return remove;
}

/** A worker thread cannot change the umask; there the mode is set right behind. */
function closeUmask(): (() => void) | null {
  try {
    const before = process.umask(OWNER_ONLY_UMASK);
    return () => process.umask(before);
  } catch {
    return null;
  }
}
