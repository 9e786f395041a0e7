/**
 * Streams from two workers at once, and checks itself: run it in a clone with
 * `node_modules/.bin/node examples/sdk/two-streams.ts`. It prints the pieces as they come, and ends
 * with 1 if a text is not whole, or if one worker waited for the other.
 */
import { fileURLToPath } from 'node:url';
// In a project of your own: from 'synod/sdk'.
import { StdioBus } from '../../src/bus/sdk/index.ts';

const synod = fileURLToPath(new URL('../../bin/synod.js', import.meta.url));
const worker = { command: process.execPath, args: [synod, 'worker', 'stream-echo'], instances: 1 };

await using bus = new StdioBus({
  config: {
    pools: [
      { id: 'left', ...worker },
      { id: 'right', ...worker },
    ],
  },
});
await bus.start();

const texts = { left: 'The left hand plays the bass.', right: 'The right hand plays the tune.' };
const order: string[] = [];

// A program takes a moment to start: only when both are there is "at once" a fair question.
const pools = ['left', 'right'] as const;
await Promise.all(pools.map((pool) => bus.request('session/prompt', { text: '?' }, { pool })));

async function listen(pool: 'left' | 'right'): Promise<string> {
  const params = { text: texts[pool], chunks: 6, delayMs: 50 };
  let heard = '';
  for await (const event of bus.stream('session/prompt', params, { pool })) {
    if (event.type === 'chunk') {
      heard += event.text;
      process.stdout.write(`${pool}: ${event.text}\n`);
    }
    order.push(pool);
  }
  return heard;
}

const [left, right] = await Promise.all([listen('left'), listen('right')]);

const isWhole = left === texts.left && right === texts.right;
const first = order.slice(0, order.length / 2);
const isTogether = first.includes('left') && first.includes('right');
process.stdout.write(isWhole && isTogether ? 'both at once, both whole\n' : 'something is wrong\n');
process.exitCode = isWhole && isTogether ? 0 : 1;
