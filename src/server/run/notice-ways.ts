/**
 * The ways people are told that something waits for them: the desktop, a webhook, a command. Each
 * takes the same notice as JSON; what agents said in it is text and nothing else: it is never part of
 * a command line, a script or markup. A way either has told it or says why not.
 */
import { spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { plainLine } from '../../wire/plain-line.ts';

export type NoticeWay =
  | { readonly kind: 'desktop' }
  | { readonly kind: 'webhook'; readonly url: string; readonly secretFile: string }
  | { readonly kind: 'command'; readonly command: readonly string[] };

/** What is told; the reference page describes it for whoever receives it. */
export interface Notice {
  readonly event: 'docket';
  readonly space: string;
  /** Unix seconds. */
  readonly at: number;
  /** How many wait in all. */
  readonly open: number;
  readonly items: readonly NoticeItem[];
}

export interface NoticeItem {
  readonly item_id: string;
  readonly kinds: readonly string[];
  readonly agent_id: string;
  readonly reason: string;
  /** Often in the agent's words. */
  readonly text: string;
  readonly count: number;
  readonly since: number;
  /** It was told before, and still waits. */
  readonly is_reminder: boolean;
}

export interface WayOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Waits between the attempts of a webhook; their number is the number of retries. */
  readonly retryMs?: readonly number[];
}

const RETRY_MS = [1_000, 5_000];
const ANSWER_MS = 10_000;
const COMMAND_MS = 30_000;
const ERROR_CHARS_MAX = 500;
const LINE_CHARS_MAX = 200;
/** Of the environment only what a program needs to run and to reach the desktop. */
const KEPT =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_ALL|TMPDIR|TZ|DISPLAY|WAYLAND_DISPLAY|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS)$/;

/** Throws when nobody was told. */
export function tell(way: NoticeWay, notice: Notice, options: WayOptions): Promise<void> {
  switch (way.kind) {
    case 'desktop':
      return tellDesktop(notice, options);
    case 'webhook':
      return tellWebhook(way, notice, options);
    case 'command': {
      const [program = '', ...args] = way.command;
      return run(program, args, `${JSON.stringify(notice)}\n`, options);
    }
  }
}

/** What makes a way useless from the start; null when nothing does. */
export async function checkWay(way: NoticeWay): Promise<string | null> {
  if (way.kind !== 'webhook') return null;
  return readSecret(way.secretFile).then(
    () => null,
    (cause: Error) => cause.message,
  );
}

/** Where there is neither, the terminal of a hub in the foreground rings. */
async function tellDesktop(notice: Notice, options: WayOptions): Promise<void> {
  const { title, body } = desktopText(notice);
  try {
    if (process.platform === 'darwin') {
      const script =
        'on run a\ndisplay notification (item 2 of a) with title (item 1 of a)\nend run';
      await run('osascript', ['-e', script, title, body], '', options);
    } else {
      // The body is markup there: what agents said must not be.
      await run('notify-send', ['--app-name=Synod', '--', title, escapeMarkup(body)], '', options);
    }
  } catch (cause) {
    if (!process.stderr.isTTY) throw cause;
    process.stderr.write('\u0007');
  }
}

export function desktopText({ items, open, space }: Notice): { title: string; body: string } {
  const where = space === 'default' ? '' : ` in ${space}`;
  const [first] = items;
  if (first !== undefined && items.length === 1) {
    const { agent_id, reason, text, item_id } = first;
    const line = plainLine(reason === text ? text : `${reason}: ${text}`, ' ');
    return { title: `${agent_id} needs you${where}`, body: `${item_id}  ${clip(line)}` };
  }
  const agents = [...new Set(items.map(({ agent_id }) => agent_id))].slice(0, 5).join(', ');
  return { title: `${open} things need you${where}`, body: clip(`${agents}: see synod docket`) };
}

function clip(text: string): string {
  const chars = text.slice(0, LINE_CHARS_MAX).toWellFormed();
  return text.length > LINE_CHARS_MAX ? `${chars}…` : chars;
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * The signature covers the time and the body, so that a copy sent later is old and one with another
 * time is wrong; the id is that of the notice, so that a repeated attempt can be told from a new one.
 */
async function tellWebhook(
  { url, secretFile }: Extract<NoticeWay, { kind: 'webhook' }>,
  notice: Notice,
  { signal, retryMs = RETRY_MS }: WayOptions,
): Promise<void> {
  const body = JSON.stringify(notice);
  const id = randomUUID();
  for (let attempt = 0; ; attempt++) {
    const failure = await post(url, body, id, await readSecret(secretFile), signal);
    if (failure === null) return;
    const waitMs = failure.isFinal ? undefined : retryMs[attempt];
    if (waitMs === undefined) {
      throw new Error(`${new URL(url).host} ${failure.why}, after ${attempt + 1} attempts`);
    }
    await pause(waitMs, signal);
  }
}

async function post(
  url: string,
  body: string,
  id: string,
  secret: string,
  signal: AbortSignal,
): Promise<{ why: string; isFinal: boolean } | null> {
  const time = Math.floor(Date.now() / 1000);
  try {
    const response = await fetch(url, {
      method: 'POST',
      // A redirect would hand the notice to somebody who was not named.
      redirect: 'error',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'synod',
        'x-synod-notice': id,
        'x-synod-timestamp': String(time),
        'x-synod-signature': `sha256=${signatureOf(secret, time, body)}`,
      },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    });
    await response.body?.cancel();
    if (response.ok) return null;
    const isFinal = response.status >= 400 && response.status < 500 && response.status !== 429;
    return { why: `answered ${response.status}`, isFinal };
  } catch (cause) {
    const { cause: inner, message } = cause as Error;
    const why = inner instanceof Error ? inner.message : message;
    return { why: `could not be reached (${why})`, isFinal: signal.aborted };
  }
}

export function signatureOf(secret: string, time: number, body: string): string {
  return createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
}

async function readSecret(path: string): Promise<string> {
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) {
    throw new Error(`${path} can be read by others; close it with: chmod 600 ${path}`);
  }
  const secret = (await readFile(path, 'utf8')).trim();
  if (secret === '') throw new Error(`${path} is empty; it must hold the secret of the webhook`);
  return secret;
}

/** Runs a program to its end, with this on its standard input. */
function run(
  program: string,
  args: readonly string[],
  input: string,
  { env, signal }: WayOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['pipe', 'ignore', 'pipe'],
      env: Object.fromEntries(Object.entries(env).filter(([name]) => KEPT.test(name))),
      signal,
      timeout: COMMAND_MS,
      killSignal: 'SIGKILL',
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-ERROR_CHARS_MAX);
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('error', reject);
    child.once('exit', (code, killed) => {
      if (code === 0) resolve();
      else {
        const end = killed === null ? `ended with ${code}` : `was ended by ${killed}`;
        reject(new Error(`${program} ${end}${said === '' ? '' : `: ${said.trim()}`}`));
      }
    });
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
