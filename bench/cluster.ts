/**
 * Three servers on three NATS nodes, all on this machine, for the scenarios of a cluster. The nodes are those of
 * the tests: `nats-server`, or what SYNOD_NATS_SERVER names.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openLink } from '../src/log/nats/link.ts';
import { parseNatsUrl } from '../src/log/nats/place.ts';
import { enrol } from '../test/nats/enrol.ts';
import { type NatsNode, NO_NATS, openNatsCluster } from '../test/nats/server.ts';
import { HUB_ROOT, openServer, ROOT, type Server } from './server.ts';

const DEADLINE_MS = 30_000;
const NAMES = ['one', 'two', 'three'] as const;
export type Name = (typeof NAMES)[number];

export interface BenchCluster extends AsyncDisposable {
  readonly store: string;
  readonly urls: readonly string[];
  readonly names: readonly Name[];
  /** Those of them that are up now. */
  readonly running: readonly Name[];
  readonly nodes: readonly NatsNode[];
  server(name: Name): Server;
  /** kill -9, or with SIGTERM as one that is stopped; resolves when it is gone. */
  end(name: Name, signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  start(name: Name): Promise<void>;
  /** Which servers have the space open, as that one is told. */
  openAt(name: Name, space: string): Promise<readonly string[]>;
  /** As its owner: it hands over what it sequences, or takes spaces again; answers how many are left. */
  drain(name: Name, isUndone?: boolean): Promise<number>;
  /** Messages and bytes in the logs of all spaces. */
  stored(): Promise<{ readonly batches: number; readonly bytes: number }>;
  /** Messages that clients and nodes have exchanged, in both directions. */
  exchanged(): Promise<number>;
}

export async function openBenchCluster(
  options: {
    readonly isInspected?: boolean;
    /** A server closes its copy of a space that nobody asks for so soon; else as it does by itself. */
    readonly closeUnusedAfterS?: number;
  } = {},
): Promise<BenchCluster> {
  if (NO_NATS !== null) throw new Error(NO_NATS);
  const dir = mkdtempSync(join(tmpdir(), 'synod-bench-cluster-'));
  const nodes = await openNatsCluster(NAMES.length);
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const store = `nats://${hosts}/bench`;
  const place = parseNatsUrl(store);
  if (place === null) throw new Error(`${store} is no address of NATS`);
  const servers = new Map<Name, Server>();

  const config = join(dir, 'synod.json');
  // A hub of before, beside which this one is measured, does not know it.
  const isKnown = HUB_ROOT === ROOT && options.closeUnusedAfterS !== undefined;
  writeFileSync(
    config,
    JSON.stringify(isKnown ? { close_unused_after: options.closeUnusedAfterS } : {}),
  );

  async function start(name: Name): Promise<void> {
    const args = ['--store', store, '--server-name', name, '--config', config];
    await enrol(store, join(dir, name), name);
    servers.set(name, await openServer('hub', { ...options, dir: join(dir, name), args }));
  }

  function running(): Name[] {
    return NAMES.filter((name) => servers.has(name));
  }

  function server(name: Name): Server {
    const found = servers.get(name);
    if (found === undefined) throw new Error(`the server ${name} is not there`);
    return found;
  }

  const link = await openLink(place);
  async function close(): Promise<void> {
    await Promise.all([...servers.values()].map((one) => one.close()));
    await link.release();
    await Promise.all(nodes.map((node) => node.close()));
    rmSync(dir, { recursive: true, force: true });
  }
  async function asOwner<T>(name: Name, operation: string, input: object): Promise<T> {
    const secret = readFileSync(join(dir, name, 'credential'), 'utf8').trim();
    const answer = await fetch(`${server(name).url}/v1/ops/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify(input),
    });
    if (!answer.ok) throw new Error(`${name} refuses ${operation}: ${await answer.text()}`);
    return (await answer.json()) as T;
  }
  try {
    for (const name of NAMES) await start(name);
  } catch (cause) {
    await close();
    throw cause;
  }
  return {
    store,
    nodes,
    names: NAMES,
    get running() {
      return running();
    },
    server,
    start,
    get urls() {
      return running().map((name) => server(name).url);
    },
    async end(name, signal) {
      const { pid, gone } = server(name);
      servers.delete(name);
      process.kill(pid, signal);
      await gone;
    },
    async openAt(name, space) {
      const { spaces } = await asOwner<{ spaces: Standing[] }>(name, 'cluster.status', {});
      const positions = spaces.find((one) => one.space === space)?.positions ?? [];
      return positions.map(({ server: at }) => at);
    },
    async drain(name, undo = false) {
      const { left } = await asOwner<{ left: number }>(name, 'cluster.drain', { undo });
      return left;
    },
    async stored() {
      let batches = 0;
      let bytes = 0;
      for await (const { config, state } of link.manager.streams.list()) {
        if (!config.name.startsWith('bench-log-')) continue;
        batches += state.messages;
        bytes += state.bytes;
      }
      return { batches, bytes };
    },
    async exchanged() {
      let count = 0;
      for (const { monitor } of nodes) {
        const told = (await (await fetch(`${monitor}/connz`)).json()) as Connections;
        for (const { in_msgs, out_msgs } of told.connections) count += in_msgs + out_msgs;
      }
      return count;
    },
    [Symbol.asyncDispose]: close,
  };
}

interface Standing {
  readonly space: string;
  readonly positions: readonly { readonly server: string }[];
}

/** Of what a node says of its clients; other nodes are none. */
interface Connections {
  readonly connections: readonly { readonly in_msgs: number; readonly out_msgs: number }[];
}

interface Answer {
  readonly cluster?: { readonly sequencer?: string | null };
}

/**
 * Where other work starves them, servers may lose one another while they are measured, and whoever asked is told that
 * nobody knows. That is no figure: it is taken again.
 */
export async function takeAgain<T>(take: () => Promise<T>, times = 4): Promise<T> {
  for (let left = times; ; left--) {
    try {
      return await take();
    } catch (error) {
      if (left <= 1) throw error;
      process.stderr.write(`taken again: ${(error as Error).message}\n`);
    }
  }
}

/** Null where the server is not there or refuses. */
export async function ask(
  url: string,
  operation: string,
  input: object,
  space = 'default',
): Promise<Answer | null> {
  const answer = await fetch(`${url}/v1/ops/${operation}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-sox-agent-id': 'ada',
      'x-sox-namespace': space,
    },
    body: JSON.stringify(input),
  }).catch(() => null);
  return answer?.ok ? ((await answer.json()) as Answer) : null;
}

/** Asks again and again at both others, as clients do that are not told to wait. */
export async function untilSent(urls: readonly string[], space = 'default'): Promise<void> {
  const stopAt = performance.now() + DEADLINE_MS;
  const tries = urls.map(async (url) => {
    for (let n = 0; performance.now() < stopAt; n++) {
      const input = { channel: 'general', body: { n } };
      if ((await ask(url, 'send', input, space)) !== null) return;
      await wait(10);
    }
    throw new Error(`${url} took nothing for ${DEADLINE_MS} ms`);
  });
  await Promise.race(tries);
}
