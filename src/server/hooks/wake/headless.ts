/**
 * A turn of its own, in a process the hub starts: only when a person set `[wake] headless = true` and
 * said the command [WA6]. The text goes by stdin, never as an argument; of the environment only what
 * a program needs to run, so that the child does not act as whoever started the hub. It is ended
 * when it takes too long.
 */
import { spawn } from 'node:child_process';
import type { WakeMeans } from './wake-means.ts';

export const HEADLESS_MS: number = 10 * 60_000;
const KILL_MS = 5_000;
const KEPT = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TMPDIR', 'TERM', 'TZ'];

export interface Headless {
  readonly means: WakeMeans;
  /** Ends what still runs. */
  close(): void;
}

/** `dir` is the hub's data directory: the child shall find this hub and its space, and no other. */
export function createHeadless(
  env: Readonly<Record<string, string | undefined>>,
  dir: string,
): Headless {
  const running = new Map<string, () => void>();
  return {
    means: {
      name: 'headless',
      isFor: (_, { headless, command }) => headless && command.length > 0,
      attempt({ attention, text, settings }) {
        const [program = '', ...args] = settings.command;
        const key = `${attention.space} ${attention.agent}`;
        if (running.has(key)) return Promise.resolve('one runs already');
        return new Promise((resolve) => {
          const child = spawn(program, args, {
            stdio: ['pipe', 'ignore', 'ignore'],
            env: {
              ...Object.fromEntries(KEPT.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
              SYNOD_AGENT: attention.agent,
              SYNOD_DIR: dir,
              SOX_NAMESPACE: attention.space,
            },
          });
          let kill: NodeJS.Timeout | undefined;
          const end = (): void => {
            child.kill('SIGTERM');
            kill = setTimeout(() => child.kill('SIGKILL'), KILL_MS);
          };
          const timer = setTimeout(end, HEADLESS_MS);
          running.set(key, end);
          const finish = (): void => {
            clearTimeout(timer);
            clearTimeout(kill);
            running.delete(key);
          };
          child.once('exit', finish);
          child.once('error', (error) => {
            finish();
            resolve(error.message);
          });
          child.once('spawn', () => {
            child.stdin.on('error', () => {});
            child.stdin.end(text);
            resolve(null);
          });
        });
      },
    },
    close() {
      for (const end of running.values()) end();
    },
  };
}
