/** The docket: reading it, taking and closing what waits, and asking a person. */

import { isPerson, noItem } from '../../../core/docket/docket-commands.ts';
import { findItem, itemsFor, kindsOf, stateOf } from '../../../core/docket/docket-page.ts';
import {
  type Item,
  itemId,
  parseItemId,
  placeOf,
  type Subject,
} from '../../../core/docket/docket-state.ts';
import { isRefusal, type Refusal } from '../../../core/law/decider.ts';
import { takePage } from '../../../core/law/page.ts';
import type { View } from '../../../core/law/view.ts';
import type { OutputOf } from '../../../wire/operation.ts';
import { type docketGet, SUBJECTS_SHOWN } from '../../../wire/operations/docket.ts';
import { idempotencyOf } from '../idempotency.ts';
import type { Handlers, Room } from '../room.ts';

type ItemView = OutputOf<typeof docketGet>['item'];
type SubjectView = ItemView['subjects'][number];

export const docketHandlers: Handlers<
  'docket.list' | 'docket.get' | 'docket.take' | 'docket.close' | 'docket.raise'
> = {
  async 'docket.list'({ hub, by }, { state, kind, after, limit }) {
    return hub.ask(({ docket }) => {
      const wanted = { state, kind, after: after === undefined ? undefined : idOf(after) };
      const rows = shown(itemsFor(docket, by, wanted));
      const page = takePage(rows, ({ item_id }) => item_id, { limit });
      const mine = isPerson(by) ? docket.open : (docket.agents.get(by.id)?.open ?? []);
      return { items: [...page.rows], next: page.next, open: mine.length };
    });
  },

  async 'docket.get'({ hub, by }, { item_id, after }) {
    return hub.ask(({ docket }) => {
      const item = findItem(docket, by, idOf(item_id));
      if (item === null) return noItem(idOf(item_id));
      const page = takePage(
        subjectsAfter(item, after),
        ({ kind, subject }) => placeOf(kind, subject),
        {},
      );
      return { item: itemView(item, [...page.rows]), next: page.next };
    });
  },

  async 'docket.take'(room, { item_id, force }) {
    const { hub, by } = room;
    const id = idOf(item_id);
    const at = hub.stamp();
    const answer = await hub.submit({ type: 'docket.take', by, at, id, isForced: force });
    return isRefusal(answer) ? answer : oneItem(room, id);
  },

  async 'docket.close'(room, input) {
    const { hub, by, platform } = room;
    const { item_id, subject, outcome, note } = input;
    const id = idOf(item_id);
    const answer = await hub.submit({
      ...{ type: 'docket.close', by, at: hub.stamp(), id, outcome },
      ...{ subject: subject ?? null, note: note ?? null },
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : oneItem(room, id);
  },

  async 'docket.raise'(room, input) {
    const { hub, by, platform } = room;
    const { text, to, thread, until } = input;
    const at = hub.stamp();
    const answer = await hub.submit({
      ...{ type: 'docket.raise', by, at, text, to: to ?? null, thread: thread ?? null },
      forMs: until == null ? null : Math.round(until * 1000 - at),
      idempotency: idempotencyOf(platform, input),
    });
    if (isRefusal(answer)) return answer;
    const { question } = answer;
    const raised = await hub.ask(({ docket }) =>
      docket.subjects.get(placeOf('question', question)),
    );
    if (isRefusal(raised)) return raised;
    const found = await oneItem(room, raised ?? 0);
    return isRefusal(found) ? found : { ...found, question };
  },
};

/** The schema let through nothing else. */
function idOf(text: string): number {
  return parseItemId(text) ?? 0;
}

async function oneItem({ hub, by }: Room, id: number): Promise<{ item: ItemView } | Refusal> {
  return hub.ask(({ docket }) => {
    const item = findItem(docket, by, id);
    return item === null ? noItem(id) : { item: itemView(item, firstSubjects(item)) };
  });
}

function* shown(items: Iterable<View<Item>>): Generator<ItemView> {
  for (const item of items) yield itemView(item, firstSubjects(item));
}

function firstSubjects(item: View<Item>): SubjectView[] {
  const views: SubjectView[] = [];
  for (const subject of item.subjects.values()) {
    if (views.push(subjectView(subject)) >= SUBJECTS_SHOWN) break;
  }
  return views;
}

function* subjectsAfter(item: View<Item>, after: string | undefined): Generator<SubjectView> {
  let isReached = after === undefined || !item.subjects.has(after);
  for (const [place, subject] of item.subjects) {
    if (isReached) yield subjectView(subject);
    else isReached = place === after;
  }
}

function subjectView(one: View<Subject>): SubjectView {
  const { kind, subject, reason, text, thread, at, to, until } = one;
  const since = at / 1000;
  return {
    kind,
    subject,
    reason,
    text,
    thread,
    since,
    to,
    until: until === null ? null : until / 1000,
  };
}

function itemView(item: View<Item>, subjects: SubjectView[]): ItemView {
  const { taken, closed } = item;
  return {
    item_id: itemId(item.id),
    state: stateOf(item),
    kinds: kindsOf(item),
    agent_id: item.agent,
    reason: item.reason,
    thread: item.thread,
    text: item.text,
    count: item.count,
    since: item.since / 1000,
    newest_at: item.newestAt / 1000,
    subjects,
    subjects_open: item.subjects.size,
    taken: taken && { by: taken.by, at: taken.at / 1000 },
    closed: closed && { ...closed, at: closed.at / 1000 },
  };
}
