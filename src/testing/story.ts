/**
 * A story told to the law alone: commands are decided against a world, their events
 * evolve it and are kept as log entries. Time stands still until it is told to move.
 */

import { isRefusal, type Refusal } from '../core/law/decider.ts';
import { encodeEvent } from '../core/law/entry.ts';
import type { Principal } from '../core/law/principal.ts';
import type { AckStatus, World } from '../core/law/state.ts';
import { createWorld } from '../core/law/state.ts';
import { decideDue, isDue } from '../core/law/tick.ts';
import {
  type AnswerTo,
  type Command,
  decide,
  type Event,
  evolve,
  isEphemeral,
} from '../core/law/world.ts';
import { type DrainAnswer, peek } from '../core/talk/inbox.ts';
import type { SendMessage, SentAnswer } from '../core/talk/message.ts';
import type { MessageRef } from '../core/talk/message-id.ts';
import { type Receipt, receiptsOf } from '../core/talk/receipt.ts';

export function createPrincipal(id: string, traits: Partial<Principal> = {}): Principal {
  return { id, kind: 'agent', tier: 'standard', ...traits };
}

export interface DrainWishes {
  readonly max?: number;
  readonly channels?: readonly string[];
  readonly leaseMs?: number;
  readonly expired?: readonly number[];
}

/** A send that wishes for nothing, but for who, when and where. */
export const PLAIN_SEND: Omit<SendMessage, 'by' | 'at' | 'channel'> = {
  type: 'message.send',
  body: '{}',
  correlationId: null,
  replyTo: null,
  key: null,
  ttlMs: null,
  schemaVersion: 0,
};

type WithoutAsked<C> = C extends Command ? Omit<C, 'by' | 'at'> : never;

export interface Story {
  readonly world: World;
  /** What the log would hold. */
  readonly entries: readonly string[];
  /** Every event, ephemeral ones too. */
  readonly events: readonly Event[];
  at: number;
  /** Decides and evolves; the answer, or the refusal that changed nothing. */
  do<C extends Command>(by: Principal, command: WithoutAsked<C>): AnswerTo<C> | Refusal;
  subscribe(by: Principal, ...patterns: readonly string[]): void;
  /** Sends; a refusal is an error in the story. */
  send(by: Principal, channel: string, wishes?: Partial<SendMessage>): SentAnswer;
  trySend(by: Principal, channel: string, wishes?: Partial<SendMessage>): SentAnswer | Refusal;
  drain(by: Principal, wishes?: DrainWishes): DrainAnswer;
  /** The seqs a drain hands out. */
  take(by: Principal, wishes?: DrainWishes): number[];
  ack(
    by: Principal,
    sent: SentAnswer,
    status: AckStatus,
    reason?: string,
  ): { at: number } | Refusal;
  review(by: Principal, sent: SentAnswer, isReleased: boolean, reason?: string): null | Refusal;
  /** Lets time pass and every deadline on the way fall due. */
  pass(ms: number): void;
  /** State by agent of what became of a message. */
  states(sent: SentAnswer): Record<string, Receipt['state']>;
  receipts(sent: SentAnswer, expiresAt?: number): Receipt[];
}

export function createStory(world: World = createWorld(), at = 1_000_000): Story {
  const entries: string[] = [];
  const events: Event[] = [];
  const refs = new Map<number, MessageRef>();

  function record(happened: readonly Event[]): void {
    for (const event of happened) {
      const position = world.length;
      evolve(world, event, position);
      events.push(event);
      if (isEphemeral(event)) continue;
      entries.push(encodeEvent(event));
      if (event.type !== 'message.sent') continue;
      refs.set(position, { position, channel: event.channel, seq: event.seq, sender: event.by });
    }
  }

  const story: Story = {
    world,
    entries,
    events,
    at,
    do<C extends Command>(by: Principal, command: WithoutAsked<C>): AnswerTo<C> | Refusal {
      const decision = decide(world, { ...command, by, at: story.at } as unknown as Command);
      if (isRefusal(decision)) return decision;
      record(decision.events);
      return decision.answer as AnswerTo<C>;
    },
    subscribe(by, ...patterns) {
      for (const pattern of patterns) {
        accepted(story.do(by, { type: 'subscription.add', pattern }));
      }
    },
    send: (by, channel, wishes) => accepted(story.trySend(by, channel, wishes)),
    trySend: (by, channel, wishes = {}) =>
      story.do<SendMessage>(by, { ...PLAIN_SEND, channel, ...wishes }),
    drain(by, wishes = {}) {
      const { max = 100, channels, leaseMs, expired = [] } = wishes;
      const owed = accepted(peek(world, by.id, channels ?? null, max));
      return accepted(
        story.do(by, {
          type: 'inbox.drain',
          owed,
          expired: new Set(expired),
          leaseMs: leaseMs ?? null,
        }),
      ) as DrainAnswer;
    },
    take: (by, wishes) => story.drain(by, wishes).taken.map(({ seq }) => seq),
    ack(by, { position }, status, reason) {
      const target = refs.get(position) as MessageRef;
      return story.do(by, { type: 'ack.record', target, status, reason: reason ?? null }) as
        | { at: number }
        | Refusal;
    },
    review(by, { position }, isReleased, reason) {
      const target = refs.get(position) as MessageRef;
      return story.do(by, {
        type: 'message.review',
        target,
        isReleased,
        reason: reason ?? null,
      }) as null | Refusal;
    },
    pass(ms) {
      const until = story.at + ms;
      for (let due = world.deadlines.next; isDue(world, until); due = world.deadlines.next) {
        story.at = Math.max(story.at, due?.at ?? 0);
        record(decideDue(world, story.at));
      }
      story.at = until;
    },
    receipts(sent, expiresAt) {
      const { channel } = refs.get(sent.position) as MessageRef;
      const subject = {
        position: sent.position,
        channel,
        seq: sent.seq,
        expiresAt: expiresAt ?? null,
      };
      return receiptsOf(world, subject, story.at);
    },
    states: (sent) =>
      Object.fromEntries(story.receipts(sent).map(({ agent, state }) => [agent, state])),
  };
  return story;
}

/** What the story takes for granted; a refusal here is a mistake of the one who tells it. */
export function accepted<T>(outcome: T | Refusal): T {
  if (typeof outcome === 'object' && outcome !== null && isRefusal(outcome)) {
    throw new Error(`refused: ${outcome.refused}: ${outcome.message}`);
  }
  return outcome as T;
}

/** The code of a refusal, or null for what was not refused. */
export function codeOf(outcome: unknown): string | null {
  if (typeof outcome !== 'object' || outcome === null || !isRefusal(outcome)) return null;
  return outcome.refused;
}
