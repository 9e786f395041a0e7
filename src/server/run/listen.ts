/** How the hub's HTTP servers begin to listen, on an address or on the owner's Unix socket, and how they end. */
import { chmod, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ServerLog } from './server-log.ts';

/** Longer names do not fit into a socket address everywhere. */
const SOCKET_PATH_BYTES_MAX = 100;

export async function openSocket(
  server: Server,
  dir: string,
  closers: (() => void | Promise<void>)[],
  log: ServerLog,
): Promise<string | null> {
  const path = join(dir, 'hub.sock');
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) {
    log('warn', `no Unix socket: ${path} is too long a name for one; the TCP door is open`);
    return null;
  }
  // We hold the directory's lock, so a socket file that is there was left by a dead hub.
  await rm(path, { force: true });
  await listen(server, { path });
  await chmod(path, 0o600);
  closers.push(async () => {
    await shut(server);
    await rm(path, { force: true });
  });
  return path;
}

export function listen(
  server: Server,
  where: { host: string; port: number } | { path: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // A socket file is made under a closed umask: nobody may connect before its mode is set.
    const before = process.umask(0o177);
    server.listen(where, () => {
      server.off('error', reject);
      resolve();
    });
    process.umask(before);
  });
}

/** The other address of a name that every machine has two of. */
const TWINS: Readonly<Record<string, string>> = {
  '127.0.0.1': '::1',
  '0.0.0.0': '::1',
  '::1': '127.0.0.1',
};

/**
 * A browser that is told `localhost` may try either loopback address first, and whoever has the other one
 * would be shown what is meant for us. So the hub takes both [WD6]; where somebody else has it, the page is not
 * at that name. True: `localhost` is ours.
 */
export async function listenAsLocalhost(
  server: Server,
  { address, port }: AddressInfo,
  warn: (line: string) => void,
): Promise<boolean> {
  const twin = TWINS[address];
  if (twin === undefined) return address === '::';
  try {
    await listen(server, { host: twin, port });
    return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // Without the other kind of address on this machine nobody else has it either.
    if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return true;
    warn(`the page is not at localhost: another program has ${twin}, port ${port} (${code})`);
    return false;
  }
}

export function shut(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    // Long waits are ended by their doors; whatever is left after a moment is cut.
    setTimeout(() => server.closeAllConnections(), 500).unref();
  });
}
