/**
 * Three servers on three NATS nodes, on this machine, for trying out: `npm run cluster`. It says where they are and
 * what to try, and takes everything away again when it is stopped.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HubProcess, isRunning, startHubProcess } from '../e2e/hub-process.ts';
import { NO_NATS, openNatsCluster } from '../nats/server.ts';

const NAMES = ['one', 'two', 'three'];

async function main(): Promise<void> {
  if (NO_NATS !== null) throw new Error(NO_NATS);
  const dir = mkdtempSync(join(tmpdir(), 'synod-cluster-'));
  const nodes = await openNatsCluster(NAMES.length);
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const store = `nats://${hosts}/synod`;
  const servers: HubProcess[] = [];
  for (const name of NAMES) {
    const args = ['--store', store, '--server-name', name];
    const started = await startHubProcess(join(dir, name), { args });
    if (!isRunning(started)) throw new Error(started.stderr);
    servers.push(started);
  }
  const lines = [
    `three servers share ${store}`,
    ...servers.map(({ url, child }, i) => {
      const command = `synod --dir ${join(dir, NAMES[i] as string)} status`;
      return `  ${(NAMES[i] as string).padEnd(5)}  ${url}  process ${child.pid}  ${command}`;
    }),
    'kill any of them, or any nats-server, and the others go on; Ctrl-C stops all of it',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  await new Promise((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  await Promise.all(servers.map((server) => server.kill()));
  await Promise.all(nodes.map((node) => node.close()));
  rmSync(dir, { recursive: true, force: true });
}

await main();
