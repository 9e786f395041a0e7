/** Shows a page to the person at this machine; where none can be seen, it is refused. */
import { spawn } from 'node:child_process';
import { fail } from './failure.ts';

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Whether somebody who sits at this terminal would see a page that is opened. */
export function hasBrowser(env: NodeJS.ProcessEnv, hasTerminal: boolean): boolean {
  if (env.CI || env.HEADLESS || env.SSH_TTY || !hasTerminal) return false;
  return Boolean(process.platform !== 'linux' || env.DISPLAY || env.WAYLAND_DISPLAY || env.BROWSER);
}

/** What does not start is silent: say first where to go. */
export function showPage(env: NodeJS.ProcessEnv, url: string): void {
  const opener = env.BROWSER ? [env.BROWSER] : (OPENERS[process.platform] ?? ['xdg-open']);
  const [command = '', ...args] = opener;
  spawn(command, [...args, url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}

export function openPage(
  env: NodeJS.ProcessEnv,
  hasTerminal: boolean,
  note: (text: string) => void,
): (url: string) => void {
  if (!hasBrowser(env, hasTerminal)) {
    throw fail('cli.usage', 'a login needs a browser on this machine, and there is none here', {
      hint: 'log in where there is one, or put a key into the keys file: --setup, --set-key',
    });
  }
  return (url) => {
    note(`waiting for your login (5 minutes); if no page opens, go to ${url}`);
    showPage(env, url);
  };
}
