/**
 * A terminal with a person at it: tmux, with a server, a shell and a size of its own. Keys go in, the
 * screen is read back, and what the terminal is left like can be asked. Nothing outlives `close`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { BIN, CACHE } from '../program.ts';
import type { Home } from './cli-run.ts';
import { until } from './deadline.ts';

/** The shell has nothing to do: what is typed earlier may go to the program before, or be wiped away by it. */
const PROMPT = /ready\$\s*$/;
const BARE = /^ready\$\s*$/;

/** Why the tests that need it are skipped; null when it is there. */
export const NO_TMUX: string | null =
  spawnSync('tmux', ['-V']).status === 0 ? null : 'no tmux: install the package tmux';

export interface Terminal {
  /** Text and keys as tmux names them: `Enter`, `C-c`, `PPage`. */
  keys(...keys: string[]): Promise<void>;
  /** A line, as it is, and Enter. */
  enter(text: string): Promise<void>;
  /** Until nothing is left but the prompt: what is typed before that is wiped off with the rest. */
  clear(): Promise<void>;
  /** A command of the shell that waits behind the chat. */
  synod(args: string, env?: string): Promise<void>;
  screen(options?: { readonly hasStyles?: boolean }): Promise<string>;
  /** Resolves with the screen once it matches. */
  shows(pattern: RegExp): Promise<string>;
  resize(columns: number, rows: number): Promise<void>;
  /** What tmux knows about the pane, by its name for it. */
  ask(format: string): Promise<string>;
  close(): Promise<void>;
}

export async function openTerminal(home: Home, columns: number, rows: number): Promise<Terminal> {
  const folder = dirname(home.dir);
  const socket = join(folder, 'tmux');
  const size = ['-x', String(columns), '-y', String(rows)];
  await tmux('new-session', '-d', ...size, 'PS1="ready$ " exec sh');

  async function tmux(...args: string[]): Promise<string> {
    const child = spawn('tmux', ['-S', socket, '-f', '/dev/null', '-u', ...args], {
      cwd: folder,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: folder,
        XDG_CACHE_HOME: CACHE,
        SYNOD_DIR: home.dir,
        TERM: 'xterm-256color',
        LANG: 'C.UTF-8',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`tmux ${args.join(' ')} left with ${code}: ${printed}`);
    return printed;
  }

  const screen: Terminal['screen'] = ({ hasStyles = false } = {}) =>
    tmux('capture-pane', '-p', ...(hasStyles ? ['-e'] : []));
  const terminal: Terminal = {
    screen,
    async keys(...keys) {
      await tmux('send-keys', ...keys);
    },
    async enter(text) {
      await tmux('send-keys', '-l', text);
      await tmux('send-keys', 'Enter');
    },
    async synod(args, env = '') {
      await terminal.shows(PROMPT);
      const command = `${env} ${process.execPath} ${BIN} ${args}; echo left with $?`;
      await terminal.enter(command.trim());
    },
    async clear() {
      await terminal.shows(PROMPT);
      await terminal.enter('clear');
      await terminal.shows(BARE);
    },
    async shows(pattern) {
      return until(String(pattern), screen, (text) => pattern.test(text)).catch(async (cause) => {
        throw new Error(`${pattern} never showed; the screen:\n${await screen()}`, { cause });
      });
    },
    async resize(width, height) {
      await tmux('resize-window', '-x', String(width), '-y', String(height));
    },
    ask: async (format) => (await tmux('display-message', '-p', format)).trim(),
    async close() {
      await tmux('kill-server');
    },
  };
  await terminal.shows(/ready\$/);
  return terminal;
}
