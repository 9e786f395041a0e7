/**
 * `npm run simulate -- --seeds N --from S --steps K`: as many seeds as you like; with
 * `--servers 3` of a cluster. A seed that fails is told with its last actions and
 * remembered in seeds.txt, or cluster-seeds.txt.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runSimulation } from '../../src/testing/index.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1000' },
    steps: { type: 'string', default: '400' },
    servers: { type: 'string' },
  },
});
const [seeds, from, steps] = [values.seeds, values.from, values.steps].map(Number) as [
  number,
  number,
  number,
];
const servers = values.servers === undefined ? {} : { servers: Number(values.servers) };
const remembered = new URL(
  values.servers === undefined ? './seeds.txt' : './cluster-seeds.txt',
  import.meta.url,
);
const known = new Set(readFileSync(remembered, 'utf8').split(/\s+/));
let failures = 0;
const started = performance.now();

for (let seed = from; seed < from + seeds; seed++) {
  try {
    await runSimulation({ seed, steps, flush: () => setImmediate(), ...servers });
  } catch (cause) {
    failures++;
    process.stderr.write(`${cause instanceof Error ? cause.message : cause}\n\n`);
    if (!known.has(String(seed))) appendFileSync(remembered, `${seed}\n`);
  }
}
const elapsedS = ((performance.now() - started) / 1000).toFixed(1);
process.stdout.write(`${seeds} seeds of ${steps} steps in ${elapsedS} s, ${failures} failed\n`);
process.exitCode = failures > 0 ? 1 : 0;
