/**
 * The terminal face as a program: a connected client in, a person at the keyboard, and the terminal as
 * it was when it ends, whichever way it ends [TU6]. It speaks to the hub through the client alone.
 */
import type { ReadStream, WriteStream } from 'node:tty';
import type { Client } from '../client/index.ts';
import { type Desk, enter, openThread } from './carry-out.ts';
import { choose, complete } from './completion.ts';
import { createDecider } from './decide.ts';
import { type Action, actionsOf } from './keys.ts';
import { layoutOf, type Size } from './layout.ts';
import { paint } from './paint.ts';
import { isTypingCommand } from './palette.ts';
import { scrollMaxOf } from './screen.ts';
import { openSession } from './session.ts';
import { type ChatState, findChannel, initialState, type Panel } from './state.ts';
import { createStore } from './store.ts';
import { openTerminal } from './terminal.ts';
import { CHOICE_ROWS } from './thread-lines.ts';

export interface ChatOptions {
  /** Connected. It is closed when the chat ends. */
  readonly client: Client;
  /** Joined at the start; the first of them is shown. */
  readonly channels: readonly string[];
  readonly hasColour: boolean;
  readonly signal: AbortSignal;
  /** A terminal, both of them. */
  readonly input: ReadStream;
  readonly output: WriteStream;
}

/** Much may change at once, and keys come one by one: the screen follows so often at most. */
const FRAME_MS = 15;

/** Resolves when somebody left, with the terminal restored and the client closed. */
export async function runChat(options: ChatOptions): Promise<void> {
  const { client, channels, hasColour, signal, input, output } = options;
  const store = createStore(initialState(await client.whoami(), Date.now() / 1000));
  const session = await openSession({ client, store, channels });
  const left = Promise.withResolvers<void>();
  const decider = createDecider(client, store);
  const desk: Desk = { client, store, session, decider, quit: () => left.resolve() };
  signal.addEventListener('abort', desk.quit);
  if (signal.aborted) desk.quit();
  let frame: NodeJS.Timeout | null = null;
  const terminal = openTerminal({
    input,
    output,
    onKey(key) {
      for (const action of actionsOf(key)) act(desk, action, terminal.size());
    },
    onPaste: (text) => store.dispatch({ type: 'edited', change: { edit: 'insert', text } }),
    onResize: redraw,
    onGone: desk.quit,
  });
  function redraw(): void {
    frame ??= setTimeout(draw, FRAME_MS);
  }
  function draw(): void {
    frame = null;
    terminal.draw(paint(store.state(), terminal.size(), hasColour));
  }
  const stopWatching = store.watch(redraw);
  try {
    draw();
    await left.promise;
  } finally {
    signal.removeEventListener('abort', desk.quit);
    stopWatching();
    if (frame !== null) clearTimeout(frame);
    terminal.close();
    await session.close();
  }
}

function act(desk: Desk, action: Action, size: Size): void {
  const { store, session } = desk;
  const state = store.state();
  // While something is typed unseen, nothing else is done with it.
  if (state.unseen !== null && action.do !== 'quit') {
    if (action.do === 'back') return desk.decider.cancel();
    if (action.do !== 'edit' && action.do !== 'enter') return;
  }
  if (state.panel.kind === 'list' && pick(desk, action, size)) return;
  switch (action.do) {
    case 'edit':
      return store.dispatch({ type: 'edited', change: action.change });
    case 'enter':
      return enter(desk);
    case 'complete':
      return completeLine(desk, action.step);
    case 'quit':
      return desk.quit();
    case 'back':
      if (isTypingCommand(state)) store.dispatch({ type: 'edited', change: { edit: 'clear' } });
      return store.dispatch({ type: 'opened', panel: behind(state) });
    case 'thread':
      if (state.panel.kind === 'thread') {
        return store.dispatch({ type: 'opened', panel: behind(state) });
      }
      return void openThread(desk, null).catch(session.complain);
    case 'older':
    case 'newer': {
      const layout = layoutOf(size);
      const page = Math.max(1, layout.body - 2);
      const most = scrollMaxOf(state, layout);
      store.dispatch({
        type: 'scrolled',
        by: action.do === 'older' ? page : -page,
        most,
      });
      if (action.do === 'older' && store.state().scroll >= most) session.loadOlder();
      return;
    }
    case 'channel':
      return turn(desk, action.step, () => true);
    case 'unread':
      return turn(desk, 1, (name) => (findChannel(state, name)?.unread ?? 0) > 0);
    case 'panel': {
      const isOpen = state.panel.kind === action.kind;
      return store.dispatch({ type: 'opened', panel: { kind: isOpen ? 'talk' : action.kind } });
    }
  }
}

/** Where Escape leads: from a thread to the list it was chosen in, else to the talk. */
function behind({ panel }: ChatState): Panel {
  return (panel.kind === 'thread' ? panel.from : null) ?? { kind: 'talk' };
}

/** Keys that choose in a list, as long as nothing is typed; whether it was one. */
function pick(desk: Desk, action: Action, size: Size): boolean {
  const { store, session } = desk;
  const { input, threads } = store.state();
  const step = stepOf(action, Math.max(1, Math.floor(layoutOf(size).body / CHOICE_ROWS) - 1));
  const isTyping = input.text !== '';
  if (step !== 0 && (!isTyping || action.do !== 'edit')) {
    store.dispatch({ type: 'chosen', by: step });
    return true;
  }
  const chosen = threads.choices[threads.at];
  if (action.do !== 'enter' || isTyping || chosen === undefined) return false;
  void openThread(desk, chosen.id).catch(session.complain);
  return true;
}

function stepOf(action: Action, page: number): number {
  if (action.do === 'older') return -page;
  if (action.do === 'newer') return page;
  if (action.do !== 'edit') return 0;
  return action.change.edit === 'older' ? -1 : action.change.edit === 'newer' ? 1 : 0;
}

/** To the next channel, in a circle, that is wanted. */
function turn({ store }: Desk, step: 1 | -1, isWanted: (name: string) => boolean): void {
  const { channels, focus } = store.state();
  const names = channels.map(({ name }) => name);
  const at = names.indexOf(focus ?? '');
  for (let i = 1; i <= names.length; i++) {
    const name = names.at((at + i * step) % names.length);
    if (name === undefined || name === focus || !isWanted(name)) continue;
    return store.dispatch({ type: 'focused', channel: name });
  }
}

function completeLine({ store }: Desk, step: 1 | -1): void {
  const state = store.state();
  const { text, cursor } = state.input;
  const to =
    state.choices === null ? complete(text, cursor, wordsOf(state)) : choose(state.choices, step);
  store.dispatch({ type: 'completed', to });
}

function wordsOf(state: ChatState): Parameters<typeof complete>[2] {
  const talk = findChannel(state, state.focus)?.talk ?? [];
  return {
    channels: [...state.channels.map(({ name }) => name), ...state.others],
    agents: state.agents.map((one) => one.agent_id).filter((name) => name !== state.me.agent_id),
    messages: talk.map(({ id }) => id).toReversed(),
    docket: state.docket.flatMap(({ item_id: id, subjects }) => [
      id,
      ...subjects.map(({ subject }) => subject),
    ]),
  };
}
