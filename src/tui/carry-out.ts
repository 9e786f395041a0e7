/**
 * What becomes of a line that was entered: a message to the hub, a question to it, or another panel.
 * A refusal of the hub is shown with its own words; what was typed can be fetched back with Up.
 */

import { readAfter, SEARCH_MESSAGES_MAX } from '../client/history.ts';
import type { Client } from '../client/index.ts';
import { channelLabel, privateChannel } from '../client/names.ts';
import { type Command, type Problem, parseCommand } from './commands.ts';
import type { Decider } from './decide.ts';
import { boardLines, receiptLines } from './panel-lines.ts';
import { seenIn } from './receipts.ts';
import type { ChatSession } from './session.ts';
import { EMPTY, line, type ScreenLine, span } from './spans.ts';
import { type ChatState, findChannel, type Panel } from './state.ts';
import type { Store } from './store.ts';
import { rootOf, type Said, saidOf } from './talk.ts';
import { gist } from './talk-lines.ts';

export interface Desk {
  readonly client: Client;
  readonly store: Store;
  readonly session: ChatSession;
  readonly decider: Decider;
  quit(): void;
}

const BOARD_ROWS = 200;
const FOUND_MAX = 200;
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
      return search(desk, command.text);
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
    case 'close':
      return done(desk, desk.decider.close(command.id, command.reason));
    case 'docket':
    case 'claims':
    case 'who':
    case 'help':
      return open(store, { kind: command.do });
    case 'quit':
      return desk.quit();
  }
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
  if (focus === null) return desk.store.say('there is no channel to speak on; /join one', true);
  if (panel.kind === 'thread') return send(desk, focus, text, panel.root);
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
  store.dispatch({ type: 'sending', sending: { key, channel, text } });
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

async function openThread({ store }: Desk, wanted: string | null): Promise<void> {
  const state = store.state();
  const talk = findChannel(state, state.focus)?.talk ?? [];
  // Without an id: the thread that was answered last.
  const id = wanted ?? talk.findLast(({ replyTo }) => replyTo !== null)?.id ?? null;
  if (id === null)
    return store.say('nothing was answered here yet; /thread ID begins with one', true);
  const said = findMessage(state, id);
  if (said === undefined)
    return store.say(`${id} is not among what is loaded; scroll up to it`, true);
  if (said.channel !== state.focus) store.dispatch({ type: 'focused', channel: said.channel });
  const all = findChannel(store.state(), said.channel)?.talk ?? [];
  open(store, { kind: 'thread', root: rootOf(all, id) });
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

/** The newest part of the channel, from the hub and not only from the screen. */
async function search({ client, store }: Desk, text: string): Promise<void> {
  const { focus } = store.state();
  const channel = findChannel(store.state(), focus);
  if (channel === undefined) return store.say('there is no channel to search', true);
  store.say(`searching ${channel.name}…`);
  const last = channel.talk.at(-1)?.seq ?? 0;
  const wanted = text.toLowerCase();
  const found: Said[] = [];
  const from = Math.max(0, last - SEARCH_MESSAGES_MAX);
  for await (const page of readAfter(client.replay, channel.name, from)) {
    found.push(
      ...page
        .map(saidOf)
        .filter(
          (said) =>
            gist(said).toLowerCase().includes(wanted) || said.text.toLowerCase().includes(wanted),
        ),
    );
  }
  const shown = found.slice(-FOUND_MAX);
  const lines: ScreenLine[] = shown.map((said) => [
    span(`${said.id} `, { dim: true }),
    span(gist(said)),
  ]);
  const title = `${found.length} with "${text}" in ${channel.name}${from > 0 ? ', newest part' : ''}`;
  open(store, {
    kind: 'text',
    title,
    lines: lines.length > 0 ? lines : [line('Nothing.', { dim: true })],
  });
}

function findMessage(state: ChatState, id: string): Said | undefined {
  for (const { talk } of state.channels) {
    const found = talk.find((said) => said.id === id);
    if (found !== undefined) return found;
  }
  return undefined;
}
