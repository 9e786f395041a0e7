/** What was not told is named at the end, with why: the title of a test that may be skipped says it. */
import type { Reporter, TestModule } from 'vitest/node';

/** More are left out by who asked for a few, and need no telling. */
const TOLD_MAX = 20;

export class TellSkipped implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap(({ children }) => [...children.allTests('skipped')]);
    if (skipped.length > TOLD_MAX) return;
    for (const { fullName } of skipped) process.stdout.write(`skipped: ${fullName}\n`);
  }
}
