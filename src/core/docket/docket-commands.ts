/**
 * What is asked of the docket: an agent raises a question, a person takes an item and closes it, and
 * the hub says that people were told. People read and close; an agent raises and sees its own [DK3].
 * What must be decided is not closed in passing [DK5], and nothing here turns into a yes.
 */
import { type Asked, type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import {
  DOCKET_REASON_CHARS_MAX,
  DOCKET_TEXT_CHARS_MAX,
  QUESTION_UNTIL_MS_MAX,
  QUESTIONS_PER_AGENT_MAX,
} from '../law/limits.ts';
import { toChannel } from '../law/name.ts';
import { AGENT_NAME_RULE, isAgentName, type Principal, SERVER } from '../law/principal.ts';
import { checkShare } from '../law/shares.ts';
import type { World, WorldView } from '../law/state.ts';
import { isPrintable, isProse } from '../law/text.ts';
import type { View } from '../law/view.ts';
import { checkWriter, invalid } from '../law/writer.ts';
import { agentOf, checkAgentRoom } from '../talk/agent.ts';
import { type MessageSent, serverMessage } from '../talk/message.ts';
import { clip, closeItem, mustBeDecided, raiseItem, settleItem } from './docket.ts';
import { type Item, itemId, type Subject } from './docket-state.ts';

/** What a person may end an item with; what ends by itself says its own word. */
export const CLOSE_OUTCOMES = ['answered', 'done', 'dismissed'] as const;
export type CloseOutcome = (typeof CLOSE_OUTCOMES)[number];

export interface RaiseQuestion extends Asked {
  readonly type: 'docket.raise';
  readonly text: string;
  readonly to: string | null;
  readonly thread: string | null;
  /** For how long it is asked; null is until it is answered. */
  readonly forMs: number | null;
}

export interface TakeItem extends Asked {
  readonly type: 'docket.take';
  readonly id: number;
  /** Also from another who has it. */
  readonly isForced: boolean;
}

export interface CloseItem extends Asked {
  readonly type: 'docket.close';
  readonly id: number;
  /** One of the things it is about; null is all of them. */
  readonly subject: string | null;
  readonly outcome: CloseOutcome;
  readonly note: string | null;
}

/** The hub is about to tell people of these. */
export interface NoticeItems extends Asked {
  readonly type: 'docket.notice';
  readonly ids: readonly number[];
}

export interface QuestionRaised {
  readonly type: 'docket.raised';
  readonly at: number;
  readonly by: string;
  readonly question: string;
  readonly text: string;
  readonly to: string | null;
  readonly thread: string | null;
  readonly until: number | null;
}

export interface ItemTaken {
  readonly type: 'docket.taken';
  readonly at: number;
  readonly by: string;
  readonly id: number;
}

export interface ItemClosed {
  readonly type: 'docket.closed';
  readonly at: number;
  readonly by: string;
  readonly id: number;
  readonly subject: string | null;
  readonly outcome: CloseOutcome;
  readonly note: string | null;
}

export interface ItemsNoticed {
  readonly type: 'docket.noticed';
  readonly at: number;
  readonly ids: readonly number[];
}

export type DocketEvent = QuestionRaised | ItemTaken | ItemClosed | ItemsNoticed;

export function isPerson({ kind }: Pick<Principal, 'kind'>): boolean {
  return kind === 'human' || kind === 'admin';
}

export function decideRaise(
  world: WorldView,
  command: RaiseQuestion,
): Decision<QuestionRaised, { readonly question: string }> {
  const { by, at, text, to, thread, forMs } = command;
  const mine = world.docket.agents.get(by.id);
  const unfit =
    checkWriter(by, world.settings) ?? checkAgentRoom(world, by) ?? checkQuestion(command);
  if (unfit !== null) return unfit;
  // Asked again in the same words it is the same question, and counted.
  const asked = findQuestion(world, command);
  if (asked === null) {
    if ((mine?.questions ?? 0) >= QUESTIONS_PER_AGENT_MAX) {
      return refuseFull('QUESTIONS_PER_AGENT_MAX', QUESTIONS_PER_AGENT_MAX);
    }
    const { open } = world.docket;
    const full = checkShare('DOCKET_ITEMS_MAX', by, open.length, mine?.open.length ?? 0);
    if (full !== null) return full;
  }
  const question = asked ?? `q${world.docket.nextQuestion}`;
  const until = forMs === null ? null : at + forMs;
  const said = { question, text, to, thread, until };
  return { events: [{ type: 'docket.raised', at, by: by.id, ...said }], answer: { question } };
}

export function evolveRaised(world: World, event: QuestionRaised): void {
  const { by, at, question, text, to, thread, until } = event;
  // Who only ever asks can be answered too.
  agentOf(world, by);
  const { docket } = world;
  if (question === `q${docket.nextQuestion}`) docket.nextQuestion++;
  const reason = reasonOf(text);
  const raised = { kind: 'question', agent: by, reason, thread, text, to, until } as const;
  raiseItem(world, at, { ...raised, subject: question });
}

export function decideTake(
  world: WorldView,
  { by, at, id, isForced }: TakeItem,
): Decision<ItemTaken, null> {
  const item = waitingItem(world, by, id);
  if ('refused' in item) return item;
  if (item.taken?.by === by.id) return { events: [], answer: null };
  if (item.taken !== null && !isForced) return refuseTaken(item);
  return { events: [{ type: 'docket.taken', at, by: by.id, id }], answer: null };
}

export function evolveTaken(world: World, { by, at, id }: ItemTaken): void {
  const item = world.docket.items.get(id);
  if (item !== undefined && item.closed === null) item.taken = { by, at };
}

export function decideClose(
  world: WorldView,
  command: CloseItem,
): Decision<ItemClosed | MessageSent, null> {
  const { by, at, id, subject, outcome, note } = command;
  const item = waitingItem(world, by, id);
  if ('refused' in item) return item;
  if (item.taken !== null && item.taken.by !== by.id) return refuseTaken(item);
  const meant = [...item.subjects.values()].filter(
    (one) => subject === null || one.subject === subject,
  );
  if (subject !== null && meant.length === 0) {
    return refuse('docket.not-found', `${itemId(id)} is not about ${subject}, or no longer`);
  }
  const unfit = checkUndecided(id, meant) ?? checkNote(command, meant);
  if (unfit !== null) return unfit;
  const closed = { type: 'docket.closed', at, by: by.id, id, subject, outcome, note } as const;
  return { events: [closed, ...answers(world, item, meant, command)], answer: null };
}

export function evolveClosed(world: World, event: ItemClosed): void {
  const { at, by, id, subject, outcome, note } = event;
  const item = world.docket.items.get(id);
  if (item === undefined || item.closed !== null) return;
  const rest = [...item.subjects.values()].filter((one) => one.subject !== subject);
  if (subject === null || rest.length === 0) {
    return closeItem(world.docket, item, { by, at, outcome, note });
  }
  for (const one of [...item.subjects.values()]) {
    if (one.subject === subject) settleItem(world, at, one.kind, subject, outcome, by);
  }
}

export function decideNotice(
  world: WorldView,
  { by, at, ids }: NoticeItems,
): Decision<ItemsNoticed, null> {
  if (by.id !== SERVER.id) return refuse('access.denied', 'the hub itself tells people');
  const waiting = ids.filter((id) => world.docket.items.get(id)?.closed === null);
  if (waiting.length === 0) return { events: [], answer: null };
  return { events: [{ type: 'docket.noticed', at, ids: waiting }], answer: null };
}

export function evolveNoticed(world: World, { at, ids }: ItemsNoticed): void {
  for (const id of ids) {
    const item = world.docket.items.get(id);
    if (item !== undefined) item.noticedAt = at;
  }
}

/** For people: the item, if it waits. What an agent may not see is not there for it. */
function waitingItem(world: WorldView, by: Principal, id: number): View<Item> | Refusal {
  const item = world.docket.items.get(id);
  if (!isPerson(by)) {
    return refuse('access.denied', 'only a person takes and closes what waits for a person');
  }
  if (item === undefined) return noItem(id);
  if (item.closed === null) return item;
  const { by: closer, at, outcome } = item.closed;
  const who = closer === null ? 'by itself' : `by ${closer}`;
  return refuse('docket.closed', `${itemId(id)} was closed ${who} (${outcome})`, {
    ...{ item_id: itemId(id), closed_by: closer, closed_at: at / 1000, outcome },
  });
}

export function noItem(id: number): Refusal {
  return refuse(
    'docket.not-found',
    `there is no ${itemId(id)} on the docket; docket.list shows what waits`,
  );
}

function refuseTaken({ id, taken }: View<Item>): Refusal {
  return refuse(
    'docket.taken',
    `${itemId(id)} was taken by ${taken?.by}; ask them, or take it over with force`,
    { item_id: itemId(id), taken_by: taken?.by, taken_at: (taken?.at ?? 0) / 1000 },
  );
}

function checkUndecided(id: number, meant: readonly View<Subject>[]): Refusal | null {
  const one = meant.find(({ kind }) => mustBeDecided(kind));
  if (one === undefined) return null;
  const how = one.kind === 'gate' ? 'gates.decide' : 'held.review';
  return refuse(
    'docket.undecided',
    `${itemId(id)} is closed by deciding: ${one.subject} waits for ${how}`,
    { item_id: itemId(id), subject: one.subject, operation: how },
  );
}

function checkNote({ outcome, note }: CloseItem, meant: readonly View<Subject>[]): Refusal | null {
  if (note !== null && !isProse(note, DOCKET_TEXT_CHARS_MAX)) {
    return invalid(`a note has at most ${DOCKET_TEXT_CHARS_MAX} characters of text`);
  }
  if (outcome !== 'answered') return null;
  if (!meant.some(({ kind }) => kind === 'question')) {
    return invalid('there is no question to answer: close it with outcome done or dismissed');
  }
  return (note ?? '').trim() === '' ? invalid('the answer to a question goes into note') : null;
}

function checkQuestion({ text, to, thread, forMs }: RaiseQuestion): Refusal | null {
  if (text.trim() === '' || !isProse(text, DOCKET_TEXT_CHARS_MAX)) {
    return invalid(`a question has 1 to ${DOCKET_TEXT_CHARS_MAX} characters of text`);
  }
  if (to !== null && !isAgentName(to)) return invalid(`to: ${AGENT_NAME_RULE}`);
  if (thread !== null && !isPrintable(thread, DOCKET_REASON_CHARS_MAX)) {
    return invalid(`a thread has 1 to ${DOCKET_REASON_CHARS_MAX} printable characters`);
  }
  if (forMs === null || (forMs > 0 && forMs <= QUESTION_UNTIL_MS_MAX)) return null;
  return invalid('until is a time to come, at most 30 days ahead');
}

function findQuestion(world: WorldView, { by, text, thread, to }: RaiseQuestion): string | null {
  const { agents, items } = world.docket;
  for (const id of agents.get(by.id)?.open ?? []) {
    for (const one of items.get(id)?.subjects.values() ?? []) {
      const isSame = one.text === text && one.to === to && one.thread === thread;
      if (one.kind === 'question' && isSame) return one.subject;
    }
  }
  return null;
}

/** The asker hears what a person said to its question, and who. */
function answers(
  world: WorldView,
  item: View<Item>,
  meant: readonly View<Subject>[],
  { by, at, outcome, note }: CloseItem,
): MessageSent[] {
  const questions = meant.filter(({ kind }) => kind === 'question');
  if (questions.length === 0 || !world.agents.has(item.agent) || item.agent === by.id) return [];
  const body = JSON.stringify({
    ...{ event: 'docket_answered', item_id: itemId(item.id), outcome, by: by.id, note },
    questions: questions.map(({ subject, text, thread }) => ({ subject, text, thread })),
  });
  return [serverMessage(world, toChannel(item.agent), body, { at, actor: by })];
}

/** The same question is one item: its beginning stands for it. */
function reasonOf(text: string): string {
  return clip(text.replaceAll(/\s+/g, ' ').trim(), DOCKET_REASON_CHARS_MAX);
}
