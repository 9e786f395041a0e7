/** A run of a workflow as its executor records it, for the page to draw: some of it side by side, one step that waits. */
import type { Json, RunningHub } from '../e2e/running-hub.ts';

export interface ToldRun {
  readonly id: string;
  /** Records as the executor that holds it. */
  record(...entries: object[]): Promise<Json>;
}

export async function startRun(
  { ask }: RunningHub,
  name: string,
  id: string,
  input: unknown = {},
): Promise<ToldRun> {
  await ask('builder', 'workflows_start', { name, id, input });
  const { runs } = await ask('builder', 'workflows_take', {
    ...{ workflows: [{ name }], executor: 'page-story', limit: 1, lease_ms: 60_000 },
  });
  const { epoch } = runs[0];
  return {
    id,
    record: (...entries) => ask('builder', 'workflows_record', { id, epoch, entries }),
  };
}

/** `land`: under way, with a gate that somebody must answer; `nightly`: over; `import`: it failed. */
export async function tellRuns(hub: RunningHub): Promise<ToldRun> {
  const nightly = await startRun(hub, 'nightly', 'nightly-14');
  await nightly.record({ kind: 'completed', step: 'scan', result: { files: 412 } });
  await nightly.record({ kind: 'ended', state: 'completed', result: { reported: true } });
  const broken = await startRun(hub, 'import', 'import-7');
  await broken.record({ kind: 'completed', step: 'fetch', result: 12 });
  const error = { name: 'BadRow', message: 'row 812 has no date', terminal: true };
  await broken.record({ kind: 'failed', step: 'parse', error });
  await broken.record({ kind: 'ended', state: 'failed', error });
  const land = await startRun(hub, 'land', 'land-topic-lexer', { branch: 'topic/lexer' });
  await land.record({ kind: 'completed', step: 'rebase', result: { commits: 3 } });
  const sides = ['lint', 'types', 'unit', 'browser'];
  await land.record(...sides.map((step) => ({ kind: 'started', step })));
  await land.record({ kind: 'completed', step: 'lint' }, { kind: 'completed', step: 'types' });
  await land.record({
    ...{ kind: 'failed', step: 'browser', retry_ms: 0 },
    error: { name: 'Timeout', message: 'no answer within 30 s' },
  });
  await land.record({ kind: 'started', step: 'browser' });
  await land.record({ kind: 'completed', step: 'unit', result: { passed: 412 } });
  await land.record({ kind: 'completed', step: 'browser', result: { passed: 38 } });
  const { gate_id } = await hub.ask('builder', 'gates_ask', {
    ...{ action: 'land', subject: 'topic/lexer to main', tier: 2 },
  });
  await land.record({ kind: 'waiting', step: 'publish', step_kind: 'gate', on: { gate: gate_id } });
  return land;
}
