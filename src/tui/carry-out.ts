/**
 * What becomes of a line that was entered: a message to the hub, a question to it, or another panel.
 * A refusal of the hub is shown with its own words; what was typed can be fetched back with Up.
 */

import type { Client } from '../client/index.ts';
import { channelLabel, privateChannel } from '../client/names.ts';
import { type Command, type Problem, parseCommand } from './commands.ts';
import type { Decider } from './decide.ts';
import { boardLines, receiptLines } from './panel-lines.ts';
import { seenIn } from './receipts.ts';
import type { ChatSession } from './session.ts';
import { EMPTY, line, type ScreenLine } from './spans.ts';
import { type ChatState, findChannel, type Panel } from './state.ts';
import type { Store } from './store.ts';
import { type Said, saidOf } from './talk.ts';
import { gist } from './talk-lines.ts';
import type { MarkWord } from './threads.ts';

export interface Desk {
  readonly client: Client;
  readonly store: Store;
  readonly session: ChatSession;
  readonly decider: Decider;
  quit(): void;
}

const BOARD_ROWS = 200;
let lastKey = 0;

/** Takes what stands on the input line. */
export function enter(desk: Desk): void {
  const { store, session, decider } = desk;
  const { unseen, input } = store.state();
  const { text } = input;
  if (unseen !== null) return decider.typed(text);
  const command = parseCommand(text);
  store.dispatch({ type: 'entered' });
  if (command === null) return;
  if (isProblem(command)) {
    // It stays on the line, to be mended.
    store.dispatch({ type: 'edited', change: { edit: 'set', text, cursor: text.length } });
    store.say(command.problem, true);
    return;
  }
  void carryOut(desk, command).catch(session.complain);
}

function isProblem(command: Command | Problem): command is Problem {
  return 'problem' in command;
}

async function carryOut(desk: Desk, command: Command): Promise<void> {
  const { client, store } = desk;
  const state = store.state();
  switch (command.do) {
    case 'send':
      return sendHere(desk, command.text);
    case 'msg':
      return tell(desk, command.agent, command.text);
    case 'reply': {
      const said = findMessage(state, command.message);
      const channel = said?.channel ?? state.focus;
      if (channel === null) return store.say('there is no channel to answer on; /join one', true);
      return send(desk, channel, command.text, command.message);
    }
    case 'join':
      return join(desk, command.channel ?? '');
    case 'leave':
      return leave(desk, command.channel ?? state.focus);
    case 'go':
      return go(desk, command.channel ?? '');
    case 'thread':
      return openThread(desk, command.message);
    case 'receipts':
      return showReceipts(desk, command.message);
    case 'ack': {
      await client.ack(command.message, command.status, command.reason ?? undefined);
      return store.say(`acked ${command.message}: ${command.status}`);
    }
    case 'search':
      return desk.session.threads.search(command.text);
    case 'threads':
      if (state.focus === null) return store.say('there is no channel to list; /join one', true);
      return desk.session.threads.list(state.focus, command.only);
    case 'pin':
    case 'unpin':
    case 'close':
    case 'reopen':
    case 'resolve':
    case 'unresolve':
      return mark(desk, command.do, command.id, command.note);
    case 'board': {
      const { tasks, totals } = await client.call('plan.board', { limit: BOARD_ROWS });
      const counts = Object.entries(totals).flatMap(([status, count]) =>
        count > 0 ? [`${count} ${status}`] : [],
      );
      return open(store, {
        kind: 'text',
        title: `Board: ${counts.join(', ')}`,
        lines: boardLines(tasks),
      });
    }
    case 'approve':
    case 'deny':
      return done(desk, desk.decider.decide(command.id, command.do, command.reason));
    case 'answer':
      return done(desk, desk.decider.answer(command.item, command.text));
    case 'docket':
    case 'claims':
    case 'who':
    case 'help':
      return open(store, { kind: command.do });
    case 'quit':
      return desk.quit();
  }
}

/** Of the thread that is named, open or chosen; an item of the docket is closed the same way. */
async function mark(
  desk: Desk,
  word: MarkWord,
  id: string | null,
  note: string | null,
): Promise<void> {
  const { store, session, decider } = desk;
  if (id?.startsWith('d')) return done(desk, decider.close(id, note));
  const { panel, threads } = store.state();
  const open = panel.kind === 'thread' ? panel.root : null;
  const chosen = panel.kind === 'list' ? threads.choices[threads.at]?.id : null;
  const message = id ?? open ?? chosen ?? null;
  if (message === null) return store.say(`say which: /${word} ID, or /thread ID first`, true);
  store.say(await session.threads.mark(message, word, note));
}

/** What was done about the docket, and what is left on it. */
async function done({ store, session }: Desk, work: Promise<string>): Promise<void> {
  const said = await work;
  await session.refresh();
  store.say(said);
}

function open(store: Store, panel: Panel): void {
  store.dispatch({ type: 'opened', panel });
}

async function sendHere(desk: Desk, text: string): Promise<void> {
  const { panel, focus } = desk.store.state();
  if (panel.kind === 'thread') return send(desk, panel.channel, text, panel.root);
  if (focus === null) return desk.store.say('there is no channel to speak on; /join one', true);
  if (panel.kind !== 'talk') open(desk.store, { kind: 'talk' });
  return send(desk, focus, text, null);
}

/** Lands once, also when the hub restarts meanwhile; until then it stands on the screen as being sent. */
async function send(
  { client, store, session }: Desk,
  channel: string,
  text: string,
  replyTo: string | null,
): Promise<void> {
  const key = ++lastKey;
  store.dispatch({ type: 'sending', sending: { key, channel, text, replyTo } });
  try {
    const answer = await client.send(
      channel,
      { text },
      replyTo === null ? {} : { reply_to: replyTo },
    );
    const sender = store.state().me.agent_id;
    const said = saidOf({ ...answer, channel, sender, body: { text }, reply_to: replyTo });
    if (findChannel(store.state(), channel) !== undefined)
      store.dispatch({ type: 'said', messages: [said] });
    void session.askReceipts([said]).catch(session.complain);
    // In a thread it stands as being sent until the thread has it.
    if (store.state().panel.kind === 'thread') await session.threads.look().catch(session.complain);
    const { state, queue_depth: depth } = answer.backpressure;
    if (state !== 'ok') store.say(`sent; ${depth} messages wait unread on ${channel}`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    store.say(`not sent: ${why}; Up brings it back`, true);
  } finally {
    store.dispatch({ type: 'sent', key });
  }
}

async function tell(desk: Desk, agent: string, text: string): Promise<void> {
  const { store } = desk;
  const { me, agents } = store.state();
  const name = agent.replace(/^@/, '');
  if (name === me.agent_id) return store.say('that is you', true);
  if (!agents.some((one) => one.agent_id === name)) {
    return store.say(`nobody is called ${name}; /who lists everybody`, true);
  }
  const channel = privateChannel(me.agent_id, name);
  store.dispatch({ type: 'joined', channel });
  store.dispatch({ type: 'focused', channel });
  return send(desk, channel, text, null);
}

async function join({ client, store, session }: Desk, pattern: string): Promise<void> {
  const { subscribed } = await client.subscribeTo(pattern);
  const [first] = subscribed;
  await session.refresh();
  const channel = subscribed.includes(pattern) ? pattern : first;
  if (channel === undefined)
    return store.say(`nothing matches ${pattern} yet; what comes will show`);
  store.dispatch({ type: 'focused', channel });
  const more = subscribed.length > 1 ? ` (${subscribed.length} channels)` : '';
  store.say(`joined ${pattern}${more}`);
}

async function leave({ client, store, session }: Desk, channel: string | null): Promise<void> {
  if (channel === null) return store.say('there is no channel to leave', true);
  const { unsubscribed, pending_cleared: cleared } = await client.unsubscribeFrom(channel);
  if (unsubscribed.length === 0) {
    const text = `${channel} comes by a pattern, or is private; leave the pattern: /leave PATTERN`;
    return store.say(text, true);
  }
  store.dispatch({ type: 'left', channel });
  await session.refresh();
  store.say(`left ${channel}${cleared > 0 ? `, ${cleared} unread with it` : ''}`);
}

async function go({ store }: Desk, wanted: string): Promise<void> {
  const { channels, me } = store.state();
  const found = channels.find(
    ({ name }) => name === wanted || channelLabel(name, me.agent_id) === wanted,
  );
  if (found !== undefined) store.dispatch({ type: 'focused', channel: found.name });
  else store.say(`you do not follow ${wanted}; /join ${wanted}`, true);
}

/** Without an id: the thread that was answered last. */
export async function openThread({ store, session }: Desk, wanted: string | null): Promise<void> {
  const state = store.state();
  const talk = findChannel(state, state.focus)?.talk ?? [];
  const id = wanted ?? talk.findLast(({ replyTo }) => replyTo !== null)?.id ?? null;
  if (id === null)
    return store.say('nothing was answered here yet; /thread ID begins with one', true);
  return session.threads.open(id);
}

async function showReceipts({ client, store }: Desk, wanted: string | null): Promise<void> {
  const state = store.state();
  const talk = findChannel(state, state.focus)?.talk ?? [];
  const id = wanted ?? talk.findLast(({ sender }) => sender === state.me.agent_id)?.id ?? null;
  if (id === null) return store.say('you said nothing here yet; /receipts ID', true);
  const receipts = await client.receiptsOf(id);
  store.dispatch({ type: 'receipts', seen: seenIn(id, receipts) });
  const said = findMessage(state, id);
  const head: ScreenLine[] = said === undefined ? [] : [line(gist(said), { dim: true }), EMPTY];
  open(store, {
    kind: 'text',
    title: `Receipts of ${id}`,
    lines: [...head, ...receiptLines(receipts, state.colours)],
  });
}

function findMessage(state: ChatState, id: string): Said | undefined {
  for (const { talk } of state.channels) {
    const found = talk.find((said) => said.id === id);
    if (found !== undefined) return found;
  }
  return undefined;
}
