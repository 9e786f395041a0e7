/**
 * `npm run chaos -- --seconds N [--seed S] [--spaces N] [--faults a,b] [--from REF] [--break WAY] [--keep]`: a run under faults, judged. A
 * history that breaks a promise is kept in a file, and told with its seed. With `--from` the servers begin with the program of another commit,
 * and are upgraded one by one on the way.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openCheckout } from '../checkout.ts';
import { NO_NATS } from '../nats/server.ts';
import { bundleProgram } from '../tested-program.ts';
import { FAULT_NAMES, UPGRADE } from './faults.ts';
import { LIES, type Lie, lieAbout } from './liar.ts';
import { canMount } from './nodes.ts';
import { summaryOf } from './summary.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    faults: { type: 'string' },
    actors: { type: 'string', default: '8' },
    spaces: { type: 'string', default: '2' },
    from: { type: 'string' },
    break: { type: 'string' },
    out: { type: 'string', default: 'chaos-histories' },
    keep: { type: 'boolean', default: false },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);

function fail(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(2);
}

if (NO_NATS !== null) fail(NO_NATS);
const seconds = Number(values.seconds);
const actors = Number(values.actors);
const spaces = Number(values.spaces);
const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
if (!(seconds > 0) || !(actors > 0) || !(spaces > 0) || !Number.isSafeInteger(seed))
  fail('--seconds, --actors and --spaces are numbers above 0, --seed is a whole number');
const wanted = values.faults?.split(',').filter((name) => name !== '') ?? FAULT_NAMES;
const strange = wanted.filter((name) => !FAULT_NAMES.includes(name));
if (strange.length > 0)
  fail(`${strange.join(', ')}: no such fault; there are ${FAULT_NAMES.join(', ')}`);
const way = values.break;
if (way !== undefined && !(LIES as readonly string[]).includes(way))
  fail(`${way}: no such way to break it; there are ${LIES.join(', ')}`);
const hasDisks = wanted.includes('disk') && canMount();
if (wanted.includes('disk') && !hasDisks)
  say('no disk of their own can be mounted here: the fault disk is left out');
const faults = wanted.filter((name) => name !== 'disk' || hasDisks);
if (values.from !== undefined) faults.push(UPGRADE);

say(`seed ${seed}, ${seconds} s, ${actors} agents, ${spaces} spaces, faults: ${faults.join(', ')}`);
// Before what starts it is loaded: bundled it is up in half the time, and edits meanwhile do not reach it.
process.env.SYNOD_TESTED_BIN ??= await bundleProgram();
const { openTheatre, runChaos } = await import('./run.ts');
const before = values.from === undefined ? null : await openCheckout(values.from);
const oldBin = before === null ? undefined : join(before.root, 'bin/synod.js');
const theatre = await openTheatre(hasDisks, say, oldBin);
async function close(): Promise<void> {
  await theatre.close();
  await before?.[Symbol.asyncDispose]();
}
const run = await runChaos(theatre, {
  ...{ seed, seconds, actors, spaces, faults, tell: say },
  ...(way !== undefined && { ask: (ask, chance) => lieAbout(way as Lie, ask, chance, () => {}) }),
}).catch(async (cause: unknown) => {
  await close();
  throw cause;
});
await close();
for (const line of summaryOf(run)) say(line);
const file = join(values.out, `seed-${seed}.json`);
if (run.broken.length > 0 || values.keep) {
  mkdirSync(values.out, { recursive: true });
  writeFileSync(file, JSON.stringify({ ...run.history, broken: run.broken, logs: run.logs }));
}
if (run.broken.length > 0) {
  say(`BROKEN with seed ${seed} (${run.broken.length} sentences, history in ${file}):`);
  for (const sentence of run.broken.slice(0, 5)) say(`  ${sentence}`);
}
process.exit(run.broken.length > 0 ? 1 : 0);
