/** Workflows whose journal lies in JetStream, or in a file: the same, and nothing is asked of the program. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openFlow, workflow } from '../../src/flow/index.ts';
import { createFolder } from '../flow/kit.ts';
import { NO_NATS, openNatsNode } from './server.ts';

const count = workflow('count', async (ctx, input: { by: string }) => {
  const first = await ctx.step('first', () => `first by ${input.by}`);
  const said = await ctx.signal<string>('go');
  return ctx.step('last', () => `${first}, ${said}`);
});

/** Begun in one flow, ended in another. */
async function tryOn(store: string): Promise<void> {
  const first = await openFlow({ store, workflows: [count], lingerMs: 0 });
  const run = await first.start(count, { by: store.slice(0, 4) }, { id: 'over-a-restart' });
  await expect
    .poll(async () => (await run.state()).suspended, { timeout: 20_000, interval: 50 })
    .toBe(true);
  await first.close();
  await using second = await openFlow({ store, workflows: [count] });
  const again = second.run('over-a-restart');
  await again.signal('go', 'gone');
  expect(await again.result({ timeoutMs: 20_000 })).toBe(`first by ${store.slice(0, 4)}, gone`);
}

test('[FW1] on a SQLite file, and on a folder of files', async () => {
  const dir = await createFolder();
  await tryOn(`sqlite://${join(dir, 'flow.sqlite')}`);
  await tryOn(`file://${join(dir, 'flow')}`);
});

test.skipIf(NO_NATS !== null)(`[FW1] on JetStream ${NO_NATS ?? ''}`, async () => {
  const node = await openNatsNode();
  onTestFinished(() => node.close());
  await tryOn(`nats://127.0.0.1:${node.port}/flow?replicas=1&durability=relaxed`);
});
