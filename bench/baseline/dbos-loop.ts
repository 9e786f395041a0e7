/**
 * The same work on DBOS, over a PostgreSQL that is started for it: `dbos-loop.ts URL RUNS STEPS ONE`.
 * RUNS workflows of STEPS steps at once, then one workflow of ONE steps alone; one JSON line with steps a
 * second and the median of a step in milliseconds.
 */
import { DBOS } from '@dbos-inc/dbos-sdk';
import { percentiles } from '../percentiles.ts';

const [, , systemDatabaseUrl = '', runs = '10', steps = '10', one = '100'] = process.argv;

const takenMs: number[] = [];

const many = DBOS.registerWorkflow(
  async (count: number) => {
    for (let i = 0; i < count; i++) await DBOS.runStep(async () => i, { name: `s${i}` });
    return count;
  },
  { name: 'many' },
);
const alone = DBOS.registerWorkflow(
  async (count: number) => {
    for (let i = 0; i < count; i++) {
      const from = performance.now();
      await DBOS.runStep(async () => i, { name: `s${i}` });
      takenMs.push(performance.now() - from);
    }
  },
  { name: 'alone' },
);

DBOS.setConfig({
  ...{ name: 'bench', systemDatabaseUrl, runAdminServer: false, logLevel: 'error' },
  systemDatabasePoolSize: 20,
});
await DBOS.launch();
// The first runs make tables' plans and connections.
await (await DBOS.startWorkflow(many)(50)).getResult();
const from = performance.now();
const handles = await Promise.all(
  Array.from({ length: Number(runs) }, () => DBOS.startWorkflow(many)(Number(steps))),
);
await Promise.all(handles.map((handle) => handle.getResult()));
const perSecond = (1_000 * Number(runs) * Number(steps)) / (performance.now() - from);
await (await DBOS.startWorkflow(alone)(Number(one))).getResult();
process.stdout.write(`${JSON.stringify({ perSecond, p50: percentiles(takenMs).p50 })}\n`);
await DBOS.shutdown();
process.exit(0);
