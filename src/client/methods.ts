/**
 * The everyday operations as methods. Names of fields are those of the wire, in both
 * directions: one word for one thing.
 */
import type { CallId, CallInput, CallOutput } from './operations.ts';
import type { CallOptions } from './requests.ts';

type Rest<Id extends CallId, Named extends string> = Omit<CallInput<Id>, Named>;
type Body = CallInput<'channels.send'>['body'];

export interface Methods {
  /** Sends a JSON object to a channel; resolves once it is stored. Lands once, whatever happens on the way. */
  send(
    channel: string,
    body: Body,
    options?: Rest<'channels.send', 'channel' | 'body'>,
  ): Promise<CallOutput<'channels.send'>>;
  /** Answers a message, in its channel. */
  reply(
    to: { readonly channel: string; readonly message_id: string },
    body: Body,
    options?: Rest<'channels.send', 'channel' | 'body' | 'reply_to'>,
  ): Promise<CallOutput<'channels.send'>>;
  /** Drains the inbox. With `lease_ms`, what is not acked in time comes back. */
  recv(
    options?: CallInput<'channels.recv'>,
    callOptions?: CallOptions,
  ): Promise<CallOutput<'channels.recv'>>;
  subscribeTo(pattern: string): Promise<CallOutput<'channels.subscribe'>>;
  unsubscribeFrom(...patterns: string[]): Promise<CallOutput<'channels.unsubscribe'>>;
  ack(
    messageId: string,
    status: CallInput<'channels.ack'>['status'],
    reason?: string,
  ): Promise<CallOutput<'channels.ack'>>;
  /** Waits until so many agents acked or answered, or the time (seconds) is up. */
  collect(
    messageId: string,
    options: Rest<'channels.collect', 'reply_to'>,
  ): Promise<CallOutput<'channels.collect'>>;
  replay(
    channel: string,
    options?: Rest<'channels.replay', 'channel'>,
  ): Promise<CallOutput<'channels.replay'>>;
  channels(): Promise<CallOutput<'channels.list_channels'>['channels']>;
  agents(
    options?: CallInput<'channels.list_agents'>,
  ): Promise<CallOutput<'channels.list_agents'>['agents']>;
  receiptsOf(messageId: string): Promise<CallOutput<'receipts.get'>['receipts']>;
  /** How much you are owed, without taking any of it. */
  peek(): Promise<CallOutput<'inbox.peek'>>;
  /** Counts everything owed up to a position as read. */
  commit(through: number): Promise<CallOutput<'inbox.commit'>>;
  whoami(): Promise<CallOutput<'hub.whoami'>>;
  status(): Promise<CallOutput<'hub.status'>>;
}

/** Any operation, input stated. */
export type Call = <Id extends CallId>(
  id: Id,
  input: CallInput<Id>,
  options?: CallOptions,
) => Promise<CallOutput<Id>>;

export function createMethods(call: Call): Methods {
  const send: Methods['send'] = (channel, body, options = {}) =>
    call('channels.send', { ...options, channel, body });
  return {
    send,
    reply: (to, body, options = {}) =>
      send(to.channel, body, { ...options, reply_to: to.message_id }),
    recv: (options = {}, callOptions = {}) => call('channels.recv', options, callOptions),
    subscribeTo: (pattern) => call('channels.subscribe', { pattern }),
    unsubscribeFrom: (...channels) => call('channels.unsubscribe', { channels }),
    ack: (message_id, status, reason) => call('channels.ack', { message_id, status, reason }),
    collect: (reply_to, options) => call('channels.collect', { ...options, reply_to }),
    replay: (channel, options = {}) => call('channels.replay', { ...options, channel }),
    channels: async () => (await call('channels.list_channels', {})).channels,
    agents: async (options = {}) => (await call('channels.list_agents', options)).agents,
    receiptsOf: async (message_id) => (await call('receipts.get', { message_id })).receipts,
    peek: () => call('inbox.peek', {}),
    commit: (through) => call('inbox.commit', { through }),
    whoami: () => call('hub.whoami', {}),
    status: () => call('hub.status', {}),
  };
}
