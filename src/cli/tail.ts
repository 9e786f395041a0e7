/**
 * `synod tail`: messages as they come, without taking them from any inbox. A broken connection is
 * taken up again after the last message shown, so nothing is missed and nothing shown twice.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Context, handle } from './context.ts';
import { REVOKED, readEvents } from './event-stream.ts';
import { CliError, fail, refused } from './failure.ts';
import { ask, readRefusal } from './hub-call.ts';
import { clockTime, type Message, messageText } from './message-text.ts';
import { jsonText, neutralise } from './terminal.ts';

interface TailFlags {
  readonly from?: string;
  readonly receipts?: boolean;
}

/** Where to go on, whether we were ever connected, and whether since the last pause. */
interface Place {
  from: string;
  isOpened: boolean;
  isConnected: boolean;
}

const RETRY_FIRST_MS = 250;
const RETRY_MAX_MS = 5_000;

export function registerTail(program: Command): void {
  const command = program
    .command('tail')
    .description('show messages as they come; takes nothing from any inbox')
    .argument('[pattern...]', 'channels or globs; left out: what you subscribe to')
    .option('--from <place>', 'now, inbox (what you are owed first) or after a position', 'now')
    .option('--receipts', 'also what becomes of your own messages');
  handle<TailFlags>(command, tail);
}

async function tail(context: Context<TailFlags>): Promise<void> {
  const { flags, remark } = context;
  if (!/^(now|inbox|\d{1,15})$/.test(flags.from ?? 'now')) {
    throw fail('cli.usage', `--from must be now, inbox or a position; found ${flags.from}`);
  }
  const place: Place = { from: flags.from ?? 'now', isOpened: false, isConnected: false };
  for (let retryMs = RETRY_FIRST_MS; ; retryMs = Math.min(2 * retryMs, RETRY_MAX_MS)) {
    try {
      await follow(context, place);
    } catch (error) {
      if (!isGone(error) || !place.isOpened) throw error;
    }
    if (place.isConnected) {
      place.isConnected = false;
      retryMs = RETRY_FIRST_MS;
      remark('the hub is gone; waiting for it to come back');
    }
    await pause(retryMs);
  }
}

function isGone(error: unknown): boolean {
  return error instanceof CliError && error.code === 'hub.unreachable';
}

async function follow(context: Context<TailFlags>, place: Place): Promise<void> {
  const { args, flags, isJson, print, colours } = context;
  const target = context.target();
  const query = new URLSearchParams({ from: place.from });
  for (const pattern of args) query.append('channel', pattern);
  if (flags.receipts) query.set('receipts', '1');
  const response = await ask(target, {
    method: 'GET',
    path: `/v1/stream?${query}`,
    headers: { accept: 'text/event-stream' },
    timeoutMs: null,
  });
  if (response.statusCode !== 200) await readRefusal(target, response);
  if (!place.isOpened) context.remark(colours.dim('following; Ctrl-C stops'));
  else context.remark(colours.dim('the hub is back; following'));
  place.isOpened = true;
  place.isConnected = true;
  try {
    for await (const { event, data, id } of readEvents(response)) {
      if (event === ':') noteStart(place, data);
      if (event === 'end' && JSON.parse(data).reason === 'revoked') {
        throw refused(REVOKED);
      }
      if (event === 'message') {
        const message = JSON.parse(data) as Message;
        print(isJson ? jsonText(message) : messageText(message, colours));
        if (id !== null) place.from = id;
      }
      if (event === 'receipt') {
        const receipt = JSON.parse(data);
        print(isJson ? jsonText({ receipt }) : receiptText(receipt));
      }
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw fail('hub.unreachable', 'the connection broke', { cause: error });
  }
}

/** From now on means from here on, also when the connection breaks before the first message. */
function noteStart(place: Place, comment: string): void {
  const [, position] = /^synod, from (\d+)$/.exec(comment) ?? [];
  if (place.from === 'now' && position !== undefined) place.from = position;
}

function receiptText(receipt: Record<string, unknown>): string {
  const { message_id: id, agent_id: agent, state, reason, at } = receipt;
  const why = reason ? ` (${reason})` : '';
  return neutralise(`${clockTime(Number(at))} receipt ${id}: ${agent} ${state}${why}`);
}
