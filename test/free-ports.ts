/** Ports for programs that must be told theirs before they listen. */
import { createServer } from 'node:net';

/** Below those that the system gives to whoever connects: nothing takes one of them between here and who listens. */
const PORTS = { from: 10_000, count: 22_000 };

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port as number;
}

export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = PORTS.from + Math.floor(Math.random() * PORTS.count);
    if (!ports.has(port) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
