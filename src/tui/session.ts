/**
 * The hub behind the screen: live streams in, questions when something may have changed, and the
 * truth about reading. What a stream shows is presented; only what somebody turned to is taken from
 * the inbox and so counts as read [TU5]. After a break everything is asked for again, so that
 * nothing is missing and nothing twice [TU3].
 */
import { setTimeout as pause } from 'node:timers/promises';
import { readAfter, readBefore, readTail } from '../client/history.ts';
import { type Client, type LiveStream, SynodError } from '../client/index.ts';
import { type ReceiptSeen, seenIn } from './receipts.ts';
import { findChannel, type Panel } from './state.ts';
import type { Store } from './store.ts';
import { type Said, saidOf, TALK_MESSAGES_MAX } from './talk.ts';
import { createThreadDesk, type ThreadDesk } from './thread-desk.ts';

export interface ChatSession {
  /** Fetches what was said before; for a talk that was scrolled to its top. */
  loadOlder(): void;
  /** Asks for channels, agents and claims again. */
  refresh(): Promise<void>;
  /** Asks where these of my messages stand. */
  askReceipts(talk: readonly Said[]): Promise<void>;
  readonly threads: ThreadDesk;
  /** What went wrong, on the status line. */
  complain(error: unknown): void;
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly client: Client;
  readonly store: Store;
  /** To be joined at the start. */
  readonly channels: readonly string[];
}

/** Where a person goes who follows nothing yet. */
const FIRST_CHANNEL = 'general';
const NEWS: readonly string[] = ['sox/presence', 'sox/claims'];
const LOOK_EVERY_MS = 3_000;
/** What was decided elsewhere is off this screen within a second. */
const DOCKET_EVERY_MS = 900;
const GATHER_MS = 20;
const ASK_AFTER_MS = 60;
const DRAIN_MESSAGES = 200;
const RECEIPTS_ASKED_MAX = 30;
const ROWS_MAX = 500;
const PLAN_ROWS = 50;
const DOCKET_ROWS = 100;
const GOODBYE_MS = 1_000;

export async function openSession(options: SessionOptions): Promise<ChatSession> {
  const { client, store } = options;
  const { replay } = client;
  const stopping = new AbortController();
  const { signal } = stopping;
  const busy = new Set<string>();

  /** Does it unless it is being done; what goes wrong is said and not thrown. */
  function once(what: string, work: () => Promise<void>): void {
    if (busy.has(what) || signal.aborted) return;
    busy.add(what);
    void work().then(
      () => {
        busy.delete(what);
        attend();
      },
      (error: unknown) => {
        complain(error);
        // What failed is tried again with the next look, not at once.
        busy.delete(what);
      },
    );
  }

  function complain(error: unknown): void {
    if (signal.aborted) return;
    const { code } = error instanceof SynodError ? error : { code: '' };
    // The bar tells of a line that is down; what was asked then is asked again when it is up.
    const isTold = store.state().link !== 'open' && code === 'request.timeout';
    if (isTold || /^(connection|client)\./.test(code)) return;
    const text = error instanceof Error ? error.message : String(error);
    store.say(text, true);
  }

  const askOwed = later(ASK_AFTER_MS, () => once('owed', lookAtInbox));
  const threads = createThreadDesk(client, store);
  const askThreads = later(ASK_AFTER_MS, () => once('threads', threads.look));
  const askAround = later(ASK_AFTER_MS, () => once('around', lookAround));
  const gathered: Said[] = [];
  const changed: ReceiptSeen[] = [];
  const flush = later(GATHER_MS, () => {
    if (changed.length > 0) store.dispatch({ type: 'receipts', seen: changed.splice(0) });
    if (gathered.length === 0) return;
    const messages = gathered.splice(0);
    store.dispatch({ type: 'said', messages });
    askOwed();
    askThreads();
    // Said in another window of mine: nobody told this one who is owed it.
    void askReceipts(messages).catch(complain);
  });

  async function lookAtInbox(): Promise<void> {
    const { channels } = await client.peek();
    store.dispatch({
      type: 'owed',
      channels: new Map(channels.map(({ channel, owed }) => [channel, owed])),
    });
  }

  async function lookAround(): Promise<void> {
    const [{ agents }, { claims, waits }, { tasks }, visible] = await Promise.all([
      client.call('presence.list', { limit: ROWS_MAX }),
      client.call('claims.list', { limit: ROWS_MAX }),
      client.call('plan.board', { limit: PLAN_ROWS }),
      client.channels(),
    ]);
    store.dispatch({ type: 'ticked', now: Date.now() / 1000 });
    store.dispatch({ type: 'agents', agents });
    store.dispatch({ type: 'work', claims, waits, tasks });
    list(
      store.state().channels.map(({ name }) => name),
      visible.map(({ name }) => name),
    );
  }

  async function lookAtDocket(): Promise<void> {
    const { items } = await client.call('docket.list', { limit: DOCKET_ROWS });
    store.dispatch({ type: 'docket', items });
  }

  async function lookAtChannels(): Promise<void> {
    const [me, visible] = await Promise.all([client.whoami(), client.channels()]);
    store.dispatch({ type: 'met', me });
    // Subscribing again changes nothing and tells which channels a pattern stands for.
    const found = await Promise.all(me.subscriptions.map((one) => client.subscribeTo(one)));
    list(
      found.flatMap(({ subscribed }) => subscribed),
      visible.map(({ name }) => name),
    );
  }

  /** Private channels and groups are seen by those alone who are on them. */
  function list(joined: readonly string[], visible: readonly string[]): void {
    const mine = new Set([...joined, ...visible.filter((name) => /^(dm|group)\//.test(name))]);
    const others = visible.filter((name) => !mine.has(name) && !name.startsWith('sox/'));
    store.dispatch({ type: 'channels', joined: [...mine], others });
  }

  async function refresh(): Promise<void> {
    await lookAtChannels();
    await Promise.all([lookAtInbox(), lookAround(), lookAtDocket()]);
  }

  /** What was said while the line was down, and what became of my messages meanwhile. */
  async function catchUp(): Promise<void> {
    await refresh();
    for (const { name, talk, isLoaded } of store.state().channels) {
      const last = talk.at(-1);
      if (!isLoaded || last === undefined) continue;
      for await (const messages of readAfter(replay, name, last.seq)) {
        store.dispatch({ type: 'said', messages: messages.map(saidOf) });
      }
    }
    const channel = findChannel(store.state(), store.state().focus);
    if (channel !== undefined) await askReceipts(channel.talk);
    await threads.look();
  }

  /** Changes are pushed and not kept, so where my messages stand is asked for when they come into view. */
  async function askReceipts(talk: readonly Said[]): Promise<void> {
    const me = store.state().me.agent_id;
    const mine = talk.filter(({ sender }) => sender === me).slice(-RECEIPTS_ASKED_MAX);
    const answers = await Promise.all(
      mine.map(async ({ id }) => seenIn(id, await client.receiptsOf(id))),
    );
    store.dispatch({ type: 'receipts', seen: answers.flat() });
  }

  /** Sees to what the screen shows: its history, and that the hub hears it was read. */
  function attend(): void {
    const { focus, link, scroll, panel } = store.state();
    const channel = findChannel(store.state(), focus);
    if (channel === undefined || link !== 'open') return;
    const { name, unread, isLoaded } = channel;
    if (!isLoaded) once(`load ${name}`, () => load(name));
    else if (unread > 0 && scroll === 0 && isShown(panel, name)) once('read', () => read(name));
  }

  async function load(channel: string): Promise<void> {
    try {
      const { messages: found, isWhole } = await readTail(replay, channel);
      const messages = found.map(saidOf);
      store.dispatch({ type: 'history', channel, messages, isWhole });
      askThreads();
      await askReceipts(messages);
    } catch (error) {
      if (client.state !== 'open') return;
      // A history that may not be read is no reason to ask again and again.
      store.dispatch({ type: 'history', channel, messages: [], isWhole: true });
      throw error;
    }
  }

  async function read(channel: string): Promise<void> {
    const { messages } = await client.recv({
      channels: [channel],
      max_messages: DRAIN_MESSAGES,
      include_meta: false,
    });
    store.dispatch({ type: 'said', messages: messages.map(saidOf) });
    await lookAtInbox();
    // Owed but not handed out, such as what is leased elsewhere: that is not to be hurried.
    if (messages.length === 0) await pause(LOOK_EVERY_MS, undefined, { signal });
  }

  function loadOlder(): void {
    const channel = findChannel(store.state(), store.state().focus);
    if (channel === undefined || channel.isWhole || !channel.isLoaded) return;
    const { name, talk } = channel;
    const before = talk[0]?.seq ?? 1;
    if (talk.length + DRAIN_MESSAGES > TALK_MESSAGES_MAX) {
      return store.say(`the rest is further back: synod replay ${name} --until ${before - 1}`);
    }
    once(`load ${name}`, async () => {
      const { messages, isWhole } = await readBefore(replay, name, before);
      const said = messages.map(saidOf);
      store.dispatch({ type: 'history', channel: name, messages: said, isWhole });
      askThreads();
    });
  }

  async function follow<T>(stream: LiveStream<T>, take: (one: T) => void): Promise<void> {
    try {
      for await (const one of stream) take(one);
    } catch (error) {
      complain(error);
    }
  }

  for (const channel of options.channels) await client.subscribeTo(channel);
  const { subscriptions } = await client.whoami();
  if (subscriptions.length === 0) await client.subscribeTo(FIRST_CHANNEL);
  const stopState = client.onState((state, error) => {
    store.dispatch({ type: 'link', state, reason: error?.message ?? null });
    if (state === 'open') once('catch up', catchUp);
  });
  const stopPresence = client.keepPresence('online', { onError: complain });
  const inbox = client.messages({ from: 'inbox', commit: 'manual', signal });
  const streams = [
    follow(inbox, (message) => {
      gathered.push(saidOf(message));
      flush();
    }),
    follow(client.messages({ channels: NEWS, from: 'now', signal }), askAround),
    follow(client.receipts({ signal }), ({ message_id: message, agent_id: agent, state }) => {
      // One's own receipts of what others said are told too, and are no news here.
      if (agent === store.state().me.agent_id) return;
      changed.push({ message, agent, state });
      flush();
    }),
  ];
  // People are told that something moved, marks among it; everybody else looks from time to time.
  const isPerson = /^(human|admin)$/.test(store.state().me.kind);
  if (isPerson) {
    const changes = follow(client.changes({ signal }), ({ nouns }) => {
      if (nouns === 'all' || nouns.includes('messages')) askThreads();
    });
    streams.push(changes);
  }
  await inbox.ready;
  store.dispatch({ type: 'link', state: client.state, reason: null });
  await refresh();
  const [wanted] = options.channels;
  if (wanted !== undefined) store.dispatch({ type: 'focused', channel: wanted });
  const stopWatching = store.watch(attend);
  attend();
  const timer = setInterval(() => {
    store.dispatch({ type: 'ticked', now: Date.now() / 1000 });
    if (store.state().link !== 'open') return;
    askAround();
    if (!isPerson) askThreads();
  }, LOOK_EVERY_MS);
  const docketTimer = setInterval(() => {
    if (store.state().link === 'open') once('docket', lookAtDocket);
  }, DOCKET_EVERY_MS);

  return {
    loadOlder,
    refresh,
    askReceipts,
    threads,
    complain,
    async close() {
      stopping.abort();
      clearInterval(timer);
      clearInterval(docketTimer);
      for (const stop of [stopWatching, stopState, stopPresence]) stop();
      // Whoever leaves says so; a hub that is away finds out by itself.
      if (client.state === 'open') {
        const goodbye = client.call(
          'channels.heartbeat',
          { status: 'offline' },
          { timeoutMs: GOODBYE_MS },
        );
        await goodbye.catch(() => {});
      }
      await client.close();
      await Promise.all(streams);
    },
  };
}

function isShown(panel: Panel, channel: string): boolean {
  return panel.kind === 'talk' || (panel.kind === 'thread' && panel.channel === channel);
}

/** Does it once, a moment after it was first asked for. */
function later(afterMs: number, work: () => void): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      work();
    }, afterMs);
  };
}
