/**
 * A way to the hub that can be cut: a TCP relay that breaks every connection when
 * told, without a word to either side, and lets new ones through.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy {
  readonly url: string;
  /** Breaks whatever is connected now. */
  cut(): void;
  /** Points new connections elsewhere. */
  aim(url: string): void;
  close(): Promise<void>;
}

export async function openCuttingProxy(url: string): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  let target = new URL(url);
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    aim(next) {
      target = new URL(next);
    },
    async close() {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}
