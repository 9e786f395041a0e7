/**
 * Goal: nothing of a turn's process is left alive, and nothing it prints grows memory.
 * Method: real processes that misbehave: they ignore signals, fork, leave their session, flood.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { ProcessEnd } from '../../bus/process/line-process.ts';
import { TurnStopped } from './runner.ts';
import { startTurnProcess } from './turn-process.ts';

const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'synod-turn-')));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

interface Run extends ProcessEnd {
  readonly lines: readonly string[];
  readonly transcript: readonly string[];
}

interface Options {
  readonly argv?: readonly string[];
  readonly signal?: AbortSignal;
  readonly graceMs?: number;
  readonly outputBytesMax?: number;
  onLine?(line: string): void;
}

async function run(script: string, options: Options = {}): Promise<Run> {
  const lines: string[] = [];
  const transcript: string[] = [];
  const { onLine, ...rest } = options;
  const process_ = startTurnProcess({
    argv: ['/bin/sh', '-c', script],
    cwd,
    env: { PATH: process.env.PATH ?? '' },
    signal: new AbortController().signal,
    transcript: { append: (text) => void transcript.push(text), hide() {} },
    onLine(line) {
      lines.push(line);
      onLine?.(line);
    },
    graceMs: 50,
    ...rest,
  });
  process_.endInput();
  return { ...(await process_.ended), lines, transcript };
}

/** Alive: there, and no zombie. */
function isAlive(pid: string): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

describe('a process of a turn', () => {
  test('[RU4] that cannot be started is a sentence, not an exception', async () => {
    const end = await run('', { argv: ['/no/such/program'] });
    expect(end.problem).toMatch(/could not be started: "\/no\/such\/program".*no such file/);
  });

  test('[RU4] gives its lines, its code and the last 50 lines of stderr', async () => {
    const end = await run(
      'echo one; echo two; i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo "e$i" >&2; done; exit 3',
    );
    expect(end).toMatchObject({
      problem: 'it exited with code 3',
      exitCode: 3,
      lines: ['one', 'two'],
    });
    expect(end.stderr).toHaveLength(50);
    expect(end.stderr[0]).toBe('e11');
    expect(end.stderr.at(-1)).toBe('e60');
  });

  test('[RU4] that ignores SIGTERM is killed when the turn is stopped', async () => {
    const stop = new AbortController();
    const end = await run(`trap '' TERM; echo ready; while :; do sleep 1; done`, {
      signal: stop.signal,
      onLine: () => stop.abort(new TurnStopped('timed_out', 'it took longer than 1 s')),
    });
    expect(end.problem).toBe('it took longer than 1 s; it did not end by itself and was killed');
    expect(end).toMatchObject({ isStopped: true, exitSignal: 'SIGKILL' });
  });

  test('[RU4] that ends without its grandchild takes it along', async () => {
    const end = await run('sleep 300 & echo $!; exit 0');
    expect(end.problem).toBeNull();
    expect(isAlive(end.lines[0] ?? '')).toBe(false);
  });

  test.runIf(process.platform === 'linux')(
    '[RU4] that forks a daemon out of its group and session takes it along',
    async () => {
      const end = await run(
        `mkfifo way; setsid sh -c 'trap "" TERM HUP; echo $$ > way; exec sleep 300' & read pid < way; echo $pid`,
      );
      expect(end.lines).toHaveLength(1);
      expect(isAlive(end.lines[0] ?? '')).toBe(false);
    },
  );

  test('[RU5] that prints without an end is ended at the bound', async () => {
    const before = process.memoryUsage().rss;
    let count = 0;
    const end = await run('yes | head -c 1000000000', {
      outputBytesMax: 4 * 1024 * 1024,
      onLine: () => void count++,
    });
    expect(end.problem).toMatch(/^it printed more than 1000000 lines/);
    expect(count).toBeLessThanOrEqual(1_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(500 * 1024 * 1024);
  });

  test('[RU5] that prints few long lines without an end is ended at the bound of bytes', async () => {
    const line = `head -c 100000 /dev/zero | tr '\\0' x; echo`;
    const end = await run(`while :; do ${line}; done`, { outputBytesMax: 1024 * 1024 });
    expect(end.problem).toMatch(/^it printed more than 1048576 bytes/);
  });

  test('[RU5] that prints one endless line has it left out, and its neighbours kept', async () => {
    const end = await run(`echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last`);
    expect(end.lines).toEqual(['first', 'last']);
    expect(end.transcript).toEqual(['(a line over 1048576 bytes was left out)']);
  });

  test('[RU4] that never reads what it is given ends as it likes', async () => {
    const child = startTurnProcess({
      argv: ['/bin/sh', '-c', 'echo unread'],
      cwd,
      env: { PATH: process.env.PATH ?? '' },
      signal: new AbortController().signal,
      transcript: { append() {}, hide() {} },
      onLine() {},
    });
    child.write(`${'x'.repeat(4 * 1024 * 1024)}\n`);
    child.endInput();
    expect((await child.ended).problem).toBeNull();
  });

  test('[RU4] is not started when its turn was stopped before', async () => {
    const signal = AbortSignal.abort(new TurnStopped('cancelled', 'cancelled by ada: no need'));
    expect(await run('echo hello', { signal })).toMatchObject({
      problem: 'cancelled by ada: no need',
      lines: [],
    });
  });
});
