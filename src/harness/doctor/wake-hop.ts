/**
 * Waking: which means there is on this machine for each vendor, and how quick. Where it can be done
 * without touching a person's session it is done for real: the doctor is an idle session itself, the
 * hub wakes it, and the receipt must say `presented` only after the session has confirmed [DO7]. Codex's
 * daemon is greeted and no thread of it touched.
 */
import { lstatSync, realpathSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import { readJson } from '../../core/law/json.ts';
import type { Vendor } from '../../wire/tool-names.ts';
import { isOlder, type Probe } from '../install/probe.ts';
import { VENDOR_PARTS } from '../install/vendors/all.ts';
import { createMark } from './canary.ts';
import { clearInbox, type HookCanary, leaveWord, receiptOf } from './hook-hop.ts';
import { type Found, fail, ok, skip, warn } from './hop.ts';
import { MOMENTS } from './moments.ts';
import type { Environment } from './vendor-env.ts';

export interface WakeRow {
  readonly vendor: Vendor | 'any';
  readonly means: string;
  /** Null where only a running session of the vendor could tell. */
  readonly works: boolean | null;
  readonly note: string;
  readonly ms: number | null;
  /** It was tried and should have worked. */
  readonly isFault: boolean;
  readonly remedy?: string;
}

/** The hub lets an idle agent settle for a second before it wakes it. */
const WAKE_MS = 5_000;
const GREET_MS = 3_000;

export async function tryWake(
  canary: HookCanary,
  clean: Environment,
  probe: Probe,
): Promise<WakeRow> {
  const { vendor, settings } = canary;
  const isOff = settings.wake.mode === 'off';
  const row = (means: string, note: string): WakeRow => ({
    ...{ vendor, means, works: false, note, ms: null, isFault: false },
  });
  const off = 'switched off: [wake] mode in policy.toml';
  switch (vendor) {
    case 'claude':
      return isOff ? row('its socket', off) : (deafRow(probe) ?? wakeBySocket(canary));
    case 'codex':
      return isOff ? row('its daemon', off) : greetDaemon(canary, clean);
    case 'opencode':
      return isOff ? row('the plugin', off) : wakeByPlugin(canary);
    case 'gemini':
      return row('none', 'nothing reaches its idle terminal; its hook holds it while mail is owed');
  }
}

/**
 * The socket of a session of ours says nothing of the vendor's: whether that has one is a question of its
 * version. Null when it has.
 */
function deafRow(probe: Probe): WakeRow | null {
  const { title, wakeVersionMin: needed = '0.0.0', package: name } = VENDOR_PARTS.claude;
  const row = { vendor: 'claude', means: 'its socket', ms: null, isFault: false } as const;
  const remedy = `npm install -g ${name}@latest, with Node 22 or newer: with an older one npm brings an older version`;
  if (probe.state !== 'found') {
    return { ...row, works: null, note: `which version of ${title} is here is not known`, remedy };
  }
  if (!isOlder(probe.version, needed)) return null;
  const note = `${title} ${probe.version} has no messaging socket (${needed} is the first), so nothing wakes it`;
  return { ...row, works: false, note, remedy };
}

/** The canary is idle, and owed nothing. */
async function fallAsleep(canary: HookCanary, env: Environment): Promise<string | null> {
  const { vendor, hooks } = canary;
  const words = MOMENTS[vendor];
  await clearInbox(canary);
  await hooks.fire(words.greet, { source: 'startup' }, { env });
  const stopped = await hooks.fire(words.stop, { stop_hook_active: false }, { env });
  return stopped.trouble;
}

async function wakeBySocket(canary: HookCanary): Promise<WakeRow> {
  const folder = await mkdtemp(join(tmpdir(), 'synod-wake-'));
  const path = join(folder, 'wake.sock');
  const { promise: woken, resolve } = Promise.withResolvers<string>();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    createInterface({ input: socket }).on('line', (line) => {
      const prompt = promptIn(line);
      if (prompt !== null) resolve(prompt);
    });
  });
  const env = { CLAUDE_CODE_MESSAGING_SOCKET: path };
  try {
    return await wakeBy('its socket', canary, env, async () => {
      await new Promise<void>((done, fault) => server.once('error', fault).listen(path, done));
      return () => inTime(woken, WAKE_MS);
    });
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function wakeByPlugin(canary: HookCanary): Promise<WakeRow> {
  return wakeBy('the plugin', canary, {}, async () => () => canary.hooks.prompted(WAKE_MS));
}

/** `listen` prepares for the prompt that wakes, and hands out how to wait for it. */
async function wakeBy(
  means: string,
  canary: HookCanary,
  env: Environment,
  listen: () => Promise<() => Promise<string | null>>,
): Promise<WakeRow> {
  const { vendor, hooks } = canary;
  const faulty = (note: string): WakeRow => ({
    ...{ vendor, means, works: false, note, ms: null, isFault: true },
  });
  try {
    const prompted = await listen();
    const trouble = await fallAsleep(canary, env);
    if (trouble !== null) return faulty(trouble);
    const mark = createMark();
    const left = await leaveWord(canary, mark);
    if ('problem' in left) return faulty(left.problem);
    const from = performance.now();
    const prompt = await prompted();
    const ms = performance.now() - from;
    if (prompt === null || !prompt.includes(mark)) {
      return faulty(`the hub did not wake it within ${WAKE_MS} ms`);
    }
    await hooks.fire(MOMENTS[vendor].prompt, { prompt }, { env });
    return { vendor, means, ...(await confirmed(canary, left.id)), ms };
  } catch (error) {
    return faulty((error as Error).message);
  } finally {
    await clearInbox(canary);
  }
}

async function confirmed(
  canary: HookCanary,
  id: string,
): Promise<Pick<WakeRow, 'works' | 'note' | 'isFault'>> {
  const state = await receiptOf(canary, id);
  return state === 'presented'
    ? { works: true, note: 'tried: woken, confirmed, receipt presented', isFault: false }
    : { works: false, note: `woken, but the receipt says ${state}`, isFault: true };
}

function promptIn(line: string): string | null {
  try {
    const { type, message } = readJson(line) as { type?: unknown; message?: { content?: unknown } };
    return type === 'user' && typeof message?.content === 'string' ? message.content : null;
  } catch {
    return null;
  }
}

/** Says hello to the daemon of Codex's terminals; no thread is opened or named. */
async function greetDaemon({ vendor }: HookCanary, clean: Environment): Promise<WakeRow> {
  const row = { vendor, means: 'its daemon', isFault: false };
  const home = clean.CODEX_HOME || join(clean.HOME ?? '', '.codex');
  const path = socketAt(join(home, 'app-server-control', 'app-server-control.sock'));
  if (path === null) {
    return { ...row, works: null, note: 'none runs now; codex in a terminal starts one', ms: null };
  }
  const from = performance.now();
  const socket = new WebSocket(`ws+unix:${path}:/`, { handshakeTimeout: GREET_MS });
  const answered = new Promise<boolean>((resolve) => {
    socket.once('error', () => resolve(false));
    socket.once('open', () =>
      socket.send(
        JSON.stringify({
          id: 1,
          method: 'initialize',
          params: { clientInfo: { name: 'synod', version: '1' } },
        }),
      ),
    );
    socket.once('message', () => resolve(true));
  });
  const isThere = (await inTime(answered, GREET_MS)) === true;
  const ms = performance.now() - from;
  socket.terminate();
  return isThere
    ? { ...row, works: true, note: 'it answers; threads open in a terminal can be woken', ms }
    : { ...row, works: false, note: 'its socket is there, but nobody answers', ms: null };
}

function socketAt(path: string): string | null {
  try {
    const real = realpathSync(path);
    return lstatSync(real).isSocket() ? real : null;
  } catch {
    // Not there: no daemon.
    return null;
  }
}

async function inTime<T>(event: Promise<T>, afterMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), afterMs);
  });
  return await Promise.race([event, late]).finally(() => clearTimeout(timer));
}

/** The means of a vendor, as a hop. */
export function wakeFound({ means, note, ms, works, isFault, remedy: advice }: WakeRow): Found {
  if (isFault) {
    const remedy = 'see logs/decisions.jsonl in the data directory for what the hub tried';
    return fail('wake', `by ${means}: ${note}`, remedy);
  }
  if (advice !== undefined) return warn('wake', note, advice);
  return works === true ? ok('wake', `by ${means}: ${note}`, ms) : skip('wake', note);
}
