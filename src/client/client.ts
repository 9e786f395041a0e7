/**
 * The client: one line for questions and answers, and one more for each live stream.
 * It reconnects by itself and promises: a send lands once [K2], a stream neither
 * loses nor repeats [K3], and what cannot be known is said to be unknown [K9].
 */

import { withKey } from './ask-once.ts';
import { type Change, type ChangesOptions, openChanges } from './changes.ts';
import type { ConnectionState } from './connection.ts';
import { SynodError } from './error.ts';
import type { LiveStream } from './live.ts';
import { type Message, type MessagesOptions, openMessages } from './messages.ts';
import { type Call, createMethods, type Methods } from './methods.ts';
import type { CallId, CallInput, CallOutput } from './operations.ts';
import { type ClientOptions, settle } from './options.ts';
import { type KeepPresenceOptions, keepPresence, type Presence } from './presence.ts';
import { openReceipts, type ReceiptChange, type ReceiptsOptions } from './receipts.ts';
import { type CallOptions, createRequests } from './requests.ts';
import { tellProgram } from './tell-program.ts';
import { openTurnOutput, type TurnOutput, type TurnOutputOptions } from './turn-output.ts';

export type StateListener = (state: ConnectionState, error: SynodError | null) => void;

/** The input may be left out where an operation takes nothing. */
export type CallArguments<Id extends CallId> =
  Record<never, never> extends CallInput<Id>
    ? [input?: CallInput<Id>, options?: CallOptions]
    : [input: CallInput<Id>, options?: CallOptions];

export interface Client extends Methods, AsyncDisposable {
  /** The state of the line for calls; each stream has its own and mends it by itself. */
  readonly state: ConnectionState;
  /** Tells of every change, and why, until the returned function is called. */
  onState(listener: StateListener): () => void;
  /** Any operation of the hub, by its id. Throws a SynodError when it is refused. */
  call<Id extends CallId>(id: Id, ...rest: CallArguments<Id>): Promise<CallOutput<Id>>;
  /** Messages as they come; see MessagesOptions for where to start and what is committed. */
  messages(options?: MessagesOptions): LiveStream<Message>;
  /** What becomes of the messages you sent. */
  receipts(options?: ReceiptsOptions): LiveStream<ReceiptChange>;
  /** What may look different now, to be asked again; for people and administrators. */
  changes(options?: ChangesOptions): LiveStream<Change>;
  /** What turns of managed agents say, as they say it. */
  turnOutput(options?: TurnOutputOptions): LiveStream<TurnOutput>;
  /** Reports presence now and again and again; the returned function stops it. */
  keepPresence(status: Presence, options?: KeepPresenceOptions): () => void;
  /** Ends streams, commits what they have handled, and hangs up. */
  close(): Promise<void>;
}

/** Streams of one client at once: each is a connection. */
export const STREAMS_MAX = 100;
const COMMIT_TIMEOUT_MS = 5_000;

/** Connects, and refuses if the first attempt fails; from then on the client reconnects by itself. */
export async function connect(options: ClientOptions): Promise<Client> {
  const { client, firstOpen } = startClient(options, false);
  await firstOpen;
  return client;
}

/** A client that goes on trying from the start: for hubs that may come up later. */
export function createClient(options: ClientOptions): Client {
  return startClient(options, true).client;
}

function startClient(
  options: ClientOptions,
  isPatient: boolean,
): { readonly client: Client; readonly firstOpen: Promise<void> } {
  const settings = settle(options);
  const { address, requestTimeoutMs } = settings;
  const requests = createRequests(address.http, requestTimeoutMs);
  const streams = new Set<LiveStream<unknown>>();
  const listeners = new Set<StateListener>();
  const firstOpen = Promise.withResolvers<void>();
  firstOpen.promise.catch(() => {});
  let wasOpen = false;
  let closing: Promise<void> | null = null;

  const line = settings.openConnection({
    up() {
      wasOpen = true;
      firstOpen.resolve();
      requests.up(line);
    },
    frame: requests.frame,
    down(error) {
      requests.down(error);
      if (!wasOpen && !isPatient) line.close(error);
    },
    gone(error) {
      firstOpen.reject(error ?? closedError());
      requests.end(error ?? closedError());
    },
    state(state, error) {
      for (const listener of [...listeners]) tellProgram(() => listener(state, error));
    },
  });

  const call: Call = async <Id extends CallId>(
    id: Id,
    input: CallInput<Id>,
    callOptions: CallOptions = {},
  ) => {
    const params = withKey(id, input as Readonly<Record<string, unknown>>);
    return (await requests.call(id, params, callOptions)) as CallOutput<Id>;
  };

  function addStream<T>(open: (onClosed: () => void) => LiveStream<T>): LiveStream<T> {
    if (closing !== null) throw closedError();
    if (streams.size >= STREAMS_MAX) {
      throw new SynodError(
        'limit.reached',
        `this client has ${STREAMS_MAX} streams open; close some, or follow several channels with one`,
        { detail: { limit: 'STREAMS_MAX' } },
      );
    }
    const stream = open(() => streams.delete(stream));
    streams.add(stream);
    return stream;
  }

  const context = {
    openConnection: settings.openConnection,
    bufferMax: settings.bufferMax,
    openTimeoutMs: requestTimeoutMs,
  };

  async function shutDown(): Promise<void> {
    await Promise.allSettled([...streams].map((stream) => stream.close()));
    line.close();
  }

  const client: Client = {
    ...createMethods(call),
    call: (id, ...[input, callOptions]) =>
      call(id, (input ?? {}) as CallInput<typeof id>, callOptions),
    get state() {
      return line.state;
    },
    onState(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    messages: (messagesOptions = {}) =>
      addStream((onClosed) =>
        openMessages(messagesOptions, {
          ...context,
          onClosed,
          commitMode: settings.commit,
          commit: (through) => call('inbox.commit', { through }, { timeoutMs: COMMIT_TIMEOUT_MS }),
        }),
      ),
    receipts: (receiptsOptions = {}) =>
      addStream((onClosed) => openReceipts(receiptsOptions, { ...context, onClosed })),
    changes: (changesOptions = {}) =>
      addStream((onClosed) => openChanges(changesOptions, { ...context, onClosed })),
    turnOutput: (turnOptions = {}) =>
      addStream((onClosed) => openTurnOutput(turnOptions, { ...context, onClosed })),
    keepPresence: (status, presenceOptions = {}) =>
      keepPresence(
        (timeoutMs) =>
          call('channels.heartbeat', { status, ttl: presenceOptions.ttl }, { timeoutMs }),
        presenceOptions,
      ),
    close() {
      closing ??= shutDown();
      return closing;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
  return { client, firstOpen: firstOpen.promise };
}

function closedError(): SynodError {
  return new SynodError('client.closed', 'this client is closed; connect() gives a new one');
}
