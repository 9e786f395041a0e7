import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { drained } from './drained.ts';

test('[F3] waiting for a reader page by page leaves no listener behind', async () => {
  const served = Promise.withResolvers<number[]>();
  const server = createServer(async (_, response) => {
    const before = ['drain', 'close'].map((name) => response.listenerCount(name));
    for (let page = 0; page < 30; page++) {
      response.write('x'.repeat(1 << 20));
      await drained(response);
    }
    const after = ['drain', 'close'].map((name) => response.listenerCount(name));
    served.resolve(after.map((count, i) => count - (before[i] ?? 0)));
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  get({ port: (server.address() as AddressInfo).port }, (answer) => answer.resume());
  expect(await served.promise).toEqual([0, 0]);
  server.close();
});

test('[F3] a reader that goes away ends the wait', async () => {
  const waited = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    response.write('x'.repeat(8 << 20));
    drained(response).then(waited.resolve, waited.reject);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  get({ port: (server.address() as AddressInfo).port }, (answer) => answer.destroy());
  await waited.promise;
  server.close();
});
