/**
 * A part of `npm run test:cluster`, so that every run of the tests has it: claims, the race for one of them, what turns
 * say, and stories of SOX, each as it is, against three servers on three NATS nodes.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { NO_NATS } from './server.ts';

const FILES = [
  'src/server/desk/handlers/claims.test.ts',
  'test/e2e/work-race.test.ts',
  'test/e2e/turns-run.test.ts',
  'test/conformance/sox/sox.test.ts',
];
/** Of SOX those that share their servers: sending and receiving, order, subscriptions, threads. */
const NAMES = String.raw`^.*(claims over HTTP|a race of 64|\[RU1[01]\] |SOX-(4[89]|5[0-9]|6[0-3])\] .* over http)`;

test.skipIf(NO_NATS !== null)(
  `[SQ1] suites of one server pass at three ${NO_NATS ?? ''}`,
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'synod-suites-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const report = join(dir, 'report.json');
    const run = ['run', '--config', 'test/cluster/vitest.config.ts', ...FILES, '-t', NAMES];
    const how = ['--reporter=json', `--outputFile=${report}`];
    const told = await promisify(execFile)(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', ...run, ...how],
      // A run of its own: what this one knows of its workers is not for that one.
      { env: { ...process.env, VITEST: undefined, VITEST_POOL_ID: undefined } },
    ).catch((error: { stdout: string; stderr: string }) => error);
    const { testResults, numPassedTests } = JSON.parse(readFileSync(report, 'utf8'));
    const faults = testResults
      .flatMap(({ assertionResults }: Results) => assertionResults)
      .filter(({ status }: Result) => status === 'failed')
      .map(({ fullName, failureMessages }: Result) => `${fullName}: ${failureMessages[0]}`);
    expect(faults, told.stderr).toEqual([]);
    expect(numPassedTests).toBeGreaterThan(40);
  },
  400_000,
);

interface Results {
  readonly assertionResults: readonly Result[];
}

interface Result {
  readonly status: string;
  readonly fullName: string;
  readonly failureMessages: readonly string[];
}
