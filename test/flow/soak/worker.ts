/**
 * A process that is killed again and again: `worker.ts STORE EFFECTS ROUND`. It executes runs of a few steps on a
 * hub inside itself, and writes down every effect in a file as it has it. In some rounds its code is another:
 * a step more at the end, a step gone, a step renamed.
 */
import { appendFileSync } from 'node:fs';
import { openFlow, workflow } from '../../../src/flow/index.ts';

const [, , store = '', effects = '', round = '0'] = process.argv;

function effect(key: string, what: string): string {
  appendFileSync(effects, `${JSON.stringify({ key, what, round: Number(round) })}\n`);
  return what;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs that end well, whatever dies: sequence, parallel steps, a race, a sleep and a retry. */
const steady = workflow('steady', async (ctx, input: { n: number }) => {
  await ctx.step('first', ({ key }) => effect(key, 'first'));
  const parts = await Promise.all(
    ['a', 'b', 'c'].map((part) =>
      ctx.step(
        'part',
        async ({ key, attempt }) => {
          await pause((input.n % 5) + 1);
          if (part === 'b' && attempt === 1) throw new Error('once');
          return effect(key, part);
        },
        { key: part, retry: { attempts: 3, delayMs: 5 } },
      ),
    ),
  );
  const won = await Promise.race([
    ctx.step('slow', async ({ key }) => {
      await pause(4);
      return effect(key, 'slow');
    }),
    ctx.step('quick', ({ key }) => effect(key, 'quick')),
  ]);
  await ctx.sleep('nap', 10);
  await ctx.step(`after-${won}`, ({ key }) => effect(key, 'after'));
  return `${input.n} ${parts.join('')} ${won}`;
});

/** Runs that fail when all is done, and are undone. */
const undone = workflow('undone', async (ctx, input: { n: number }) => {
  for (const name of ['one', 'two', 'three']) {
    await ctx.step(name, ({ key }) => effect(key, name), {
      compensate: async (_, { key }) => {
        effect(key, `undo ${name}`);
        await pause(20);
      },
    });
    await ctx.sleep(`nap-${name}`, 5);
  }
  throw new Error(`enough of ${input.n}`);
});

/** Of odd rounds the step has another name. It sleeps longer than a round: between two it is stuck, and says so. */
const changing = workflow('changing', async (ctx) => {
  const name = Number(round) % 2 === 0 ? 'old-name' : 'new-name';
  await ctx.step(name, ({ key }) => effect(key, name));
  await ctx.sleep('between', 900);
  return ctx.step('last', ({ key }) => effect(key, 'last'));
});

const flow = await openFlow({
  ...{ store, workflows: [steady, undone, changing], leaseMs: 1_000, replayGraceMs: 20 },
  ...{ lingerMs: 2, executor: `round-${round}` },
});
process.stdout.write('ready\n');
process.stdin.setEncoding('utf8').on('data', (text: string) => {
  for (const line of text.split('\n')) {
    if (line === 'stop') void flow.close().then(() => process.exit(0));
    else if (line !== '') {
      const { kind, id, n } = JSON.parse(line) as { kind: string; id: string; n: number };
      const all = { steady, undone, changing };
      void flow
        .start(all[kind as keyof typeof all], { n }, { id })
        .then(() => process.stdout.write(`started ${id}\n`));
    }
  }
});
