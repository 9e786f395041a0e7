/**
 * Everything the screen shows, as one value, and what each event makes of it. Pure: no clock, no
 * hub, no terminal. Whatever arrives twice or out of order comes to the same [TU3]; every list
 * has a bound.
 */
import type { CallOutput, ConnectionState } from '../client/index.ts';
import { compareChannels } from '../client/names.ts';
import { type Colours, giveColours } from './colours.ts';
import type { Choices, Completed } from './completion.ts';
import { type Edit, editLine, type InputLine, NO_INPUT, sendLine } from './input-line.ts';
import { noteReceipts, type ReceiptSeen, type Receipts } from './receipts.ts';
import type { ScreenLine } from './spans.ts';
import { mergeTalk, type Said } from './talk.ts';
import {
  evolveThreads,
  type ListPanel,
  NO_THREADS,
  type ThreadEvent,
  type ThreadPanel,
  type Threads,
} from './threads.ts';

export type Me = Pick<CallOutput<'hub.whoami'>, 'agent_id' | 'kind' | 'tier' | 'space'>;
export type AgentRow = CallOutput<'presence.list'>['agents'][number];
export type ClaimRow = CallOutput<'claims.list'>['claims'][number];
export type WaitRow = CallOutput<'claims.list'>['waits'][number];
export type DocketItem = CallOutput<'docket.list'>['items'][number];
export type TaskRow = CallOutput<'plan.board'>['tasks'][number];

export interface Channel {
  readonly name: string;
  readonly talk: readonly Said[];
  /** Owed and not yet read, as the hub counts it. */
  readonly unread: number;
  /** What was new when somebody last turned to it: the first number. */
  readonly newFrom: number | null;
  /** Whether its history was asked for. */
  readonly isLoaded: boolean;
  /** Whether nothing older is left to load. */
  readonly isWhole: boolean;
}

/** What stands in the centre. */
export type Panel =
  | { readonly kind: 'talk' | 'claims' | 'who' | 'help' | 'docket' }
  | ListPanel
  | ThreadPanel
  | { readonly kind: 'text'; readonly title: string; readonly lines: readonly ScreenLine[] };

export interface Sending {
  readonly key: number;
  readonly channel: string;
  readonly text: string;
  readonly replyTo: string | null;
}

export interface Notice {
  readonly text: string;
  readonly isProblem: boolean;
}

export interface ChatState {
  readonly me: Me;
  readonly link: ConnectionState;
  /** Why the link is down, when it is. */
  readonly linkReason: string | null;
  /** Joined, in the order they are listed. */
  readonly channels: readonly Channel[];
  /** Seen and not joined. */
  readonly others: readonly string[];
  readonly focus: string | null;
  readonly agents: readonly AgentRow[];
  readonly claims: readonly ClaimRow[];
  readonly waits: readonly WaitRow[];
  /** The beginning of the plan. */
  readonly tasks: readonly TaskRow[];
  /** What waits for a person, as far as it was asked for. */
  readonly docket: readonly DocketItem[];
  readonly colours: Colours;
  readonly receipts: ReadonlyMap<string, Receipts>;
  readonly threads: Threads;
  readonly sending: readonly Sending[];
  readonly panel: Panel;
  /** Lines between the bottom of the talk and the bottom of the panel. */
  readonly scroll: number;
  /** While somebody reads further up: the newest number that is shown, so that nothing moves. */
  readonly upTo: number | null;
  readonly notice: Notice | null;
  readonly input: InputLine;
  /** What is to be typed unseen; null when nothing is. */
  readonly unseen: string | null;
  /** What Tab goes through. */
  readonly choices: Choices | null;
  /** What was begun on other channels, and not sent. */
  readonly drafts: ReadonlyMap<string, string>;
  /** Unix seconds, as last told. */
  readonly now: number;
}

export type ChatEvent =
  | ThreadEvent
  | { readonly type: 'link'; readonly state: ConnectionState; readonly reason: string | null }
  | { readonly type: 'met'; readonly me: Me }
  | {
      readonly type: 'channels';
      readonly joined: readonly string[];
      readonly others: readonly string[];
    }
  | { readonly type: 'joined' | 'left' | 'focused'; readonly channel: string }
  | { readonly type: 'said'; readonly messages: readonly Said[] }
  | {
      readonly type: 'history';
      readonly channel: string;
      readonly messages: readonly Said[];
      readonly isWhole: boolean;
    }
  | { readonly type: 'owed'; readonly channels: ReadonlyMap<string, number> }
  | { readonly type: 'agents'; readonly agents: readonly AgentRow[] }
  | {
      readonly type: 'work';
      readonly claims: readonly ClaimRow[];
      readonly waits: readonly WaitRow[];
      readonly tasks: readonly TaskRow[];
    }
  | { readonly type: 'docket'; readonly items: readonly DocketItem[] }
  /** What is typed from now on is shown to nobody, and kept nowhere; null ends it. */
  | { readonly type: 'asked'; readonly question: string | null }
  | { readonly type: 'receipts'; readonly seen: readonly ReceiptSeen[] }
  | { readonly type: 'sending'; readonly sending: Sending }
  | { readonly type: 'sent'; readonly key: number }
  | { readonly type: 'opened'; readonly panel: Panel }
  | { readonly type: 'scrolled'; readonly by: number; readonly most: number }
  | { readonly type: 'noticed'; readonly notice: Notice | null }
  | { readonly type: 'edited'; readonly change: Edit }
  | { readonly type: 'completed'; readonly to: Completed }
  | { readonly type: 'entered' }
  | { readonly type: 'ticked'; readonly now: number };

export const CHANNELS_MAX = 500;
const OTHERS_MAX = 500;
const ROWS_MAX = 500;
const SENDING_MAX = 100;

export function initialState(me: Me, now: number): ChatState {
  return {
    me,
    link: 'connecting',
    linkReason: null,
    channels: [],
    others: [],
    focus: null,
    agents: [],
    claims: [],
    waits: [],
    tasks: [],
    docket: [],
    colours: new Map(),
    receipts: new Map(),
    threads: NO_THREADS,
    sending: [],
    panel: { kind: 'talk' },
    scroll: 0,
    upTo: null,
    notice: null,
    input: NO_INPUT,
    unseen: null,
    choices: null,
    drafts: new Map(),
    now,
  };
}

export function evolve(state: ChatState, event: ChatEvent): ChatState {
  switch (event.type) {
    case 'link':
      // Trying again does not make the reason go away; being back does.
      return {
        ...state,
        link: event.state,
        linkReason: event.state === 'open' ? null : (event.reason ?? state.linkReason),
      };
    case 'met':
      return { ...state, me: event.me };
    case 'channels':
      return withChannels(
        { ...state, others: event.others.slice(0, OTHERS_MAX) },
        event.joined.map((name) => findChannel(state, name) ?? newChannel(name)),
      );
    case 'joined':
      if (findChannel(state, event.channel) !== undefined) return state;
      return withChannels(
        { ...state, others: state.others.filter((name) => name !== event.channel) },
        [...state.channels, newChannel(event.channel)],
      );
    case 'left':
      return withChannels(
        state,
        state.channels.filter(({ name }) => name !== event.channel),
      );
    case 'focused':
      return focusOn(state, event.channel);
    case 'said':
      return hear(withColours(state, event.messages), event.messages);
    case 'history':
      return change(withColours(state, event.messages), event.channel, (channel) => ({
        ...channel,
        talk: mergeTalk(channel.talk, event.messages),
        isLoaded: true,
        isWhole: channel.isWhole || event.isWhole,
      }));
    case 'owed':
      return count(state, event.channels);
    case 'agents':
      return { ...state, agents: event.agents.slice(0, ROWS_MAX) };
    case 'work':
      return {
        ...state,
        claims: event.claims.slice(0, ROWS_MAX),
        waits: event.waits.slice(0, ROWS_MAX),
        tasks: event.tasks.slice(0, ROWS_MAX),
        colours: giveColours(state.colours, [
          ...event.claims.map(({ owner }) => owner),
          ...event.waits.map(({ agent_id: agent }) => agent),
        ]),
      };
    case 'docket':
      return { ...state, docket: event.items.slice(0, ROWS_MAX) };
    case 'asked': {
      const input = editLine(state.input, { edit: 'clear' });
      return { ...state, unseen: event.question, input, choices: null };
    }
    case 'receipts': {
      const others = event.seen.filter(({ agent }) => agent !== state.me.agent_id);
      const receipts = noteReceipts(state.receipts, others);
      return receipts === state.receipts ? state : { ...state, receipts };
    }
    case 'sending':
      return {
        ...state,
        scroll: 0,
        upTo: null,
        sending: [...state.sending, event.sending].slice(-SENDING_MAX),
      };
    case 'sent':
      return { ...state, sending: state.sending.filter(({ key }) => key !== event.key) };
    case 'opened':
      return { ...atEnd(state), panel: event.panel, scroll: startOf(event.panel) };
    case 'scrolled':
      return scrollBy(state, event.by, event.most);
    case 'noticed':
      return { ...state, notice: event.notice };
    case 'edited':
      return {
        ...state,
        input: editLine(state.input, event.change),
        notice: null,
        choices: null,
      };
    case 'completed': {
      const { text, cursor, choices } = event.to;
      return {
        ...state,
        input: editLine(state.input, { edit: 'set', text, cursor }),
        notice: null,
        choices,
      };
    }
    case 'entered':
      return { ...state, input: sendLine(state.input), notice: null, choices: null };
    case 'ticked':
      return { ...state, now: event.now };
    default: {
      const threads = evolveThreads(state.threads, event);
      return threads === state.threads ? state : { ...state, threads };
    }
  }
}

export function findChannel(state: ChatState, name: string | null): Channel | undefined {
  return state.channels.find((channel) => channel.name === name);
}

/** Talk is read from its end; a panel from its beginning. */
export function isTalk(panel: Panel): boolean {
  return panel.kind === 'talk' || panel.kind === 'thread';
}

/** What was said on the channel or in the thread that is shown. */
export function shownTalk({ channels, focus, panel, threads }: ChatState): readonly Said[] {
  if (panel.kind === 'thread') return threads.open?.replies ?? [];
  return channels.find(({ name }) => name === focus)?.talk ?? [];
}

function startOf(panel: Panel): number {
  return isTalk(panel) ? 0 : Number.MAX_SAFE_INTEGER;
}

function atEnd(state: ChatState): ChatState {
  return { ...state, scroll: 0, upTo: null, notice: null, choices: null };
}

function scrollBy(state: ChatState, by: number, most: number): ChatState {
  const scroll = Math.max(0, Math.min(Math.min(state.scroll, most) + by, most));
  if (scroll === 0 || !isTalk(state.panel)) return { ...state, scroll, upTo: null };
  const upTo = state.upTo ?? shownTalk(state).at(-1)?.seq ?? null;
  return { ...state, scroll, upTo };
}

function withColours(state: ChatState, messages: readonly Said[]): ChatState {
  const colours = giveColours(
    state.colours,
    messages.map(({ sender }) => sender),
  );
  return colours === state.colours ? state : { ...state, colours };
}

function newChannel(name: string): Channel {
  return { name, talk: [], unread: 0, newFrom: null, isLoaded: false, isWhole: false };
}

/** Sorted and bounded; the focus stays where it was, or goes to the first that is left. */
function withChannels(state: ChatState, channels: readonly Channel[]): ChatState {
  const sorted = channels.toSorted((a, b) => compareChannels(a.name, b.name));
  const kept = sorted.slice(0, CHANNELS_MAX);
  if (kept.some(({ name }) => name === state.focus)) return { ...state, channels: kept };
  return { ...turnTo(state, kept[0]?.name ?? null), channels: kept };
}

function change(state: ChatState, name: string, become: (channel: Channel) => Channel): ChatState {
  return {
    ...state,
    channels: state.channels.map((one) => (one.name === name ? become(one) : one)),
  };
}

function focusOn(state: ChatState, name: string): ChatState {
  const channel = findChannel(state, name);
  if (channel === undefined) return state;
  const { unread, talk } = channel;
  const first = unread > 0 ? (talk.at(-unread) ?? talk[0]) : undefined;
  const turned = change(state, name, (one) => ({ ...one, newFrom: first?.seq ?? null }));
  return turnTo(turned, name);
}

/** A line that was begun stays with its channel: it was not meant for another one. */
function turnTo(state: ChatState, focus: string | null): ChatState {
  const turned: ChatState = { ...atEnd(state), focus, panel: { kind: 'talk' } };
  if (focus === state.focus) return turned;
  const drafts = new Map(state.drafts);
  if (state.focus !== null && state.input.text !== '') drafts.set(state.focus, state.input.text);
  const begun = state.focus === null ? state.input.text : '';
  const text = drafts.get(focus ?? '') ?? begun;
  drafts.delete(focus ?? '');
  for (const oldest of drafts.keys()) {
    if (drafts.size <= CHANNELS_MAX) break;
    drafts.delete(oldest);
  }
  const input = editLine(state.input, { edit: 'set', text, cursor: text.length });
  return { ...turned, drafts, input };
}

function count(state: ChatState, owed: ReadonlyMap<string, number>): ChatState {
  const unreadOf = ({ name }: Channel): number => owed.get(name) ?? 0;
  if (state.channels.every((one) => one.unread === unreadOf(one))) return state;
  const channels = state.channels.map((one) => {
    const unread = unreadOf(one);
    return unread === one.unread ? one : { ...one, unread };
  });
  return { ...state, channels };
}

/** A glob or a private message may bring a channel that was not listed: then it is joined. */
function hear(state: ChatState, messages: readonly Said[]): ChatState {
  const byChannel = Map.groupBy(messages, ({ channel }) => channel);
  const known = new Set(state.channels.map(({ name }) => name));
  const fresh = [...byChannel.keys()].filter((name) => !known.has(name));
  const channels = [...state.channels, ...fresh.map(newChannel)].map((channel) => {
    const arrived = byChannel.get(channel.name);
    if (arrived === undefined) return channel;
    const talk = mergeTalk(channel.talk, arrived);
    return talk === channel.talk ? channel : { ...channel, talk };
  });
  if (fresh.length === 0) return { ...state, channels };
  const others = state.others.filter((name) => !byChannel.has(name));
  return withChannels({ ...state, others }, channels);
}
