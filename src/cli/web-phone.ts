/**
 * `synod web --phone`: the page for a phone, while this command runs. It shows the link as a QR code and the
 * fingerprint of the certificate to compare; enter gives a link for another device, ctrl-c closes the door.
 */
import { createInterface } from 'node:readline';
import type { CallOutput } from '../client/operations.ts';
import type { Context } from './context.ts';
import { fail } from './failure.ts';

/** Well within the minute after which the hub closes the door by itself. */
const KEEP_MS = 20_000;
/** Light squares around the code: what the standard wants, and the terminal beside it is dark. */
const QUIET_SQUARES = 4;

interface PhoneFlags {
  readonly host?: string;
  readonly port?: string;
}

type Opened = CallOutput<'web.phone_open'>;

export async function servePhone(
  context: Context<PhoneFlags>,
  name: string | undefined,
): Promise<void> {
  const { call, flags, remark } = context;
  const { host } = flags;
  const port = portOf(flags.port);
  const first = await call('web.phone_open', { host, port, name });
  await showLink(context, first);
  const stopped = untilStopped();
  const timer = setInterval(() => {
    // A hub that is gone has closed the door; a signal still ends this command.
    call('web.phone_open', { host, port, link: false }).catch(() => {});
  }, KEEP_MS);
  const lines = process.stdin.isTTY ? createInterface({ input: process.stdin }) : null;
  lines?.on('line', () => {
    call('web.phone_open', { host, port, name }).then(
      (opened) => showLink(context, opened),
      (error: Error) => remark(error.message),
    );
  });
  lines?.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  await stopped;
  clearInterval(timer);
  lines?.close();
  await closePhone(context);
}

export async function closePhone({ call, say }: Context<object>): Promise<void> {
  const answer = await call('web.phone_close', {});
  say(answer, answer.closed ? 'no phone reaches the page any more' : 'it was not open');
}

async function showLink({ show, remark }: Context<object>, opened: Opened): Promise<void> {
  const { renderUnicodeCompact } = await import('uqr');
  const { url, origin, fingerprint } = opened;
  // White on black whatever the terminal's colours are: a camera wants it so.
  const paint = (line: string): string =>
    process.stdout.isTTY ? `\x1b[40;97m${line}\x1b[0m` : line;
  const code = renderUnicodeCompact(url ?? '', { border: QUIET_SQUARES })
    .split('\n')
    .map(paint);
  show(opened, () => [...code, url ?? '']);
  remark(`for one device, once, within a minute; the page is at ${origin} while this runs`);
  remark('the phone will warn that nobody vouches for the certificate; compare its SHA-256:');
  remark(fingerprint);
  remark('enter: another link · ctrl-c: close it');
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => resolve());
  });
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw fail('cli.usage', `--port is a number from 1 to 65535, not ${text}`);
}
