/**
 * `npm run bench`: the hub beside its baselines, on this machine, in one run.
 *
 *   --only NAME      one scenario (may be repeated)     --rounds N        turns each side takes
 *   --quick          a smoke run of a few seconds       --baseline-only   leave the hub out
 *   --out FILE       where the JSON goes                --window N        sends in flight a sender
 *   --messages N     in a log that is searched, or has threads
 *   --peers          the rows beside the originals      --compare REF     beside another commit
 *   --docs           also puts the tables of the scenarios that were run into docs/BENCHMARKS.md
 *
 * The table goes to stdout, progress to stderr, JSON to bench/results/latest.json. A scenario that
 * fails is reported, the others still run, and the exit code is 1. A goal that is missed is not a
 * failure: figures depend on the machine.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, release, totalmem, type } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { compare } from './compare.ts';
import { fillTables, type Machine, type Report, toMarkdown, toPeerMarkdown } from './report.ts';
import type { Measure, Scenario, Setting } from './scenario.ts';
import { bus, busPeer } from './scenarios/bus.ts';
import { board, claims, connectStorm, stoppedReader } from './scenarios/claims.ts';
import { cluster } from './scenarios/cluster.ts';
import { clusterSize } from './scenarios/cluster-size.ts';
import { commands } from './scenarios/commands.ts';
import { failover } from './scenarios/failover.ts';
import { fanOut10, fanOut100, sends } from './scenarios/flood.ts';
import { hostile } from './scenarios/hostile.ts';
import { httpSend } from './scenarios/http-send.ts';
import { latency, readMachineCost } from './scenarios/latency.ts';
import { memoryConnection, memoryMessage } from './scenarios/memory.ts';
import { page } from './scenarios/page.ts';
import { recv, recvWide, replay } from './scenarios/reads.ts';
import { search, searchSends } from './scenarios/search.ts';
import { startEmpty, startLong } from './scenarios/start.ts';
import { wireChat, wireClaims, wireConnects } from './scenarios/synapse.ts';
import { spans } from './scenarios/telemetry.ts';
import { threads } from './scenarios/threads.ts';
import { turnIdle, turnRate, turnSends, turnStart } from './scenarios/turns.ts';
import { workflows } from './scenarios/workflows.ts';
import { buildHub } from './server.ts';

const scenarios: readonly Scenario[] = [
  sends,
  fanOut10,
  fanOut100,
  latency,
  recv,
  recvWide,
  replay,
  startEmpty,
  startLong,
  memoryConnection,
  memoryMessage,
  claims,
  board,
  connectStorm,
  stoppedReader,
  search,
  searchSends,
  threads,
  bus,
  wireChat,
  wireClaims,
  wireConnects,
  busPeer,
  httpSend,
  commands,
  hostile,
  turnStart,
  turnRate,
  turnIdle,
  turnSends,
  workflows,
  spans,
  page,
  cluster,
  clusterSize,
  failover,
];

const PAGE = join(import.meta.dirname, '../docs/BENCHMARKS.md');

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    rounds: { type: 'string' },
    window: { type: 'string', default: '256' },
    messages: { type: 'string' },
    peers: { type: 'boolean', default: false },
    compare: { type: 'string' },
    quick: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
    'baseline-only': { type: 'boolean', default: false },
    out: { type: 'string', default: join(import.meta.dirname, 'results/latest.json') },
  },
});

async function readMachine(setting: Setting): Promise<Machine> {
  const { fsync, loopback } = await readMachineCost(setting.isQuick ? 200 : 1_000);
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    fsyncMs: fsync.p50,
    loopbackMs: loopback.p50,
    hub: setting.hasHub ? 'built' : 'absent',
    rounds: setting.rounds,
    isQuick: setting.isQuick,
  };
}

async function main(): Promise<void> {
  const unknown = flags.only?.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) {
    const known = scenarios.map((scenario) => scenario.name).join(', ');
    process.stderr.write(`no scenario is called ${unknown}; there are ${known}\n`);
    process.exitCode = 2;
    return;
  }
  const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 5));
  if (flags.compare !== undefined) {
    const peers = scenarios.filter(({ isPeer }) => isPeer).map(({ name }) => name);
    const only = flags.only ?? (flags.peers ? peers : ['sends']);
    return await compare({ ref: flags.compare, only, rounds, isQuick: flags.quick });
  }
  const setting: Setting = {
    isQuick: flags.quick,
    rounds,
    window: Number(flags.window),
    measureMs: flags.quick ? 300 : 2_000,
    hasHub: !flags['baseline-only'],
    ...(flags.messages !== undefined && { messages: Number(flags.messages) }),
  };
  if (setting.hasHub) buildHub();
  const machine = await readMachine(setting);
  const measures: (Measure & { scenario: string })[] = [];
  for (const scenario of scenarios) {
    if (!(flags.only?.includes(scenario.name) ?? !scenario.isAskedFor)) continue;
    if (flags.peers && scenario.isPeer !== true) continue;
    const from = performance.now();
    try {
      const found = await scenario.run(setting);
      measures.push(...found.map((measure) => ({ scenario: scenario.name, ...measure })));
    } catch (error) {
      process.exitCode = 1;
      process.stderr.write(`${scenario.name} FAILED: ${(error as Error).stack}\n`);
    }
    process.stderr.write(`${scenario.name}: ${((performance.now() - from) / 1000).toFixed(1)} s\n`);
  }
  const report: Report = { at: new Date().toISOString(), machine, measures };
  await mkdir(dirname(flags.out), { recursive: true });
  await writeFile(flags.out, `${JSON.stringify(report, null, 2)}\n`);
  process.stdout.write(flags.peers ? toPeerMarkdown(report) : toMarkdown(report));
  if (!flags.docs) return;
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--', 'src', 'bin', 'bench') !== '';
  const commit = `${git('rev-parse', '--short=8', 'HEAD')}${isChanged ? ' and changes' : ''}`;
  await writeFile(PAGE, fillTables(await readFile(PAGE, 'utf8'), report, commit));
}

await main();
