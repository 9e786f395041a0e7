/**
 * The nouns composed: one State, one Command, one Event, one Decider. The same
 * list of events always makes the same world [L1].
 */

import { type AckRecorded, decideAck, evolveAcked, type RecordAck } from '../talk/ack.ts';
import {
  type AgentSeen,
  type AssumeRoles,
  decideAssume,
  decideSee,
  evolveAssumed,
  type RolesAssumed,
  type SeeAgent,
} from '../talk/agent.ts';
import {
  type AgentRemoved,
  decideRemoveAgent,
  evolveRemovedAgent,
  type RemoveAgent,
} from '../talk/departure.ts';
import {
  type CreateGroup,
  decideCreate,
  decideInvite,
  decideJoin,
  decideLeave,
  decideRemove,
  evolveGroup,
  type GroupEvent,
  type InviteToGroup,
  type JoinGroup,
  type LeaveGroup,
  type RemoveGroup,
} from '../talk/group.ts';
import { evolveHeldExpired, type HeldExpired } from '../talk/held.ts';
import {
  type Commit,
  type Drain,
  type Drained,
  decideCommit,
  decideDrain,
  evolveDrained,
  evolveLapsed,
  type Lapsed,
} from '../talk/inbox.ts';
import {
  decideReview,
  decideSend,
  evolveReviewed,
  evolveSent,
  type MessageReviewed,
  type MessageSent,
  type ReviewMessage,
  type SendMessage,
} from '../talk/message.ts';
import {
  decideBeat,
  evolvePresence,
  type Heartbeat,
  type PresenceBeaten,
  type PresenceChanged,
} from '../talk/presence.ts';
import { decidePresent, type Present } from '../talk/present.ts';
import { evolvePresented, type Presented } from '../talk/presented.ts';
import {
  type ChannelRetired,
  decideRetire,
  evolveRetired,
  type RetireChannel,
} from '../talk/retire.ts';
import {
  decideSubscribe,
  decideUnsubscribe,
  evolveSubscribed,
  evolveUnsubscribed,
  type Subscribe,
  type SubscriptionAdded,
  type SubscriptionRemoved,
  type Unsubscribe,
} from '../talk/subscription.ts';
import { type BusCallRecorded, decideBusCall, type RecordBusCall } from '../work/bus-call.ts';
import type { decideCard } from '../work/card.ts';
import type { ClaimAnswers } from '../work/claim/claims.ts';
import type { decideFinding } from '../work/finding.ts';
import type { decideOffer, OfferRefreshed } from '../work/offer.ts';
import type { ProgressAnswer, TaskAnswer } from '../work/plan/plan-events.ts';
import { decideWork, evolveWork, type WorkCommand, type WorkEvent } from '../work/work.ts';
import { assert } from './assert.ts';
import { decideCompaction, type LogCompacted, type RecordCompaction } from './compaction.ts';
import type { Asked, Decision } from './decider.ts';
import {
  type ChannelConfigured,
  type ConfigureChannel,
  type ConfigureSpace,
  decideConfigureChannel,
  decideConfigureSpace,
  evolveSettings,
  type SpaceConfigured,
} from './settings.ts';
import type { World, WorldView } from './state.ts';
import { evolveTicked, type Ticked } from './tick.ts';
import {
  type CreateToken,
  decideToken,
  evolveToken,
  type RevokeToken,
  type RotateToken,
  type TokenEvent,
} from './token.ts';

/** Puts a refusal on the record: who was turned away, from what, and why [L4]. */
export interface RecordRefusal extends Asked {
  readonly type: 'refusal.record';
  readonly operation: string;
  readonly code: string;
  readonly about: string | null;
}

export interface RefusalRecorded {
  readonly type: 'refusal.recorded';
  readonly at: number;
  readonly by: string;
  readonly operation: string;
  readonly code: string;
  readonly about: string | null;
}

export type Command =
  | SendMessage
  | ReviewMessage
  | Subscribe
  | Unsubscribe
  | Drain
  | Commit
  | Present
  | RecordAck
  | Heartbeat
  | CreateGroup
  | InviteToGroup
  | JoinGroup
  | LeaveGroup
  | RemoveGroup
  | RetireChannel
  | RemoveAgent
  | SeeAgent
  | ConfigureSpace
  | ConfigureChannel
  | CreateToken
  | RotateToken
  | RevokeToken
  | RecordRefusal
  | RecordBusCall
  | RecordCompaction
  | AssumeRoles
  | WorkCommand;

/** Events that go into the log. */
export type DurableEvent =
  | MessageSent
  | MessageReviewed
  | HeldExpired
  | ChannelRetired
  | AgentRemoved
  | AgentSeen
  | SubscriptionAdded
  | SubscriptionRemoved
  | Drained
  | Lapsed
  | AckRecorded
  | PresenceChanged
  | GroupEvent
  | SpaceConfigured
  | ChannelConfigured
  | TokenEvent
  | RefusalRecorded
  | BusCallRecorded
  | LogCompacted
  | RolesAssumed
  | Exclude<WorkEvent, OfferRefreshed>;

/** Events that change memory only; nobody is promised them after a crash. */
export type EphemeralEvent = Presented | PresenceBeaten | OfferRefreshed | Ticked;

export type Event = DurableEvent | EphemeralEvent;

const EPHEMERAL: Readonly<Record<EphemeralEvent['type'], true>> = {
  'inbox.presented': true,
  'presence.beaten': true,
  'offer.refreshed': true,
  'clock.ticked': true,
};

export function isEphemeral(event: Event): event is EphemeralEvent {
  return event.type in EPHEMERAL;
}

/** What each command answers, by its type. */
export interface Answers extends ClaimAnswers {
  'message.send': ReturnType<typeof decideSend>;
  'message.review': ReturnType<typeof decideReview>;
  'subscription.add': ReturnType<typeof decideSubscribe>;
  'subscription.remove': ReturnType<typeof decideUnsubscribe>;
  'inbox.drain': ReturnType<typeof decideDrain>;
  'inbox.commit': ReturnType<typeof decideCommit>;
  'inbox.present': ReturnType<typeof decidePresent>;
  'ack.record': ReturnType<typeof decideAck>;
  'presence.beat': ReturnType<typeof decideBeat>;
  'group.create': ReturnType<typeof decideCreate>;
  'group.invite': ReturnType<typeof decideInvite>;
  'group.join': ReturnType<typeof decideJoin>;
  'group.leave': ReturnType<typeof decideLeave>;
  'group.remove': ReturnType<typeof decideRemove>;
  'channel.retire': ReturnType<typeof decideRetire>;
  'agent.remove': ReturnType<typeof decideRemoveAgent>;
  'agent.see': ReturnType<typeof decideSee>;
  'space.configure': ReturnType<typeof decideConfigureSpace>;
  'channel.configure': ReturnType<typeof decideConfigureChannel>;
  'token.create': ReturnType<typeof decideToken>;
  'token.rotate': ReturnType<typeof decideToken>;
  'token.revoke': ReturnType<typeof decideToken>;
  'refusal.record': Decision<RefusalRecorded, null>;
  'bus.record': ReturnType<typeof decideBusCall>;
  'compaction.record': ReturnType<typeof decideCompaction>;
  'agent.assume': ReturnType<typeof decideAssume>;
  'task.declare': Decision<Event, TaskAnswer>;
  'task.update': Decision<Event, TaskAnswer>;
  'task.remove': Decision<Event, TaskAnswer>;
  'progress.post': Decision<Event, ProgressAnswer>;
  'offer.make': ReturnType<typeof decideOffer>;
  'offer.withdraw': ReturnType<typeof decideOffer>;
  'card.advertise': ReturnType<typeof decideCard>;
  'card.withdraw': ReturnType<typeof decideCard>;
  'finding.record': ReturnType<typeof decideFinding>;
  'recall.log': ReturnType<typeof decideFinding>;
}

export type AnswerTo<C extends Command> = Extract<
  Answers[C['type']],
  { answer: unknown }
>['answer'];

export function decide(world: WorldView, command: Command): Decision<Event, unknown> {
  switch (command.type) {
    case 'message.send':
      return decideSend(world, command);
    case 'message.review':
      return decideReview(world, command);
    case 'subscription.add':
      return decideSubscribe(world, command);
    case 'subscription.remove':
      return decideUnsubscribe(world, command);
    case 'inbox.drain':
      return decideDrain(world, command);
    case 'inbox.commit':
      return decideCommit(world, command);
    case 'inbox.present':
      return decidePresent(world, command);
    case 'ack.record':
      return decideAck(world, command);
    case 'presence.beat':
      return decideBeat(world, command);
    case 'group.create':
      return decideCreate(world, command);
    case 'group.invite':
      return decideInvite(world, command);
    case 'group.join':
      return decideJoin(world, command);
    case 'group.leave':
      return decideLeave(world, command);
    case 'group.remove':
      return decideRemove(world, command);
    case 'channel.retire':
      return decideRetire(world, command);
    case 'agent.remove':
      return decideRemoveAgent(world, command);
    case 'agent.see':
      return decideSee(world, command);
    case 'space.configure':
      return decideConfigureSpace(world, command);
    case 'channel.configure':
      return decideConfigureChannel(world, command);
    case 'token.create':
    case 'token.rotate':
    case 'token.revoke':
      return decideToken(world, command);
    case 'refusal.record': {
      const { at, by, operation, code, about } = command;
      return {
        events: [{ type: 'refusal.recorded', at, by: by.id, operation, code, about }],
        answer: null,
      };
    }
    case 'bus.record':
      return decideBusCall(command);
    case 'compaction.record':
      return decideCompaction(command);
    case 'agent.assume':
      return decideAssume(world, command);
    default:
      return decideWork(world, command);
  }
}

/** `position` is where the event lies in the log; for an ephemeral event it is not looked at. */
export function evolve(world: World, event: Event, position: number): void {
  world.at = Math.max(world.at, event.at);
  if (!isEphemeral(event)) {
    assert(position === world.length, 'events come in the order of the log, without a gap');
    world.length = position + 1;
    world.recordedAt = event.at;
    const actor = 'by' in event ? world.agents.get(event.by) : undefined;
    if (actor !== undefined) actor.seenAt = event.at;
  }
  switch (event.type) {
    case 'message.sent':
      return evolveSent(world, event, position);
    case 'message.reviewed':
      return evolveReviewed(world, event);
    case 'held.expired':
      return evolveHeldExpired(world, event);
    case 'channel.retired':
      return evolveRetired(world, event);
    case 'agent.removed':
      return evolveRemovedAgent(world, event);
    case 'subscription.added':
      return evolveSubscribed(world, event);
    case 'subscription.removed':
      return evolveUnsubscribed(world, event);
    case 'inbox.drained':
      return evolveDrained(world, event);
    case 'inbox.lapsed':
      return evolveLapsed(world, event);
    case 'inbox.presented':
      return evolvePresented(world, event);
    case 'ack.recorded':
      return evolveAcked(world, event);
    case 'presence.changed':
    case 'presence.beaten':
      return evolvePresence(world, event);
    case 'group.created':
    case 'group.invited':
    case 'group.joined':
    case 'group.left':
    case 'group.removed':
      return evolveGroup(world, event);
    case 'space.configured':
    case 'channel.configured':
      return evolveSettings(world, event);
    case 'token.created':
    case 'token.rotated':
    case 'token.revoked':
      return evolveToken(world, event);
    case 'refusal.recorded':
    case 'bus.recorded':
    case 'log.compacted':
    case 'agent.seen':
      return;
    case 'agent.assumed':
      return evolveAssumed(world, event);
    case 'clock.ticked':
      return evolveTicked(world, event);
    default:
      return evolveWork(world, event, position);
  }
}
