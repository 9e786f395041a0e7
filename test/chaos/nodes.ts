/**
 * Three NATS nodes with lines that can be cut: between any two of them, and between each synod server and each node.
 * Nobody learns of a way around them: nodes tell each other only the near ends, and tell clients nothing.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../free-ports.ts';
import { type NatsNode, openNatsNode, requireLeader } from '../nats/server.ts';
import { type Cut, openWire, type Wire } from './wire.ts';

export interface ChaosNode {
  readonly name: string;
  readonly nats: NatsNode;
  /** From the other nodes. */
  readonly route: Wire;
  /** From each server. */
  readonly doors: ReadonlyMap<string, Wire>;
  /** Null where no disk of its own can be had. */
  readonly disk: { fill(): void; empty(): void } | null;
}

export interface Nodes {
  readonly all: readonly ChaosNode[];
  storeFor(server: string): string;
  /** Nobody in, nobody out, but for servers. */
  isolate(node: ChaosNode, how: Cut): void;
  mendRoutes(): void;
  /** Which node leads the stream of the log; null when nobody knows. */
  leader(): Promise<ChaosNode | null>;
  close(): Promise<void>;
}

const SIZE = 3;
const DISK_MB = 48;
const PREFIX = 'chaos';

export async function openNodes(servers: readonly string[], hasDisks: boolean): Promise<Nodes> {
  const dir = mkdtempSync(join(tmpdir(), 'synod-chaos-'));
  const listens = await freePorts(SIZE);
  const routes = await Promise.all(
    listens.map((port) =>
      openWire(port, (opening) => /"server_name":"(node\d)"/.exec(opening)?.[1] ?? null),
    ),
  );
  const urls = routes.map(({ port }) => `"nats://127.0.0.1:${port}"`).join(', ');
  const all = await Promise.all(
    listens.map(async (listen, i): Promise<ChaosNode> => {
      const name = `node${i}`;
      const route = routes[i] as Wire;
      const disk = hasDisks ? openDisk(join(dir, name)) : null;
      const nats = await openNatsNode({
        ...(disk !== null && { storeDir: join(dir, name) }),
        top: [
          `server_name: ${name}`,
          `cluster { name: synod, listen: "127.0.0.1:${listen}", advertise: "127.0.0.1:${route.port}", no_advertise: true, routes: [${urls}] }`,
        ].join('\n'),
      });
      const doors = await Promise.all(
        servers.map(async (server) => [server, await openWire(nats.port)] as const),
      );
      return { name, nats, route, disk, doors: new Map(doors) };
    }),
  );
  await requireLeader(all.map(({ nats }) => nats));
  return {
    all,
    storeFor(server) {
      const hosts = all.map(({ doors }) => `127.0.0.1:${doors.get(server)?.port}`);
      return `nats://${hosts.join(',')}/${PREFIX}`;
    },
    isolate(node, how) {
      for (const other of all) {
        if (other === node) other.route.cut(how);
        else other.route.cut(how, node.name);
      }
    },
    mendRoutes() {
      for (const { route } of all) route.mend();
    },
    async leader() {
      for (const { nats } of all) {
        const name = await leaderAt(nats.monitor);
        const found = all.find((node) => node.name === name);
        if (found !== undefined) return found;
      }
      return null;
    },
    async close() {
      for (const { nats, route, doors } of all) {
        await nats.close();
        await route.close();
        for (const door of doors.values()) await door.close();
      }
      if (hasDisks) for (const { name } of all) execFileSync('umount', ['-l', join(dir, name)]);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

interface StreamDetail {
  readonly name: string;
  readonly cluster?: { readonly leader?: string };
}

async function leaderAt(monitor: string): Promise<string | null> {
  try {
    const url = `${monitor}/jsz?accounts=true&streams=true`;
    const reply = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    const told = (await reply.json()) as {
      account_details?: { stream_detail?: StreamDetail[] }[];
    };
    const streams = told.account_details?.flatMap((one) => one.stream_detail ?? []) ?? [];
    const logs = streams.filter(({ name }) => name.startsWith(`${PREFIX}-log-`));
    return logs[0]?.cluster?.leader ?? null;
  } catch {
    return null;
  }
}

/** Whether disks of their own can be had: that takes a system that lets us mount. */
export function canMount(): boolean {
  const dir = mkdtempSync(join(tmpdir(), 'synod-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', dir], { stdio: 'ignore' });
    execFileSync('umount', [dir], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A small disk of its own, and a file that fills it. */
function openDisk(path: string): { fill(): void; empty(): void } {
  mkdirSync(path);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'tmpfs', path]);
  const filler = join(path, 'filler');
  return {
    fill() {
      try {
        writeFileSync(filler, Buffer.alloc(DISK_MB * 1024 * 1024));
      } catch {
        // Full: that was the aim.
      }
    },
    empty: () => rmSync(filler, { force: true }),
  };
}
