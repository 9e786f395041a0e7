/**
 * `synod arm`: blocks until something addressed to you arrives (what you subscribe to, a dm, a word of
 * the hub to you), prints it and ends. It hangs on one stream and asks nothing meanwhile; nothing
 * is taken from the inbox unless `--take`. Exit code 2 when the time is up [CL11].
 */
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { readMe } from './claims-of-hub.ts';
import { type Context, given, handle } from './context.ts';
import { REVOKED, readEvents } from './event-stream.ts';
import { CliError, fail, refused } from './failure.ts';
import { ask, readRefusal } from './hub-call.ts';
import { type Message, messageText } from './message-text.ts';
import { parseDurationMs } from './parse-value.ts';
import { jsonText } from './terminal.ts';

interface ArmFlags {
  readonly from: string;
  readonly timeout?: string;
  readonly take?: boolean;
}

type Arrived = Message & { readonly position: number };

const TIMEOUT_EXIT = 2;
const RETRY_MS = 500;
const CALL_WAIT_MS = 60_000;
const TIMER_MS_MAX = 2 ** 31 - 1;

export function registerArm(program: Command): void {
  const command = program
    .command('arm')
    .description('wait until something addressed to you arrives, print it and end')
    .option('--from <place>', 'inbox (what is unread counts), now, or after a position', 'inbox')
    .option('--timeout <time>', 'give up after so many seconds, with exit code 2')
    .option('--take', 'take all that is owed from the inbox, as recv does');
  handle<ArmFlags>(command, arm);
}

async function arm(context: Context<ArmFlags>): Promise<void> {
  const { flags, remark, print, isJson, colours } = context;
  if (!/^(now|inbox|\d{1,15})$/.test(flags.from)) {
    throw fail('cli.usage', `--from must be now, inbox or a position; found ${flags.from}`);
  }
  const waitMs = flags.timeout === undefined ? null : parseDurationMs(flags.timeout, '--timeout');
  const until = waitMs === null ? Number.POSITIVE_INFINITY : Date.now() + waitMs;
  await announce(context);
  const arrived = flags.take === true ? await take(context, until) : await look(context, until);
  if (arrived.length === 0) {
    remark('nothing came');
    process.exitCode = TIMEOUT_EXIT;
  }
  for (const message of arrived) print(isJson ? jsonText(message) : messageText(message, colours));
  const position = (arrived.at(-1) as Partial<Arrived> | undefined)?.position;
  if (position !== undefined)
    remark(`not taken; go on with: synod recv, or arm --from ${position}`);
}

/** Nobody can speak to an agent the hub has never heard of. An observer may only listen. */
async function announce({ call }: Context<ArmFlags>): Promise<void> {
  try {
    await call('channels_heartbeat', { status: 'online' });
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'access.denied') throw error;
  }
}

/** Long calls, each answered when mail comes. */
async function take({ call }: Context<ArmFlags>, until: number): Promise<readonly Message[]> {
  for (;;) {
    const callMs = Math.max(0, Math.min(CALL_WAIT_MS, until - Date.now()));
    const drained = await call('recv', given({ wait_ms: callMs }), callMs);
    const messages = drained.messages as Message[];
    if (messages.length > 0 || Date.now() >= until) return messages;
  }
}

/** One message at most, by a stream that is taken up again where it broke. */
async function look(context: Context<ArmFlags>, until: number): Promise<readonly Arrived[]> {
  const me = await readMe(context.call);
  let { from } = context.flags;
  const keep = (position: string): void => {
    from = position;
  };
  for (let isFirst = true; ; isFirst = false) {
    try {
      const message = await follow(context, { me, from, keep, until, isFirst });
      if (message !== null) return [message];
    } catch (error) {
      const isGone = error instanceof CliError && error.code === 'hub.unreachable';
      if (!isGone || isFirst) throw error;
    }
    if (Date.now() >= until) return [];
    await pause(Math.min(RETRY_MS, until - Date.now()));
  }
}

interface Watch {
  readonly me: string;
  readonly from: string;
  /** Called with where to go on. */
  readonly keep: (position: string) => void;
  readonly until: number;
  readonly isFirst: boolean;
}

/** Null when the time is up or the stream broke. */
async function follow(context: Context<ArmFlags>, watch: Watch): Promise<Arrived | null> {
  const target = context.target();
  const response = await ask(target, {
    method: 'GET',
    path: `/v1/stream?${new URLSearchParams({ from: watch.from })}`,
    headers: { accept: 'text/event-stream' },
    timeoutMs: null,
  });
  if (response.statusCode !== 200) await readRefusal(target, response);
  if (watch.isFirst) context.remark('armed');
  const { promise: timeUp, resolve: stop } = Promise.withResolvers<null>();
  const leftMs = Math.min(Math.max(0, watch.until - Date.now()), TIMER_MS_MAX);
  const timer = setTimeout(stop, leftMs, null);
  try {
    return await Promise.race([readForMe(response, watch), timeUp]);
  } finally {
    clearTimeout(timer);
    response.destroy();
  }
}

async function readForMe(response: IncomingMessage, watch: Watch): Promise<Arrived | null> {
  try {
    for await (const { event, data, id } of readEvents(response)) {
      const [, start] = (event === ':' && /^synod, from (\d+)$/.exec(data)) || [];
      if (start !== undefined && watch.from === 'now') watch.keep(start);
      if (event === 'end' && JSON.parse(data).reason === 'revoked') throw refused(REVOKED);
      if (event !== 'message') continue;
      if (id !== null) watch.keep(id);
      const message = JSON.parse(data) as Arrived;
      if (message.sender !== watch.me) return message;
    }
  } catch (error) {
    // A stream that breaks is taken up again; what the hub refuses is not.
    if (error instanceof CliError) throw error;
  }
  return null;
}
