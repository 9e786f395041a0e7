/**
 * The actors of a simulation and what they do, each the way the desk does it: ask,
 * read, submit. What the hub acknowledges is held against what is stored at that
 * moment; what it refuses must never appear.
 */
import { isRefusal, type Refusal } from '../core/law/decider.ts';
import { dmName } from '../core/law/name.ts';
import type { Principal } from '../core/law/principal.ts';
import type { AckStatus } from '../core/law/state.ts';
import { type Owed, peek } from '../core/talk/inbox.ts';
import type { Message } from '../hub/message-store.ts';
import { createMarker, rootRef } from './markers.ts';
import type { ModelMessage } from './model.ts';
import { MIA } from './persons.ts';
import type { SimulatedProcess, Venue } from './simulated-process.ts';
import type { Stage } from './stage.ts';
import { createPrincipal, PLAIN_SEND } from './story.ts';

export const PEOPLE: readonly Principal[] = [
  createPrincipal('ada'),
  createPrincipal('bob'),
  createPrincipal('cat'),
  createPrincipal('eve', { tier: 'untrusted' }),
];
const CHANNELS = ['a', 'b', 'team/one', 'team/two', 'group/g'];
const PATTERNS = ['a', 'b', 'team/*', '*', 'sox/presence', 'sox/acks', 'sox/claims'];
/** Replies are to the newest, so that threads grow. */
const PARENTS = 6;
const STATUSES: readonly AckStatus[] = ['received', 'processing', 'done', 'nack'];

/** One thing somebody wanted to say, however often it was tried. */
interface Wish {
  readonly id: number;
  readonly by: Principal;
  readonly channel: string;
  readonly key: string | null;
  /** Where it was acknowledged to lie. */
  position: number | null;
  /** A try ended without an answer: it may have been stored. */
  isUncertain: boolean;
}

export interface Actors {
  act(): void;
  /** Everything wanted by now, against everything stored. */
  check(): void;
}

export function createActors(stage: Stage): Actors {
  const { chance, model } = stage;
  const wishes: Wish[] = [];
  /** Where each wish is being tried. */
  const trying = new Map<Wish, SimulatedProcess>();
  /** How often a drain that was answered handed out a message. */
  const answered = new Map<string, number>();
  const inHand = new Map<string, number[]>();
  /** The newest message that anybody was told is stored. */
  let acknowledged = -1;

  stage.onEnd((process) => {
    for (const [wish, where] of trying) {
      if (where !== process) continue;
      wish.isUncertain = true;
      trying.delete(wish);
    }
  });

  function send(): void {
    const unsure = wishes.filter(
      (wish) => wish.key !== null && wish.position === null && !trying.has(wish),
    );
    const wish = unsure.length > 0 && chance.isLikely(0.4) ? chance.pick(unsure) : newWish();
    const parent = chance.isLikely(0.5) ? pickParent(wish) : null;
    const thread = parent === null ? undefined : stage.threads.threadOf(parent.position);
    const isQuote = parent !== null && chance.isLikely(0.1);
    const reopens = thread?.is.closed && chance.isLikely(0.7) ? rootRef(thread) : null;
    const owners = chance.isLikely(0.2) ? { owners: [chance.pick(PEOPLE).id] } : {};
    const ttlMs = chance.isLikely(0.15) ? chance.int(1, 20_000) : null;
    const where = stage.begin(
      `${wish.by.id} sends ${wish.id} to ${wish.channel} key ${wish.key}`,
      async (hub) => {
        const answer = await hub.submit({
          ...PLAIN_SEND,
          by: wish.by,
          at: hub.stamp(),
          channel: wish.channel,
          body: JSON.stringify({ id: wish.id, text: 'x'.repeat(wish.id % 40), ...owners }),
          ...{ replyTo: parent?.position ?? null, isQuote, reopens },
          key: wish.key,
          ttlMs,
        });
        trying.delete(wish);
        if (isRefusal(answer)) {
          // Only this one may turn out to be stored after all.
          if (answer.refused === 'store.unknown') wish.isUncertain = true;
          stage.learn();
          if (answer.refused === 'thread.closed' && thread?.wasClosed !== true) {
            stage.fail(`${parent?.position} was never closed, and took no reply`);
          }
          return;
        }
        stage.learn();
        if (wish.position !== null && wish.position !== answer.position) {
          stage.fail(
            `wish ${wish.id} was acknowledged at ${wish.position} and at ${answer.position}`,
          );
        }
        wish.position = answer.position;
        acknowledged = Math.max(acknowledged, answer.position);
        if (stage.cluster !== null) await mustSee(hub, answer.position);
        const stored = model.messages.find(({ position }) => position === answer.position);
        if (stored?.body.id !== wish.id || stored.seq !== answer.seq) {
          stage.fail(
            `wish ${wish.id} was acknowledged at ${answer.position}, where it is not stored`,
          );
        }
      },
    );
    if (where !== null) trying.set(wish, where);
  }

  /** Whoever was answered sees at once, where it was answered, what it did. */
  async function mustSee(hub: Venue, position: number): Promise<void> {
    const seen = await hub.ask((world) => ({ length: world.length }));
    if (!isRefusal(seen) && seen.length <= position)
      stage.fail(`${position} was acknowledged, and is not seen where it was`);
  }

  /** Mostly where the reply is said; elsewhere it is refused, unless it is a quotation. */
  function pickParent({ channel, by }: Wish): ModelMessage | null {
    const { threads } = stage;
    const here = model.channel(channel);
    const mine = here.filter(({ position }) => {
      const thread = threads.threadOf(position);
      return thread?.is.closed && threads.mayMark(thread, by.id);
    });
    if (mine.length > 0 && chance.isLikely(0.5)) return chance.pick(mine);
    return chance.pick([...(chance.isLikely(0.9) ? here.slice(-PARENTS) : model.messages), null]);
  }

  function newWish(): Wish {
    const by = chance.pick(PEOPLE);
    const isPrivate = chance.isLikely(0.15);
    const closed = [...stage.threads.marked].filter(
      (thread) => thread.is.closed && stage.threads.mayMark(thread, by.id),
    );
    // Where somebody may open a thread again, they go.
    const places = closed.length > 0 && chance.isLikely(0.5) ? closed : [];
    const wish: Wish = {
      id: wishes.length,
      by,
      channel: isPrivate
        ? dmName(by.id, chance.pick(PEOPLE).id)
        : (places[0]?.channel ?? chance.pick(CHANNELS)),
      key: chance.isLikely(0.4) ? `k${wishes.length}` : null,
      position: null,
      isUncertain: false,
    };
    wishes.push(wish);
    return wish;
  }

  function drain(): void {
    const by = chance.pick(PEOPLE);
    const leaseMs = chance.isLikely(0.5) ? chance.int(1000, 8000) : null;
    const max = chance.int(1, 12);
    stage.begin(`${by.id} drains ${max} lease ${leaseMs}`, async (hub) => {
      const owed = await hub.ask((world) => peek(world, by.id, null, max));
      if (isRefusal(owed) || owed.length === 0) return;
      const found = await hub.messages(owed.map(({ position }) => position));
      const at = hub.stamp();
      const expired = new Set(
        found.flatMap((one) =>
          one?.expiresAt !== undefined && one.expiresAt <= at ? [one.position] : [],
        ),
      );
      const answer = await hub.submit({ type: 'inbox.drain', by, at, owed, expired, leaseMs });
      if (!isRefusal(answer)) handOut(by.id, answer.taken, found, expired);
    });
  }

  function handOut(
    agent: string,
    taken: readonly Owed[],
    found: readonly (Message | null)[],
    expired: ReadonlySet<number>,
  ): void {
    stage.learn();
    const last = new Map<string, number>();
    for (const { channel, seq, position } of taken) {
      const key = `${position} ${agent}`;
      const count = (answered.get(key) ?? 0) + 1;
      answered.set(key, count);
      if (count > model.deliveries(position, agent))
        stage.fail(`${agent} was handed ${position} once too often`);
      if (seq <= (last.get(channel) ?? 0))
        stage.fail(`${agent} was handed ${channel} ${seq} out of order`);
      if (expired.has(position)) stage.fail(`${agent} was handed ${position} after its time`);
      const stored = model.messages.find((one) => one.position === position);
      const read = found.find((one) => one?.position === position);
      if (JSON.stringify(stored?.body) !== JSON.stringify(read?.body))
        stage.fail(`${position} was read wrong`);
      last.set(channel, seq);
      inHand.set(agent, [...(inHand.get(agent) ?? []), position]);
    }
  }

  function ack(): void {
    const by = chance.pick(PEOPLE);
    const position = chance.pick([...(inHand.get(by.id) ?? []), null]);
    const target = model.messages.find((one) => one.position === position);
    if (target === undefined) return;
    const status = chance.pick(STATUSES);
    stage.begin(`${by.id} acks ${position} ${status}`, async (hub) => {
      const answer = await hub.submit({
        type: 'ack.record',
        by,
        at: hub.stamp(),
        target: refOf(target),
        status,
        reason: null,
      });
      stage.learn();
      const fate = model.fate(target.position, by.id);
      if (!isRefusal(answer) && !model.wasAcked(target.position, by.id))
        stage.fail(`an ack of ${position} was answered and not stored`);
      if (isRefusal(answer) && answer.refused === 'ack.backward' && fate === null) {
        stage.fail(`an ack of ${position} was refused as backward although there is none`);
      }
    });
  }

  function review(): void {
    const held = model.messages.filter(({ hold }) => hold === 'held');
    if (held.length === 0) return;
    const target = chance.pick(held);
    const isReleased = chance.isLikely(0.7);
    stage.begin(`mia reviews ${target.position} ${isReleased}`, async (hub) => {
      const at = hub.stamp();
      await hub.submit({
        type: 'message.review',
        by: MIA,
        at,
        target: refOf(target),
        isReleased,
        reason: null,
      });
    });
  }

  function look(): void {
    const by = chance.pick(PEOPLE);
    stage.begin(`${by.id} looks`, async (hub) => {
      const before = acknowledged;
      const unanswered = stage.cluster?.unanswered;
      const seen = await hub.ask((world) => ({
        length: world.length,
        owed: peek(world, by.id, null, 999),
      }));
      if (isRefusal(seen)) return;
      stage.learn();
      if (seen.length > model.length)
        stage.fail(`a question saw ${seen.length} entries, ${model.length} are stored`);
      // Where who sequences cannot be asked, a server answers from what it has.
      const isSure = stage.cluster !== null && unanswered === stage.cluster.unanswered;
      if (isSure && seen.length <= before)
        stage.fail(`${before} was acknowledged, and who asks elsewhere does not see it`);
    });
  }

  function wait(): void {
    const by = chance.pick(PEOPLE);
    const waitMs = chance.int(1, 3000);
    stage.begin(`${by.id} waits ${waitMs}`, async (hub) => {
      await hub.watch.mail(by.id, waitMs);
    });
  }

  const others: readonly ((hub: Venue, by: Principal) => Promise<unknown>)[] = [
    (hub, by) =>
      hub.submit({ type: 'subscription.add', by, at: hub.stamp(), pattern: chance.pick(PATTERNS) }),
    (hub, by) =>
      hub.submit({ type: 'subscription.add', by, at: hub.stamp(), pattern: chance.pick(PATTERNS) }),
    (hub, by) =>
      hub.submit({
        type: 'subscription.remove',
        by,
        at: hub.stamp(),
        patterns: [chance.pick(PATTERNS)],
      }),
    (hub, by) =>
      hub.submit({
        type: 'presence.beat',
        by,
        at: hub.stamp(),
        status: chance.pick(['online', 'busy', 'offline']),
        ttlMs: chance.int(500, 9000),
      }),
    (hub, by) =>
      hub.submit({
        type: 'group.create',
        by,
        at: hub.stamp(),
        group: 'group/g',
        displayName: null,
        replayPolicy: null,
      }),
    (hub, by) => {
      const agent = chance.pick(PEOPLE).id;
      const message = chance.isLikely(0.3) ? 'come' : null;
      return hub.submit({
        type: 'group.invite',
        by,
        at: hub.stamp(),
        group: 'group/g',
        agent,
        message,
      });
    },
    (hub, by) => hub.submit({ type: 'group.join', by, at: hub.stamp(), group: 'group/g' }),
    (hub, by) => hub.submit({ type: 'group.leave', by, at: hub.stamp(), group: 'group/g' }),
    (hub, by) =>
      hub.submit({
        type: 'inbox.commit',
        by,
        at: hub.stamp(),
        through: chance.int(0, model.length),
      }),
  ];

  function other(): void {
    const by = chance.pick(PEOPLE);
    const index = chance.int(0, others.length - 1);
    stage.begin(`${by.id} does ${index}`, async (hub) => {
      const answer = (await others[index]?.(hub, by)) as object | Refusal;
      if (isRefusal(answer) && answer.refused === 'internal')
        stage.fail(`${by.id}: ${answer.message}`);
    });
  }

  const mark = createMarker(stage, PEOPLE);
  const acts = [
    ...[send, send, send, send, send, drain, drain, drain, ack, ack],
    ...[mark, mark, mark, mark, review, look, wait, other, other, other],
  ];

  return {
    act: () => chance.pick(acts)(),
    check() {
      const places = new Map<unknown, number[]>();
      for (const { body, position } of model.messages) {
        if (body.id !== undefined) places.set(body.id, [...(places.get(body.id) ?? []), position]);
      }
      for (const wish of wishes) {
        const stored = places.get(wish.id) ?? [];
        if (stored.length > 1)
          stage.fail(`wish ${wish.id} is stored ${stored.length} times: ${stored}`);
        if (wish.position !== null && stored[0] !== wish.position) {
          stage.fail(`wish ${wish.id} was acknowledged at ${wish.position} and is at ${stored}`);
        }
        const isRefused = wish.position === null && !wish.isUncertain && !trying.has(wish);
        if (isRefused && stored.length > 0)
          stage.fail(`wish ${wish.id} was refused and is stored at ${stored}`);
      }
    },
  };
}

function refOf({ position, channel, seq, by }: ModelMessage) {
  return { position, channel, seq, sender: by };
}
