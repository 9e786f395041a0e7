/**
 * The contract every runner keeps, whatever program does its work. A runner's own tests bring it in with
 * specs that answer, fail and hang; here is what must then be so.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunnerSpec } from '../../wire/operations/runner-spec.ts';
import { createJob } from './job.fixture.ts';
import { type Runner, TurnStopped } from './runner.ts';
import { parseTurnResult } from './turn-result.ts';

export interface RunnerCase<S extends RunnerSpec> {
  readonly name: string;
  open(): Promise<{
    readonly runner: Runner<S>;
    /** Answers the messages. */
    readonly good: S;
    /** Refused when it is configured, with this code; null where a spec that parses can always run. */
    readonly unusable: { readonly spec: S; readonly code: string } | null;
    /** Runs, and fails. */
    readonly failing: S;
    /** Never ends by itself; null where the runner cannot hang. */
    readonly hanging: S | null;
    close(): Promise<void>;
  }>;
}

export function runnerContract<S extends RunnerSpec>({ name, open }: RunnerCase<S>): void {
  describe(`the runner ${name}`, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    let cwd = '';
    beforeAll(async () => {
      cwd = realpathSync(mkdtempSync(join(tmpdir(), 'synod-runner-')));
      opened = await open();
    });
    afterAll(async () => {
      await opened.close();
      rmSync(cwd, { recursive: true, force: true });
    });

    test('[RU13] is of its kind, and a good spec can be used', async () => {
      expect(opened.runner.kind).toBe(opened.good.kind);
      expect(await opened.runner.check(opened.good)).toBeNull();
    });

    test('[RU13] what it cannot run is refused by field when it is configured', async () => {
      if (opened.unusable === null) return;
      const { spec, code } = opened.unusable;
      const refusal = await opened.runner.check(spec);
      expect(refusal?.refused).toBe(code);
      expect(typeof refusal?.detail?.field).toBe('string');
      expect(refusal?.message).toMatch(/\w+ .*\w/);
    });

    test('[RU13] a turn ends with a result that the hub can take, and says what it does', async () => {
      const { job, said } = createJob(cwd, opened.good);
      const result = await opened.runner.run(job);
      expect(result.outcome).toBe('done');
      expect(parseTurnResult(JSON.parse(JSON.stringify(result)), job.messages)).toMatchObject({
        outcome: 'done',
      });
      expect(said.length).toBeGreaterThan(0);
    });

    test('[RU13] a failure is an outcome with a note, never an exception', async () => {
      const { job } = createJob(cwd, opened.failing);
      const result = await opened.runner.run(job);
      expect(result.outcome).toBe('failed');
      expect(result.note).toMatch(/\w/);
    });

    test('[RU13] a turn that is stopped ends soon, as failed, with the reason', async () => {
      if (opened.hanging === null) return;
      const stop = new AbortController();
      const { job } = createJob(cwd, opened.hanging, { signal: stop.signal });
      const result = opened.runner.run(job);
      setTimeout(() => stop.abort(new TurnStopped('cancelled', 'ada cancelled it')), 50);
      expect(await result).toMatchObject({
        outcome: 'failed',
        note: expect.stringContaining('ada cancelled it'),
      });
    });

    test('[RU13] a turn that was stopped before it began does nothing', async () => {
      const signal = AbortSignal.abort(new TurnStopped('cancelled', 'ada cancelled it'));
      const { job, said } = createJob(cwd, opened.good, { signal });
      const result = await opened.runner.run(job);
      expect(result.outcome).toBe('failed');
      expect(result.replies ?? []).toEqual([]);
      expect(said).toEqual([]);
    });
  });
}
