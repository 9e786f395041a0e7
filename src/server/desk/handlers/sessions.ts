/** Sessions and hand-offs: inputs become commands, and items are read back from the log. */
import { isRefusal, type Refusal } from '../../../core/law/decider.ts';
import type { Item } from '../../../core/sessions/session-events.ts';
import { sessionsPage } from '../../../core/sessions/session-pages.ts';
import type { NewItem, SessionOut } from '../../../wire/operations/sessions.ts';
import { bodyText } from '../body.ts';
import { idempotencyOf } from '../idempotency.ts';
import type { Handlers, Room } from '../room.ts';
import {
  endedPlaces,
  endedView,
  liveView,
  readCut,
  readItems,
  readSession,
  sessionOut,
  unknownResult,
} from '../session-view.ts';
import { isThere } from './presence.ts';

export const sessionHandlers: Handlers<
  | 'sessions.create'
  | 'sessions.get'
  | 'sessions.list'
  | 'sessions.append'
  | 'sessions.fork'
  | 'sessions.rewind'
  | 'sessions.compact'
  | 'sessions.share'
  | 'sessions.close'
  | 'sessions.handoff'
> = {
  async 'sessions.create'(room, input) {
    const { hub, by, platform } = room;
    const items = parseItems(input.seed);
    if (isRefusal(items)) return items;
    const answer = await hub.submit({
      ...{ type: 'session.create', by, at: hub.stamp(), holder: input.agent_id ?? null, items },
      ...{ key: input.key ?? null, ttlMs: input.ttl_ms ?? null },
      idempotency: idempotencyOf(platform, input),
    });
    return made(room, answer);
  },

  async 'sessions.get'(room, { session_id: id, from, last, limit, cut }) {
    const { hub, by } = room;
    const read = await readSession(hub, by, id);
    if (isRefusal(read)) return read;
    const past = cut === undefined ? null : await readCut(hub, by, read.view, cut);
    if (isRefusal(past)) return past;
    const places = past?.places ?? read.places;
    const first = last === undefined ? from : Math.max(from, places.length - last);
    const until = Math.min(places.length, first + limit);
    const items = await readItems(room, places, { from: first, until });
    const next = first + items.length;
    const isAll = next >= places.length;
    if (isAll && past === null) items.push(...read.open.map(unknownResult));
    return {
      session: read.view,
      items,
      next: isAll ? null : next,
      previous_cut: past === null ? read.view.last_cut : past.previous,
    };
  },

  async 'sessions.list'({ hub, by }, { agent_id: agent, key, all: isAll, after, limit }) {
    return hub.ask((world) => {
      const { rows, next } = sessionsPage(world, { by, agent, key, isAll, after, limit });
      const sessions = rows.map((one) =>
        'live' in one ? liveView(one.live) : endedView(one.ended),
      );
      return { sessions, next };
    });
  },

  async 'sessions.append'(room, input) {
    const { hub, by, platform } = room;
    const items = parseItems(input.items);
    if (isRefusal(items)) return items;
    const answer = await hub.submit({
      ...{ type: 'session.append', by, at: hub.stamp(), id: input.session_id, items },
      expectedLength: input.expected_length ?? null,
      idempotency: idempotencyOf(platform, input),
    });
    if (isRefusal(answer)) return answer;
    const claims = await takeClaims(room, answer.id);
    if (isRefusal(claims)) return claims;
    const session = await viewOf(room, answer.id);
    return isRefusal(session) ? session : { session, claims };
  },

  async 'sessions.fork'(room, input) {
    const { hub, by, platform } = room;
    const places = await endedPlaces(hub, input.session_id);
    if (isRefusal(places)) return places;
    const answer = await hub.submit({
      ...{ type: 'session.fork', by, at: hub.stamp(), id: input.session_id, expectedLength: null },
      ...{ length: input.length ?? null, key: input.key ?? null, ttlMs: input.ttl_ms ?? null },
      places,
      idempotency: idempotencyOf(platform, input),
    });
    return made(room, answer);
  },

  async 'sessions.rewind'(room, input) {
    const { hub, by, platform } = room;
    const answer = await hub.submit({
      ...{ type: 'session.rewind', by, at: hub.stamp(), id: input.session_id },
      ...{ length: input.length, expectedLength: input.expected_length ?? null },
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : viewOf(room, answer.id);
  },

  async 'sessions.compact'(room, input) {
    const { hub, by, platform } = room;
    const { summary: content, data, keep } = input;
    const summary = parseItem({ kind: 'note', content, data });
    const flaw = bodyText({ content, data }, 'items');
    if (isRefusal(flaw)) return flaw;
    const answer = await hub.submit({
      ...{ type: 'session.compact', by, at: hub.stamp(), id: input.session_id, keep, summary },
      expectedLength: input.expected_length ?? null,
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : viewOf(room, answer.id);
  },

  async 'sessions.share'(room, input) {
    const { hub, by } = room;
    const access = input.access === 'none' ? null : input.access;
    const answer = await hub.submit({
      ...{ type: 'session.share', by, at: hub.stamp(), id: input.session_id },
      ...{ with: input.agent_id, access, expectedLength: null },
    });
    return isRefusal(answer) ? answer : viewOf(room, answer.id);
  },

  async 'sessions.close'(room, input) {
    const { hub, by, platform } = room;
    const answer = await hub.submit({
      ...{ type: 'session.close', by, at: hub.stamp(), id: input.session_id },
      ...{ reason: input.reason ?? null, expectedLength: null },
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : viewOf(room, answer.id);
  },

  async 'sessions.handoff'(room, input) {
    const { hub, by, platform, caller, activities } = room;
    const { session_id: id, to, why, keep, claims } = input;
    const at = hub.stamp();
    const known = await hub.ask((world) => {
      const isRecipientThere = isThere(world, to, activities.find(caller.space, to), at);
      return { isRecipientThere, from: world.sessions.live.get(id)?.holder ?? '' };
    });
    if (isRefusal(known)) return known;
    const { isRecipientThere, from } = known;
    const body = { from, to, why, input: input.input ?? null };
    const flaw = bodyText(body, 'items');
    if (isRefusal(flaw)) return flaw;
    const answer = await hub.submit({
      ...{ type: 'session.hand-off', by, at: hub.stamp(), id, to, why, isRecipientThere },
      ...{ item: { kind: 'handoff', body }, keep: keep ?? null, claims: claims ?? null },
      expectedLength: input.expected_length ?? null,
      idempotency: idempotencyOf(platform, input),
    });
    if (isRefusal(answer)) return answer;
    const session = await viewOf(room, answer.id);
    if (isRefusal(session)) return session;
    return { session, parked: answer.isParked, claims: [...answer.claims] };
  },
};

/** Items as the law takes them: what it must know of each, and the rest as its body. */
function parseItems(input: readonly NewItem[]): Item[] | Refusal {
  const flaw = bodyText({ items: input }, 'items');
  if (isRefusal(flaw)) return flaw;
  return input.map(parseItem);
}

function parseItem(item: NewItem): Item {
  const extra = item.data === undefined ? {} : { data: item.data };
  switch (item.kind) {
    case 'tool_call': {
      const { kind, call_id: callId, name, key } = item;
      const body = { arguments: item.arguments ?? null, ...extra };
      return { kind, callId, name, ...(key !== undefined && { key }), body };
    }
    case 'tool_result': {
      const { kind, call_id: callId, state: outcome = 'ok' } = item;
      return { kind, callId, outcome, body: { output: item.output ?? null, ...extra } };
    }
    default:
      return { kind: item.kind, body: { content: item.content, ...extra } };
  }
}

/** What was offered along with the hand-off is taken by who now works with it [HO4]. */
async function takeClaims(
  { hub, by }: Room,
  id: string,
): Promise<{ claim_id: string; taken: boolean; reason: string | null }[] | Refusal> {
  const offered = await hub.ask((world) => {
    const session = world.sessions.live.get(id);
    if (session?.holder !== by.id) return [];
    return session.claims.filter((one) => world.claims.claims.get(one)?.offer?.to === by.id);
  });
  if (isRefusal(offered)) return offered;
  const taken: { claim_id: string; taken: boolean; reason: string | null }[] = [];
  for (const claim of offered) {
    const answer = await hub.submit({
      ...{ type: 'claim.take', by, at: hub.stamp(), id: claim, epoch: null, scope: null },
      ...{ ttlMs: null, note: null, git: null, idempotency: null },
    });
    const reason = isRefusal(answer) ? answer.message : null;
    taken.push({ claim_id: claim, taken: reason === null, reason });
  }
  return taken;
}

function viewOf({ hub }: Room, id: string): Promise<SessionOut | Refusal> {
  return hub.ask((world) => sessionOut(world, id));
}

async function made(
  room: Room,
  answer: { readonly id: string; readonly isNew?: boolean } | Refusal,
): Promise<(SessionOut & { created: boolean }) | Refusal> {
  if (isRefusal(answer)) return answer;
  const view = await viewOf(room, answer.id);
  return isRefusal(view) ? view : { ...view, created: answer.isNew ?? false };
}
