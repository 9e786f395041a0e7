/**
 * A vendor's command line as a person has it: in a terminal, waiting. tmux gives the terminal, on a
 * socket of its own below the scene, and goes with it. Keys are only used to answer a first
 * question; nothing here wakes an agent by typing.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type CliName, cliPath } from './clis.ts';
import { seen } from './patience.ts';
import type { Environment, Scene } from './scene.ts';

export const hasTerminal: boolean = spawnSync('tmux', ['-V']).status === 0;

export interface Terminal {
  readonly screen: () => string;
  /** Waits until the screen shows it. */
  readonly shows: (pattern: RegExp) => Promise<string>;
  readonly press: (...keys: string[]) => void;
}

let opened = 0;

export function openTerminal(
  scene: Scene,
  name: CliName,
  args: readonly string[],
  env: Environment,
): Terminal {
  opened += 1;
  const pane = `pane${opened}`;
  const socket = join(scene.root, 'tmux');
  const tmux = (...words: string[]): string =>
    spawnSync('tmux', ['-S', socket, ...words], { encoding: 'utf8', env: scene.env() }).stdout;
  const variables = Object.entries(scene.env(env)).map(([key, value]) => `${key}=${value}`);
  const command = ['env', '-i', ...variables, cliPath(name), ...args];
  const where = ['-d', '-x', '120', '-y', '40', '-s', pane, '-c', scene.project];
  tmux('-f', '/dev/null', 'new-session', ...where, '--', ...command);
  const pid = Number(tmux('display-message', '-p', '-t', pane, '#{pane_pid}'));
  scene.atEnd(async () => {
    tmux('kill-session', '-t', pane);
    // It still writes into its home when its terminal goes.
    await seen(`${name} has left its terminal`, () => !isAlive(pid));
  });
  const screen = (): string => tmux('capture-pane', '-p', '-t', pane);
  return {
    screen,
    shows: (pattern) =>
      seen(`the screen shows ${pattern}`, () => {
        const text = screen();
        return pattern.test(text) ? text : null;
      }),
    press: (...keys) => void tmux('send-keys', '-t', pane, ...keys),
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
