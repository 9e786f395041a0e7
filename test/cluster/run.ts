/**
 * Three servers on three NATS nodes, on this machine, for trying out: `npm run cluster`. It says where they are and
 * what to try, and takes everything away again when it is stopped.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HubProcess, isRunning, startHubProcess } from '../e2e/hub-process.ts';
import { type NatsNode, NO_NATS, openNatsCluster } from '../nats/server.ts';

const NAMES = ['one', 'two', 'three'];

async function main(): Promise<void> {
  if (NO_NATS !== null) throw new Error(NO_NATS);
  // From the first moment on: whatever is there when it is stopped is taken away.
  const stopped = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
  });
  const dir = mkdtempSync(join(tmpdir(), 'synod-cluster-'));
  const nodes = await openNatsCluster(NAMES.length);
  const servers: HubProcess[] = [];
  try {
    const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const store = `nats://${hosts}/synod`;
    for (const name of NAMES) {
      const args = ['--store', store, '--server-name', name];
      const started = await startHubProcess(join(dir, name), { args });
      if (!isRunning(started)) throw new Error(started.stderr);
      servers.push(started);
    }
    process.stdout.write(`${told(store, dir, servers, nodes).join('\n')}\n`);
    await stopped;
  } finally {
    await Promise.all(servers.map((server) => server.kill()));
    await Promise.all(nodes.map((node) => node.close()));
    rmSync(dir, { recursive: true, force: true });
  }
}

function told(
  store: string,
  dir: string,
  servers: readonly HubProcess[],
  nodes: readonly NatsNode[],
): string[] {
  const at = (name: string): string => `synod --dir ${join(dir, name)}`;
  return [
    `three servers share ${store}`,
    ...servers.map(({ url, child }, i) => {
      const name = NAMES[i] as string;
      return `  ${name.padEnd(5)}  ${url}  process ${child.pid}  ${at(name)} status`;
    }),
    ...nodes.map(({ port, pid }) => `  a node of NATS at 127.0.0.1:${port}  process ${pid}`),
    'an agent may be at any of them:',
    `  ${at('one')} subscribe team/plan --as ada`,
    `  ${at('two')} send team/plan "Who takes the parser?" --as bob`,
    `  ${at('one')} recv --as ada`,
    `  ${at('three')} cluster status`,
    'kill any of these processes, and the others go on; Ctrl-C stops all of it',
  ];
}

await main();
