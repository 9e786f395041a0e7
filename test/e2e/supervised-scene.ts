/**
 * A hub with its doors open, agents that are defined there, and supervisors of real programs in a folder of
 * their own; closing it ends all of them. For the tests of the supervisor.
 */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, connect } from '../../src/client/client.ts';
import { Supervisor } from '../../src/flow/process/supervisor.ts';
import type {
  SupervisorOptions,
  SupervisorStatus,
} from '../../src/flow/process/supervisor-options.ts';
import { until } from './deadline.ts';
import { type Json, openRunningHub, type RunningHub } from './running-hub.ts';

export interface Defined {
  readonly agent: string;
  /** A client with the agent's own token. */
  readonly own: Client;
  readonly token: string;
}

export interface Made {
  readonly agent: string;
  readonly own: Client;
  readonly supervisor: Supervisor;
  readonly seen: SupervisorStatus[];
  readonly states: () => string[];
}

export interface SupervisedScene {
  readonly hub: RunningHub;
  /** A person's client. */
  readonly client: Client;
  readonly folder: string;
  /** Supervisors that are stopped after each test, and clients that are closed at the end. */
  readonly open: Supervisor[];
  readonly clients: Client[];
  /** A fresh agent with its definition and its own token. */
  defined(more?: object): Promise<Defined>;
  supervise(
    script: string,
    options?: Partial<SupervisorOptions>,
    definition?: object,
  ): Promise<Made>;
  instancesOf(agent: string): Promise<Json[]>;
  /** A file that a program wrote whole lines to. */
  linesIn(name: string): string[];
  settle(): Promise<void>;
  close(): Promise<void>;
}

export async function openSupervisedScene(): Promise<SupervisedScene> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'synod-supervised-')));
  const hub = await openRunningHub();
  const client = await connect({ url: hub.url, token: hub.owner, agent: 'pat', isPerson: true });
  const open: Supervisor[] = [];
  const clients: Client[] = [];
  let number = 0;

  async function defined(more: object = {}): Promise<Defined> {
    number += 1;
    const agent = `worker-${number}`;
    await client.call('agents.define', { agent_id: agent, ...more });
    const { token } = await hub.admin('tokens.create', { agent_id: agent });
    const own = await connect({ url: hub.url, token });
    clients.push(own);
    return { agent, own, token };
  }

  return {
    ...{ hub, client, folder, open, clients, defined },
    async supervise(script, options = {}, definition = {}) {
      const { agent, own } = await defined(definition);
      const seen: SupervisorStatus[] = [];
      const supervisor = new Supervisor({
        ...{ hub: own, agent, command: ['/bin/sh', '-c', script], cwd: folder, graceMs: 200 },
        backoff: { minMs: 5, maxMs: 20 },
        ...options,
        onChange: (status) => void seen.push(status),
      });
      open.push(supervisor);
      return { agent, own, supervisor, seen, states: () => seen.map(({ state }) => state) };
    },
    async instancesOf(agent) {
      const { instances } = await client.call('agents.instances', { agent_id: agent, all: true });
      return [...instances];
    },
    linesIn(name) {
      const path = join(folder, name);
      return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
    },
    async settle() {
      await Promise.all(open.splice(0).map((one) => one.stop()));
    },
    async close() {
      await Promise.all([client.close(), ...clients.map((one) => one.close())]);
      await hub.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Lets other things happen before the next look. */
export function tick<T>(value: T): Promise<T> {
  return new Promise((resolve) => setImmediate(() => resolve(value)));
}

export const comesTo = (supervisor: Supervisor, state: string): Promise<string> =>
  until(
    `it is ${state}`,
    async () => tick<string>(supervisor.state),
    (now) => now === state,
  );

export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

export const gone = (pid: number): Promise<boolean> =>
  until(
    `process ${pid} is gone`,
    async () => tick(isAlive(pid)),
    (alive) => !alive,
  );

export const SLEEPS = 'echo ready; exec sleep 1000';
