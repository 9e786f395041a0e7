/**
 * A NATS server of one's own, started by a test: one node, or a cluster of several on loopback. Debian's
 * `nats-server` is enough for one node; `SYNOD_NATS_SERVER` names another one.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../e2e/deadline.ts';
import { freePorts } from '../free-ports.ts';

const PROGRAM = process.env.SYNOD_NATS_SERVER ?? 'nats-server';

/** What it says of itself (`2.15.1`); null when there is none. */
const NATS_VERSION: string | null =
  /v(\d+\.\d+\.\d+)/.exec(
    spawnSync(PROGRAM, ['--version'], { encoding: 'utf8' }).stdout ?? '',
  )?.[1] ?? null;

export const NO_NATS: string | null =
  NATS_VERSION === null
    ? 'no nats-server: install the package nats-server, or name one with SYNOD_NATS_SERVER'
    : null;

export interface NatsNode {
  /** Where its configuration lies. */
  readonly dir: string;
  readonly port: number;
  /** Of the process, while it runs. */
  readonly pid: number | null;
  readonly monitor: string;
  /** Settings of JetStream, from the next start on. */
  configure(settings: string): void;
  /** With a signal that nothing can be done about. */
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /** On the same ports and the same files, whether it becomes ready or not. */
  launch(): void;
  /** The same, and ready. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface NodeOptions {
  /** Outside of the block of JetStream. */
  readonly top?: string;
  readonly settings?: string;
  /** Beside its configuration, for `include`. */
  readonly files?: Readonly<Record<string, string>>;
  /** Where JetStream keeps its files; a folder of its own unless it is named. */
  readonly storeDir?: string;
}

export async function openNatsNode(options: NodeOptions = {}): Promise<NatsNode> {
  const dir = mkdtempSync(join(tmpdir(), 'synod-nats-'));
  const [port, http] = await freePorts(2);
  const config = join(dir, 'nats.conf');
  for (const [name, text] of Object.entries(options.files ?? {}))
    writeFileSync(join(dir, name), text);
  const write = (settings: string): void =>
    writeFileSync(
      config,
      [
        `port: ${port}`,
        options.top ?? '',
        'host: 127.0.0.1',
        `http: 127.0.0.1:${http}`,
        `jetstream {\n store_dir: "${options.storeDir ?? join(dir, 'data')}"\n ${settings}\n}`,
      ].join('\n'),
    );
  write(options.settings ?? '');
  return openNode({ dir, config, write, port: port as number, http: http as number });
}

/** Nodes of one cluster, with more settings of it; ready when they have chosen who leads it. */
export async function openNatsCluster(size: number, more = ''): Promise<NatsNode[]> {
  const routes = await freePorts(size);
  const nodes = await Promise.all(
    routes.map((route, i) =>
      openNatsNode({
        top: [
          `server_name: node${i}`,
          `cluster { name: synod, listen: "127.0.0.1:${route}", routes: [${routes
            .map((one) => `"nats://127.0.0.1:${one}"`)
            .join(', ')}]\n ${more} }`,
        ].join('\n'),
      }),
    ),
  );
  await requireLeader(nodes);
  return nodes;
}

/** Waits until the nodes have chosen who leads them. */
export async function requireLeader(nodes: readonly NatsNode[]): Promise<void> {
  await until(
    'the cluster has a leader',
    async () => {
      const told = await Promise.all(nodes.map(({ monitor }) => fetch(`${monitor}/jsz`)));
      const all = (await Promise.all(told.map((one) => one.json()))) as {
        meta_cluster?: { leader?: string; cluster_size?: number };
      }[];
      return all.every(
        ({ meta_cluster: meta }) => meta?.leader && meta.cluster_size === nodes.length,
      );
    },
    Boolean,
    30_000,
  );
}

/** Servers before 2.10 do not know it, and do not start with it. */
export const SYNC_ALWAYS = 'sync_interval: always';
const [MAJOR = 0, MINOR = 0] = (NATS_VERSION ?? '').split('.').map(Number);
export const CAN_SYNC: boolean = MAJOR > 2 || (MAJOR === 2 && MINOR >= 10);

interface NodeFiles {
  readonly dir: string;
  readonly config: string;
  write(settings: string): void;
  readonly port: number;
  readonly http: number;
}

async function openNode({ dir, config, write, port, http }: NodeFiles): Promise<NatsNode> {
  let child: ChildProcess | null = null;
  const monitor = `http://127.0.0.1:${http}`;
  const node: NatsNode = {
    dir,
    port,
    get pid() {
      return child?.pid ?? null;
    },
    monitor,
    configure: write,
    async kill() {
      const running = child;
      child = null;
      // Somebody else may have ended it.
      if (running === null || running.exitCode !== null || running.signalCode !== null) return;
      const gone = new Promise((resolve) => running.once('exit', resolve));
      running.kill('SIGKILL');
      await gone;
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    launch() {
      child = spawn(PROGRAM, ['-c', config], { stdio: 'ignore' });
    },
    async start() {
      node.launch();
      await until(
        `nats-server on ${port} is ready`,
        async () => (await fetch(`${monitor}/healthz`).catch(() => null))?.ok ?? false,
        Boolean,
      );
    },
    async close() {
      await node.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  await node.start();
  return node;
}
