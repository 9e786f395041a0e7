/**
 * The disk adapters under a real kill -9, a real file size limit and a directory nobody may write to.
 *
 * Each test runs the log in a process of its own, because that is what dies.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, test } from 'vitest';
import { openFileLog } from './file.ts';
import type { Log } from './log.ts';
import { openSqliteLog } from './sqlite.ts';
import { verifyLog } from './verify.ts';

const root = mkdtempSync(join(tmpdir(), 'synod-crash-'));
chmodSync(root, 0o755);
afterAll(() => rmSync(root, { recursive: true }));

const adapters = [
  {
    name: 'file',
    place: 'log',
    module: import.meta.resolve('./file.ts'),
    call: 'openFileLog',
    open: (path: string): Promise<Log> => openFileLog(path),
  },
  {
    name: 'sqlite',
    place: 'log.sqlite',
    module: import.meta.resolve('./sqlite.ts'),
    call: 'openSqliteLog',
    open: (path: string): Promise<Log> => openSqliteLog(path),
  },
];

/** Runs a script that has `open(path)` and `say(value)` at hand; `limitBlocks` is a limit on file size in 1 KiB blocks. */
function run(
  adapter: (typeof adapters)[number],
  script: string,
  limitBlocks = 'unlimited',
): ChildProcess {
  const code = `import { ${adapter.call} as open } from '${adapter.module}';
    import { writeSync } from 'node:fs';
    const say = (value) => writeSync(1, JSON.stringify(value) + '\\n');
    ${script}`;
  const shell = `ulimit -f ${limitBlocks}; exec "$0" "$@"`;
  const args = ['-c', shell, process.execPath, '--input-type=module', '--no-warnings', '-e', code];
  return spawn('bash', args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function said(child: ChildProcess, until: (value: unknown) => boolean): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const value = parse(line);
    if (value === undefined) break;
    values.push(value);
    if (until(value)) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return values;
}

/** The line that a kill cut short acknowledges nothing. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

describe.each(adapters)('$name', (adapter) => {
  test('[G3] every append that was acknowledged survives kill -9, several times over', async () => {
    const path = join(mkdtempSync(join(root, 'case-')), adapter.place);
    let acknowledged = 0;
    for (let round = 1; round <= 3; round++) {
      const child = run(
        adapter,
        `const log = await open(${JSON.stringify(path)});
         for (;;) {
           const from = log.length;
           await log.append(from, Array.from({ length: 1 + (from % 7) }, (_, i) => 'entry ' + (from + i)));
           say(log.length);
         }`,
      );
      const wanted = acknowledged + 200 * round;
      const lengths = (await said(child, (length) => Number(length) > wanted)) as number[];
      expect(child.signalCode).toBe('SIGKILL');
      acknowledged = lengths.at(-1) ?? 0;
      expect(acknowledged).toBeGreaterThan(wanted);
      const log = await adapter.open(path);
      expect(log.length).toBeGreaterThanOrEqual(acknowledged);
      expect(await verifyLog(log)).toMatchObject({ ok: true, length: log.length });
      const positions = Array.from({ length: log.length }, (_, position) => position);
      expect(await log.at(positions)).toEqual(positions.map((position) => `entry ${position}`));
      acknowledged = log.length;
      await log.close();
    }
  });

  test('[G9] an append that finds no room throws, leaves the length, and works again with room', async () => {
    const path = join(mkdtempSync(join(root, 'case-')), adapter.place);
    const child = run(
      adapter,
      `const log = await open(${JSON.stringify(path)});
       const large = 'x'.repeat(40_000);
       let failed = 0;
       for (let turn = 0; turn < 40 && failed < 3; turn++) {
         const before = [log.length, log.head].join();
         try {
           await log.append(log.length, [large, 'tail ' + turn]);
         } catch (error) {
           failed++;
           say({ code: error.code, message: error.message, kept: [log.length, log.head].join() === before });
         }
       }
       let verified = 0;
       for await (const chunk of log.read(0)) verified += chunk.entries.length;
       await log.close();
       say({ length: log.length, verified });`,
      '512',
    );
    const values = await said(child, () => false);
    const unavailable = {
      code: 'log.unavailable',
      message: expect.stringMatching(/log.*(limit|disk)/),
      kept: true,
    };
    const [first, second, third, last] = values as [unknown, unknown, unknown, { length: number }];
    expect([first, second, third]).toEqual([unavailable, unavailable, unavailable]);
    expect(last.length).toBeGreaterThan(4);
    expect(last).toEqual({ length: last.length, verified: last.length });
    const log = await adapter.open(path);
    expect(log.length).toBe(last.length);
    expect(await verifyLog(log)).toMatchObject({ ok: true });
    expect(await log.append(log.length, ['room'])).toEqual({ length: last.length + 1 });
    await log.close();
  });

  test('a directory that may not be written to is unavailable, by name, and stays as it is', async () => {
    const dir = mkdtempSync(join(root, 'case-'));
    const path = join(dir, adapter.place);
    const log = await adapter.open(path);
    await log.append(0, ['a']);
    await log.close();
    const closed = join(dir, 'closed');
    mkdirSync(closed, { mode: 0o500 });
    const nobody = 65_534;
    const isRoot = process.getuid?.() === 0;
    for (const name of [dir, closed]) if (isRoot) chownSync(name, nobody, nobody);
    const child = run(
      adapter,
      `if (process.getuid() === 0) process.setuid(${nobody});
       await open(${JSON.stringify(join(closed, adapter.place))}).catch((error) => say({ code: error.code, message: error.message }));`,
    );
    expect(await said(child, () => false)).toEqual([
      { code: 'log.unavailable', message: expect.stringContaining(closed) },
    ]);
    expect(readdirSync(closed)).toEqual([]);
  });
});
