/**
 * Runs of a workflow under faults: two executors start runs and take them at a server by chance, record the steps one after the
 * other, now and then for longer than their lease, and end them. Whoever is overtaken, or is told nothing, lets the run go: who
 * takes it next goes by its journal. Last, the journals are read from every server.
 */
import type { Chance } from '../../src/testing/chance.ts';
import type { Json } from '../e2e/running-hub.ts';
import { OWNER } from './ask.ts';
import { RUN_STEPS } from './history.ts';
import { createPerformer } from './perform.ts';
import type { Reader } from './readers.ts';
import type { Stage } from './stage.ts';

const TRIES_MAX = 5;
const FINISH_MS = 40_000;
const ASK_MS = 15_000;

export function startExecutor(name: string, chance: Chance, stage: Stage): Reader {
  const { recorder, things, runs } = stage;
  const performer = createPerformer(name, chance, stage);
  const { record } = performer;

  async function start(): Promise<void> {
    const id = `${things.workflow}.${name}.${performer.count}`;
    const asked = { operation: 'workflows.start', input: { name: things.workflow, id } };
    const { outcome } = await record({ ...asked, as: OWNER, isRepeated: true }, () => ({
      ...{ op: 'start', run: id },
    }));
    if (outcome !== 'fail') runs.push(id);
  }

  async function take(): Promise<void> {
    const server = chance.pick(stage.servers);
    const workflows = [{ name: things.workflow }];
    const input = { workflows, executor: name, limit: 1, lease_ms: stage.leaseMs, wait_ms: 200 };
    const from = recorder.now();
    const reply = await stage.ask(server, OWNER, 'workflows.take', input, ASK_MS);
    const [taken] = reply.kind === 'done' ? reply.body.runs : [];
    if (taken === undefined) return;
    const { epoch, run, journal } = taken;
    recorder.record(name, server.name, { op: 'hold', run: run.id, epoch }, 'ok', from);
    if (chance.isLikely(0.1)) await stage.pause(1.5 * stage.leaseMs);
    await execute(run.id, epoch, new Set(journal.map((one: Json) => one.step)));
  }

  async function execute(run: string, epoch: number, done: ReadonlySet<string>): Promise<void> {
    for (const step of RUN_STEPS) {
      if (done.has(step)) continue;
      const value = `${name}.${performer.count}`;
      const isLast = step === RUN_STEPS.at(-1);
      const entries = [
        { kind: 'completed', step, result: value },
        ...(isLast ? [{ kind: 'ended', state: 'completed' }] : []),
      ];
      const input = { id: run, epoch, entries, lease_ms: stage.leaseMs };
      const asked = { operation: 'workflows.record', input, as: OWNER, isRepeated: false };
      let isKnown = false;
      for (let tries = 0; tries < TRIES_MAX && !isKnown; tries++) {
        const act = { op: 'step', run, epoch, step, value } as const;
        const { outcome, isSilent } = await record(asked, () => act);
        // Refused, or nobody knows: another goes on, by what the journal says.
        if (outcome !== 'ok' && !isSilent) return;
        isKnown = outcome === 'ok';
      }
      if (!isKnown) return;
      await stage.pause(chance.int(5, 80));
    }
  }

  const running = (async () => {
    while (!stage.isOver) {
      if (chance.isLikely(0.5)) await start();
      await take();
      await stage.pause(chance.int(20, 200));
    }
  })();
  return {
    async finish() {
      await running;
      const stopAt = performance.now() + FINISH_MS;
      while (performance.now() < stopAt && (await openRuns(stage)) > 0) await take();
    },
  };
}

/** Those that are not over, as one server tells it. */
async function openRuns({ ask, servers, things }: Stage): Promise<number> {
  const [server] = servers;
  if (server === undefined) return 0;
  const input = { name: things.workflow, limit: 1 };
  const reply = await ask(server, OWNER, 'workflows.list', input, ASK_MS);
  return reply.kind === 'done' ? reply.body.runs.length : 1;
}

/** Reads the journal of every run from every server, when whoever executes them has finished. */
export async function auditRuns({ recorder, servers, runs, ask }: Stage): Promise<void> {
  for (const server of servers) {
    for (const run of runs) {
      const from = recorder.now();
      const [got, listed] = await Promise.all(
        ['workflows.get', 'workflows.steps'].map((operation) =>
          ask(server, OWNER, operation, { id: run }, ASK_MS),
        ),
      );
      if (got?.kind === 'refused' && got.reason === 'workflow.not-found') {
        const act = { op: 'journal', run, state: 'not there', steps: [] } as const;
        recorder.record('auditor', server.name, act, 'ok', from);
      }
      if (got?.kind !== 'done' || listed?.kind !== 'done') continue;
      const steps = listed.body.steps.map(({ step, result }: Json) => ({
        ...{ step, value: result },
      }));
      const act = { op: 'journal', run, state: got.body.state, steps } as const;
      recorder.record('auditor', server.name, act, 'ok', from);
    }
  }
}
