/** Three servers, each a process, on one JetStream, and calls at any of them; none outlives the test. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HubProcess, isRunning, startHubProcess } from '../e2e/hub-process.ts';
import { fetchReply, type Json } from '../e2e/running-hub.ts';
import { type NatsNode, type NodeOptions, openNatsNode } from './server.ts';

export const NAMES = ['a', 'b', 'c'] as const;
export type Name = (typeof NAMES)[number];

export interface ThreeServers {
  readonly node: NatsNode;
  readonly store: string;
  dirOf(name: Name): string;
  urlOf(name: Name): string;
  start(name: Name): Promise<void>;
  kill(name: Name): Promise<void>;
  pause(name: Name): void;
  resume(name: Name): void;
  /** As an operator does it. */
  stop(name: Name): Promise<void>;
  stderr(name: Name): string;
  /** Headers of the owner of a server. */
  owner(name: Name): Exclude<Who, string>;
  /** What the server answered, or `refused` with what it said instead. */
  ask(at: Name, who: Who, operation: string, input: unknown): Promise<Json>;
  close(): Promise<void>;
}

/** An agent by its word, or a token. */
export type Who =
  | string
  | { readonly token?: string; readonly agent?: string; readonly space?: string; isOwner?: true };

export function headersOf(who: Who): Record<string, string> {
  if (typeof who === 'string') return { 'x-sox-agent-id': who };
  return {
    ...(who.token !== undefined && { authorization: `Bearer ${who.token}` }),
    ...(who.agent !== undefined && { 'x-sox-agent-id': who.agent }),
    ...(who.space !== undefined && { 'x-sox-namespace': who.space }),
    ...(who.isOwner && { 'x-synod-owner': '1' }),
  };
}

export async function openThreeServers(
  config: Readonly<Record<string, unknown>> = {},
  nats: NodeOptions = {},
): Promise<ThreeServers> {
  const node = await openNatsNode(nats);
  const dir = mkdtempSync(join(tmpdir(), 'synod-three-'));
  const file = join(dir, 'synod.json');
  writeFileSync(file, JSON.stringify(config));
  const store = `nats://127.0.0.1:${node.port}/synod?replicas=1&durability=relaxed`;
  const servers = new Map<Name, HubProcess>();
  const three: ThreeServers = {
    node,
    store,
    dirOf: (name) => join(dir, name),
    owner: (name) => ({
      ...{ token: readFileSync(join(dir, name, 'credential'), 'utf8').trim(), isOwner: true },
    }),
    urlOf: (name) => servers.get(name)?.url ?? '',
    async start(name) {
      const started = await startHubProcess(join(dir, name), {
        args: ['--store', store, '--server-name', name, '--auth', 'open', '--config', file],
      });
      if (!isRunning(started)) throw new Error(started.stderr);
      servers.set(name, started);
    },
    stderr: (name) => servers.get(name)?.stderr() ?? '',
    async stop(name) {
      await servers.get(name)?.stop();
      servers.delete(name);
    },
    pause: (name) => void servers.get(name)?.child.kill('SIGSTOP'),
    resume: (name) => void servers.get(name)?.child.kill('SIGCONT'),
    async kill(name) {
      await servers.get(name)?.kill();
      servers.delete(name);
    },
    async ask(at, who, operation, input) {
      const reply = await fetchReply(`${servers.get(at)?.url}/v1/ops/${operation}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headersOf(who) },
        body: JSON.stringify(input),
      }).catch(() => null);
      return reply === null || reply.status !== 200
        ? { refused: reply?.body ?? 'gone' }
        : reply.body;
    },
    async close() {
      for (const server of servers.values()) await server.kill();
      await node.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  for (const name of NAMES) await three.start(name);
  return three;
}
