/** Shows a page to the person at this machine; where none can be seen, it is refused. */
import { spawn } from 'node:child_process';
import { fail } from './failure.ts';

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

export function openPage(
  env: NodeJS.ProcessEnv,
  hasTerminal: boolean,
  note: (text: string) => void,
): (url: string) => void {
  const hasScreen = process.platform !== 'linux' || env.DISPLAY || env.WAYLAND_DISPLAY;
  if (env.CI || env.HEADLESS || env.SSH_TTY || !hasTerminal || !(hasScreen || env.BROWSER)) {
    throw fail('cli.usage', 'a login needs a browser on this machine, and there is none here', {
      hint: 'log in where there is one, or put a key into the keys file: --setup, --set-key',
    });
  }
  return (url) => {
    note(`waiting for your login (5 minutes); if no page opens, go to ${url}`);
    const opener = env.BROWSER ? [env.BROWSER] : (OPENERS[process.platform] ?? ['xdg-open']);
    const [command = '', ...args] = opener;
    // What does not start has been said above.
    spawn(command, [...args, url], { stdio: 'ignore', detached: true })
      .on('error', () => {})
      .unref();
  };
}
