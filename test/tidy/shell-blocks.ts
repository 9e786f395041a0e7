/**
 * The ```sh blocks of a document as steps: a command, and the lines `# …` under it, which are
 * what it prints. Times of day differ and are not compared; runs of spaces are one space.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, watch } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './repository.ts';

export interface Step {
  readonly command: string;
  readonly expected: readonly string[];
}

/** Long: a busy machine is not wrong. */
const START_TIMEOUT_MS = 100_000;

export function readSteps(markdown: string): Step[] {
  const steps: { command: string; expected: string[] }[] = [];
  for (const [, block = ''] of markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)) {
    for (const line of block.split('\n').filter((text) => text.trim() !== '')) {
      if (!line.startsWith('# ')) steps.push({ command: line, expected: [] });
      else steps.at(-1)?.expected.push(line.slice(2));
    }
  }
  return steps;
}

/** What nothing but the step may know of the world around it: an own home, an own hub, any free port. */
export function environment(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    SYNOD_DIR: join(home, 'hub'),
    SOX_HTTP_PORT: '0',
  };
}

/** Runs a command line as a reader would, after the aliases the document made before it. */
export async function runStep(
  command: string,
  aliases: readonly string[],
  env: Record<string, string>,
): Promise<string[]> {
  const script = ['shopt -s expand_aliases', ...aliases, command].join('\n');
  const said = await new Promise<string>((resolve, reject) => {
    execFile(
      'bash',
      ['-c', script],
      { cwd: ROOT, env, timeout: START_TIMEOUT_MS },
      (error, out, err) => {
        if (error === null) resolve(out);
        else reject(new Error(`${command}\n${out}${err}`, { cause: error }));
      },
    );
  });
  return said.trim().split('\n').map(comparable);
}

export function comparable(line: string): string {
  return line
    .replace(/\b\d\d:\d\d:\d\d\b/g, 'hh:mm:ss')
    .replace(/ +/g, ' ')
    .trim();
}

export interface Started {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts what serves, and waits until the hub has written where it is. */
export async function startHub(command: string, env: Record<string, string>): Promise<Started> {
  const dir = env.SYNOD_DIR as string;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), START_TIMEOUT_MS);
  const changes = watch(dir, { signal: patience.signal })[Symbol.asyncIterator]();
  // A group of its own, so that npm, its shell and the hub end together.
  const child = spawn('bash', ['-c', command], { cwd: ROOT, env, detached: true, stdio: 'ignore' });
  const exited = once(child, 'exit');
  const early = exited.then(() => {
    throw new Error(`${command} ended before it served`);
  });
  early.catch(() => {});
  const ready = (async (): Promise<string> => {
    for (;;) {
      // Asked for before we look: what is written while we look is not missed.
      const change = changes.next();
      change.catch(() => {});
      const url = await readUrl(dir);
      if (url !== null) return url;
      await change;
    }
  })();
  ready.catch(() => {});
  try {
    const url = await Promise.race([ready, early]);
    return { url, stop: () => stop(child, exited) };
  } catch (cause) {
    await stop(child, exited);
    throw new Error(`${command} did not serve`, { cause });
  } finally {
    clearTimeout(timer);
    patience.abort();
  }
}

async function readUrl(dir: string): Promise<string | null> {
  try {
    return JSON.parse(await readFile(join(dir, 'hub.json'), 'utf8')).url;
  } catch {
    // Not written yet.
    return null;
  }
}

async function stop(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    process.kill(-child.pid, 'SIGTERM');
  }
  await exited;
}
