/**
 * `synod arm`: blocks until something addressed to you arrives (what you subscribe to, a dm, a word of
 * the hub to you), prints it and ends. It hangs on one stream and asks nothing meanwhile; nothing
 * is taken from the inbox unless `--take`. Exit code 2 when the time is up [CL11].
 */
import type { Command } from 'commander';
import { SynodError } from '../client/error.ts';
import type { Message } from '../client/index.ts';
import { follow } from '../client/node/follow.ts';
import { readMe } from './claims-of-hub.ts';
import { type Context, handle } from './context.ts';
import { messageText } from './message-text.ts';
import { waitForMail } from './outlast.ts';
import { duration, parseStart } from './parse-value.ts';
import { jsonText } from './terminal.ts';

interface ArmFlags {
  readonly from: string;
  readonly timeout?: number;
  readonly take?: boolean;
}

const TIMEOUT_EXIT = 2;
const TIMER_MS_MAX = 2 ** 31 - 1;

export function registerArm(program: Command): void {
  const command = program
    .command('arm')
    .description('wait until something addressed to you arrives, print it and end')
    .option('--from <place>', 'inbox (what is unread counts), now, or after a position', 'inbox')
    .option(...duration('--timeout <time>', 'give up after so many seconds, with exit code 2'))
    .option('--take', 'take all that is owed from the inbox, as recv does');
  handle<ArmFlags>(command, arm);
}

async function arm(context: Context<ArmFlags>): Promise<void> {
  const { flags, remark, print, isJson, colours } = context;
  parseStart(flags.from);
  const until = flags.timeout === undefined ? Number.POSITIVE_INFINITY : Date.now() + flags.timeout;
  await announce(context);
  const isTaken = flags.take === true;
  const arrived = isTaken
    ? (await waitForMail(context, {}, until)).messages
    : await look(context, until);
  if (arrived.length === 0) {
    remark('nothing came');
    process.exitCode = TIMEOUT_EXIT;
  }
  for (const message of arrived) {
    print(isJson ? jsonText(message) : messageText(message, colours));
    if ('position' in message) {
      remark(`not taken; go on with: synod recv, or arm --from ${message.position}`);
    }
  }
}

/** Nobody can speak to an agent the hub has never heard of. An observer may only listen. */
async function announce({ call }: Context<ArmFlags>): Promise<void> {
  try {
    await call('channels.heartbeat', { status: 'online' });
  } catch (error) {
    if (!(error instanceof SynodError) || error.code !== 'access.denied') throw error;
  }
}

/** One message at most, by a stream that is taken up again where it broke. */
async function look(context: Context<ArmFlags>, until: number): Promise<Message[]> {
  const { call, flags, target, remark } = context;
  const me = await readMe(call);
  do {
    const leftMs = Math.min(Math.max(0, until - Date.now()), TIMER_MS_MAX);
    const stream = follow(target, {
      from: flags.from,
      onOpen: (isAgain) => !isAgain && remark('armed'),
      ...(Number.isFinite(until) && { signal: AbortSignal.timeout(leftMs) }),
    });
    for await (const item of stream) {
      if ('message' in item && item.message.sender !== me) return [item.message];
    }
    // A timer lasts 24 days at the most; somebody may have more patience.
  } while (Date.now() < until);
  return [];
}
