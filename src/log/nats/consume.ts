/**
 * Messages of a stream, as JetStream tells of them. The node that does the telling may be lost or hang, and does not say so:
 * a sign of life that does not come says it, or a connection that had to be made again. The client of NATS would then ask
 * that same node until it is back; here the telling ends instead, and whoever listens has another node tell it, from the
 * last message that it heard on [NL11].
 */
import { setTimeout as wait } from 'node:timers/promises';
import type {
  Consumer,
  ConsumerMessages,
  DeliverPolicy,
  JsMsg,
  OrderedConsumerOptions,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { LogError } from '../log.ts';
import { askAgain } from './ask-again.ts';
import { API, apiCode } from './failure.ts';
import type { Link } from './link.ts';

type From = Partial<OrderedConsumerOptions>;

/** Two that do not come in a row are a node that is gone. */
const SIGNS_OF_LIFE = { expires: 5_000, idle_heartbeat: 1_000 } as const;
/** Whoever could not be told at all begins again after this long. */
const AGAIN_MS = 1_000;
/** So often in a row nothing at all came of reading, and it is said. */
const TRIES_MAX = 3;

export interface FollowOptions {
  /** Where to begin: at first, and each time that the telling ended. */
  from(): From | Promise<From>;
  /** `anew`: it wants to be told from another place, or in another way. */
  hear(message: JsMsg): unknown;
}

/** Tells of what is stored until it is stopped, whatever becomes of the nodes. */
export function follow(link: Link, stream: string, options: FollowOptions): { stop(): void } {
  let isStopped = false;
  let telling: Telling | null = null;

  async function run(): Promise<'anew' | 'lost' | 'ended'> {
    telling = await tell(link, stream, await options.from(), (consumer) =>
      consumer.consume(SIGNS_OF_LIFE),
    );
    try {
      if (isStopped) return 'ended';
      for await (const message of telling.messages) {
        if (isStopped) return 'ended';
        if ((await options.hear(message)) === 'anew') return 'anew';
      }
      return telling.isLost() ? 'lost' : 'ended';
    } finally {
      telling.stop();
    }
  }

  async function begin(): Promise<void> {
    while (!isStopped) {
      // What went wrong is said by who reads or writes next; a follower only begins again.
      const end = await run().catch(() => 'ended');
      if (end === 'ended' && !isStopped) await wait(AGAIN_MS, undefined, { ref: false });
    }
  }
  void begin();
  return {
    stop() {
      isStopped = true;
      telling?.stop();
    },
  };
}

/** As they are stored from that sequence on; whoever has enough goes away. */
export function streamFrom(
  link: Link,
  stream: string,
  seq: number,
  max_messages: number,
): AsyncGenerator<JsMsg> {
  return insist(link, stream, seq, {}, (consumer) =>
    consumer.consume({ max_messages, ...SIGNS_OF_LIFE }),
  );
}

/** The first so many of some subjects, or as many as there still are. */
export async function* readFirst(
  link: Link,
  stream: string,
  filter_subjects: string,
  count: number,
  max_messages: number,
): AsyncGenerator<JsMsg> {
  let left = count;
  let seq = 1;
  while (left > 0) {
    const before = left;
    const bounds = { max_messages: Math.min(left, max_messages), ...SIGNS_OF_LIFE };
    const some = insist(link, stream, seq, { filter_subjects }, (one) => one.fetch(bounds));
    for await (const message of some) {
      left--;
      seq = message.seq + 1;
      yield message;
    }
    if (left === before) return;
  }
}

/** Has another node go on where one is lost. */
async function* insist(
  link: Link,
  stream: string,
  first: number,
  from: From,
  open: (consumer: Consumer) => Promise<ConsumerMessages>,
): AsyncGenerator<JsMsg> {
  let seq = first;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (tries > 0) await wait(AGAIN_MS);
    const telling = await tell(link, stream, { ...from, ...startingAt(seq) }, open).catch(
      unlessLost,
    );
    if (telling === null) continue;
    try {
      for await (const message of unlessPassing(telling)) {
        tries = 0;
        seq = message.seq + 1;
        yield message;
      }
      if (!telling.isLost()) return;
    } finally {
      telling.stop();
    }
  }
  throw brokeOff(stream);
}

export function brokeOff(stream: string): LogError {
  return new LogError('log.unavailable', `reading ${stream} broke off; try again`);
}

export function startingAt(opt_start_seq: number): From {
  return { opt_start_seq, deliver_policy: 'by_start_sequence' as DeliverPolicy };
}

/** Nobody answered, or nobody leads: the next who does will. */
function unlessLost(cause: unknown): null {
  const isPassing = apiCode(cause) === API.notNow || isStatus(cause);
  if (isPassing || (cause instanceof Error && cause.name === 'TimeoutError')) return null;
  throw cause;
}

/** What a node says instead of a message: that it does not lead any more, or nobody listens where it did. */
function isStatus(cause: unknown): boolean {
  return [409, 503].includes(apiCode(cause) ?? 0);
}

/** Who says that it tells no more is as one that is lost. */
async function* unlessPassing({ messages, lose }: Telling): AsyncGenerator<JsMsg> {
  try {
    yield* messages;
  } catch (cause) {
    unlessLost(cause);
    lose();
  }
}

interface Telling {
  readonly messages: ConsumerMessages;
  /** It ended because nobody tells any more. */
  isLost(): boolean;
  lose(): void;
  stop(): void;
}

async function tell(
  { js, connection }: Link,
  stream: string,
  from: From,
  open: (consumer: Consumer) => Promise<ConsumerMessages>,
): Promise<Telling> {
  const asked: Promise<Consumer>[] = [];
  const consumer = await askAgain(() => {
    // Each under a name of its own, which the client writes into the options: one that was given to a lost node stays there.
    const one = js.consumers.get(stream, { ...from });
    asked.push(one);
    return one;
  });
  // Of several that were made one tells.
  const leave = (one: Consumer): unknown => one !== consumer && one.delete();
  for (const one of asked) one.then(leave).catch(() => {});
  const messages = await open(consumer);
  let isLost = false;
  const lose = (): void => {
    isLost = true;
    messages.stop();
  };
  void notice(messages.status(), 'heartbeats_missed', lose);
  const ofConnection = connection.status();
  void notice(ofConnection, 'reconnect', lose);
  return {
    messages,
    isLost: () => isLost,
    lose,
    stop() {
      messages.stop();
      (ofConnection as Stoppable).stop?.();
      void consumer.delete().catch(() => {});
    },
  };
}

type Stoppable = ReturnType<NatsConnection['status']> & { stop?(): void };

async function notice(
  news: AsyncIterable<{ readonly type: string }>,
  type: string,
  hear: () => void,
): Promise<void> {
  for await (const one of news) if (one.type === type) return hear();
}
