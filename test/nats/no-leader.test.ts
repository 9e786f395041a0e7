/** Too few nodes of NATS for JetStream to have a leader: a store does not open, says what to do, and opens when they are back. */
import { afterAll, expect, test } from 'vitest';
import { openLog } from '../../src/server/run/open-log.ts';
import { until } from '../e2e/deadline.ts';
import { type NatsNode, NO_NATS, openNatsCluster, requireLeader } from './server.ts';

let nodes: NatsNode[] = [];
afterAll(async () => {
  for (const node of nodes) await node.close();
});

test.skipIf(NO_NATS !== null)(
  `[NL4] one node of three opens nothing and says why; it opens when the others are back ${NO_NATS ?? ''}`,
  async () => {
    nodes = await openNatsCluster(3);
    const [first, second, third] = nodes as [NatsNode, NatsNode, NatsNode];
    const store = `nats://127.0.0.1:${first.port}/synod?durability=relaxed`;
    await (await openLog(store)).close();
    await second.kill();
    await third.kill();
    await expect(openLog(store)).rejects.toMatchObject({
      code: 'log.unavailable',
      message: expect.stringMatching(
        /no answer came in time .* so many of its servers that JetStream/,
      ),
    });
    await Promise.all([second.start(), third.start()]);
    await requireLeader(nodes);
    // A stream chooses its own leader a moment later.
    const again = await until('it opens', () => openLog(store).catch(() => null), Boolean, 60_000);
    await again?.close();
  },
  120_000,
);
