/**
 * The originals beside us, where the machine has them: programs of others, started as their own users
 * would and never part of this repository. README.md says which they are and how to name them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createScratch, openServer, stop } from './server.ts';

/** The `synapse` command of synapse-channel 0.43. */
export const PEER_SYNAPSE: string | undefined = process.env.SYNOD_PEER_SYNAPSE;
/** The `stdio_bus` program. */
export const PEER_BUS: string | undefined = process.env.SYNOD_PEER_STDIO_BUS;

const READY_TIMEOUT_MS = 30_000;

export interface WireServer {
  /** Where it speaks Synapse. */
  readonly url: string;
  readonly pid: number;
  close(): Promise<void>;
}

/** Ours, and the original where its path is given; a fresh one each time, its log on the disk. */
export function wireServers(hasHub: boolean): Record<string, () => Promise<WireServer>> {
  return {
    ...(PEER_SYNAPSE !== undefined && { original: () => openOriginal(PEER_SYNAPSE) }),
    ...(hasHub && {
      hub: async () => {
        const { synapse: url, pid, close } = await openServer('hub', { hasSynapse: true });
        return { url, pid, close };
      },
    }),
  };
}

async function openOriginal(program: string): Promise<WireServer> {
  const dir = await createScratch();
  const port = await freePort();
  const where = ['--host', '127.0.0.1', '--port', String(port), '--db', join(dir, 'log.db')];
  // Its bounds are lifted where ours are wider: the same load must fit both.
  const bounds = ['--max-clients', '1024', '--max-claims-per-agent', '10000'];
  const child = spawn(program, ['hub', ...where, ...bounds, '--log-level', 'ERROR'], {
    stdio: 'ignore',
  });
  const until = performance.now() + READY_TIMEOUT_MS;
  while (!(await listens(port))) {
    if (performance.now() > until || child.exitCode !== null) {
      throw new Error(`${program} hub did not start`);
    }
    await wait(50);
  }
  return {
    url: `ws://127.0.0.1:${port}`,
    pid: child.pid as number,
    async close() {
      await stop(child);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
