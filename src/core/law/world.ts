/**
 * The nouns composed: one State, one Command, one Event, one Decider. The same
 * list of events always makes the same world [L1].
 */

import type { ContextEvent } from '../context/context-events.ts';
import { evolveContext, isContextEvent } from '../context/context-evolve.ts';
import { CONTEXT_DECIDERS, type ContextDeciders } from '../context/deciders.ts';
import { type BlockedEvent, evolveBlocked } from '../docket/blocked-session.ts';
import { DOCKET_DECIDERS, type DocketDeciders } from '../docket/deciders.ts';
import {
  type DocketEvent,
  evolveClosed,
  evolveNoticed,
  evolveRaised,
  evolveTaken,
} from '../docket/docket-commands.ts';
import { type DocketLapsed, evolveLapsedQuestions } from '../docket/lapsed-questions.ts';
import { GATE_DECIDERS, type GateDeciders } from '../gates/deciders.ts';
import type { GateEvent, PersonEvent } from '../gates/gate-events.ts';
import { evolveGates, isGateEvent } from '../gates/gate-evolve.ts';
import { PROCESS_DECIDERS, type ProcessDeciders } from '../processes/deciders.ts';
import type { ProcessEvent } from '../processes/process-events.ts';
import { evolveProcesses, isProcessEvent } from '../processes/process-evolve.ts';
import { SESSION_DECIDERS, type SessionDeciders } from '../sessions/deciders.ts';
import type { SessionEvent } from '../sessions/session-events.ts';
import { evolveSessions, isSessionEvent, releaseClosed } from '../sessions/session-evolve.ts';
import { type AckRecorded, decideAck, evolveAcked } from '../talk/ack.ts';
import {
  type AgentSeen,
  decideAssign,
  decideSee,
  evolveAssigned,
  evolveSeen,
  ownUp,
  type RolesAssigned,
  vouchedFor,
} from '../talk/agent.ts';
import { type AgentRemoved, decideRemoveAgent, evolveRemovedAgent } from '../talk/departure.ts';
import {
  decideCreate,
  decideInvite,
  decideJoin,
  decideLeave,
  decideRemove,
  evolveGroup,
  type GroupEvent,
} from '../talk/group.ts';
import { evolveHeldExpired, type HeldExpired } from '../talk/held.ts';
import {
  type Drained,
  decideCommit,
  decideDrain,
  evolveDrained,
  evolveLapsed,
  type Lapsed,
} from '../talk/inbox.ts';
import { decideSend, evolveSent, type MessageSent } from '../talk/message.ts';
import {
  decideBeat,
  evolvePresence,
  type PresenceBeaten,
  type PresenceChanged,
} from '../talk/presence.ts';
import { decidePresent } from '../talk/present.ts';
import { evolvePresented, type Presented } from '../talk/presented.ts';
import { type ChannelRetired, decideRetire, evolveRetired } from '../talk/retire.ts';
import { decideReview, evolveReviewed, type MessageReviewed } from '../talk/review.ts';
import {
  decideSubscribe,
  decideUnsubscribe,
  evolveSubscribed,
  evolveUnsubscribed,
  type SubscriptionAdded,
  type SubscriptionRemoved,
} from '../talk/subscription.ts';
import { THREAD_DECIDERS, type ThreadDeciders } from '../threads/deciders.ts';
import { evolveThreads, type ThreadEvent } from '../threads/thread-evolve.ts';
import { TURN_DECIDERS, type TurnDeciders } from '../turns/deciders.ts';
import type { TurnEvent } from '../turns/turn-events.ts';
import { evolveTurns, isTurnEvent } from '../turns/turn-evolve.ts';
import { checkTurn } from '../turns/turn-token.ts';
import { decideWake, type WakeRecorded } from '../turns/wake-record.ts';
import { type BusCallRecorded, decideBusCall } from '../work/bus-call.ts';
import type { decideCard } from '../work/card.ts';
import { type ClaimAnswers, decideOnce } from '../work/claim/claims.ts';
import type { decideFinding } from '../work/finding.ts';
import { decideGuard, type GuardRecorded } from '../work/guard-decision.ts';
import type { decideOffer, OfferRefreshed } from '../work/offer.ts';
import type { ProgressAnswer, TaskAnswer } from '../work/plan/plan-events.ts';
import {
  armSupervisor,
  decideWork,
  evolveWork,
  type WorkCommand,
  type WorkEvent,
} from '../work/work.ts';
import { RUN_DECIDERS, type RunDeciders } from '../workflows/deciders.ts';
import type { RunEvent } from '../workflows/run-events.ts';
import { evolveRuns, isRunEvent } from '../workflows/run-evolve.ts';
import { assert } from './assert.ts';
import type { Decision } from './decider.ts';
import {
  evolveRecord,
  RECORD_DECIDERS,
  type RecordDeciders,
  type RecordEvent,
} from './record-deciders.ts';
import { decideRefusal, type RefusalRecorded } from './refusal-record.ts';
import {
  type ChannelConfigured,
  decideConfigureChannel,
  decideConfigureSpace,
  evolveSettings,
  type SpaceConfigured,
} from './settings.ts';
import type { World, WorldView } from './state.ts';
import { evolveTicked, type Ticked } from './tick.ts';
import { decideToken, evolveToken, type TokenEvent } from './token.ts';

/** Who decides each command of talk and law; those of work are `decideWork`'s. */
interface Deciders
  extends ContextDeciders,
    DocketDeciders,
    RecordDeciders,
    GateDeciders,
    ProcessDeciders,
    SessionDeciders,
    RunDeciders,
    ThreadDeciders,
    TurnDeciders {
  'message.send': typeof decideSend;
  'message.review': typeof decideReview;
  'subscription.add': typeof decideSubscribe;
  'subscription.remove': typeof decideUnsubscribe;
  'inbox.drain': typeof decideDrain;
  'inbox.commit': typeof decideCommit;
  'inbox.present': typeof decidePresent;
  'ack.record': typeof decideAck;
  'presence.beat': typeof decideBeat;
  'group.create': typeof decideCreate;
  'group.invite': typeof decideInvite;
  'group.join': typeof decideJoin;
  'group.leave': typeof decideLeave;
  'group.remove': typeof decideRemove;
  'channel.retire': typeof decideRetire;
  'agent.remove': typeof decideRemoveAgent;
  'agent.see': typeof decideSee;
  'space.configure': typeof decideConfigureSpace;
  'channel.configure': typeof decideConfigureChannel;
  'token.create': typeof decideToken;
  'token.rotate': typeof decideToken;
  'token.revoke': typeof decideToken;
  'refusal.record': typeof decideRefusal;
  'bus.record': typeof decideBusCall;
  'guard.record': typeof decideGuard;
  'wake.record': typeof decideWake;
  'agent.assign': typeof decideAssign;
}

const DECIDERS: Deciders = {
  'message.send': decideSend,
  'message.review': decideReview,
  'subscription.add': decideSubscribe,
  'subscription.remove': decideUnsubscribe,
  'inbox.drain': decideDrain,
  'inbox.commit': decideCommit,
  'inbox.present': decidePresent,
  'ack.record': decideAck,
  'presence.beat': decideBeat,
  'group.create': decideCreate,
  'group.invite': decideInvite,
  'group.join': decideJoin,
  'group.leave': decideLeave,
  'group.remove': decideRemove,
  'channel.retire': decideRetire,
  'agent.remove': decideRemoveAgent,
  'agent.see': decideSee,
  'space.configure': decideConfigureSpace,
  'channel.configure': decideConfigureChannel,
  'token.create': decideToken,
  'token.rotate': decideToken,
  'token.revoke': decideToken,
  'refusal.record': decideRefusal,
  'bus.record': decideBusCall,
  'guard.record': decideGuard,
  'wake.record': decideWake,
  'agent.assign': decideAssign,
  ...CONTEXT_DECIDERS,
  ...DOCKET_DECIDERS,
  ...RECORD_DECIDERS,
  ...GATE_DECIDERS,
  ...PROCESS_DECIDERS,
  ...SESSION_DECIDERS,
  ...RUN_DECIDERS,
  ...THREAD_DECIDERS,
  ...TURN_DECIDERS,
};

/** A decider of several commands is entered once for each. */
type CommandOf = {
  [T in keyof Deciders]: Extract<Parameters<Deciders[T]>[1], { readonly type: T }>;
};

export type Command = CommandOf[keyof Deciders] | WorkCommand;

/** Events that go into the log. */
export type DurableEvent =
  | MessageSent
  | MessageReviewed
  | HeldExpired
  | ChannelRetired
  | ThreadEvent
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
  | GuardRecorded
  | WakeRecorded
  | RecordEvent
  | RolesAssigned
  | DocketEvent
  | DocketLapsed
  | BlockedEvent
  | GateEvent
  | PersonEvent
  | TurnEvent
  | ProcessEvent
  | ContextEvent
  | SessionEvent
  | RunEvent
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
type Answers = { [T in keyof Deciders]: ReturnType<Deciders[T]> } & WorkAnswers;

interface WorkAnswers extends ClaimAnswers {
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
  const decision = decideKeyed(world, command);
  return command.by.isVouched ? vouchedFor(world, command, decision) : decision;
}

function decideKeyed(world: WorldView, command: Command): Decision<Event, unknown> {
  const stale = command.by.turn === undefined ? null : checkTurn(world, command);
  if (stale !== null) return stale;
  return command.idempotency == null || command.type.startsWith('claim.')
    ? decideAny(world, command)
    : decideOnce(world.claims, command, () => decideAny(world, command));
}

function decideAny(world: WorldView, command: Command): Decision<Event, unknown> {
  if (!isOfTable(command)) return decideWork(world, command);
  const decider: (world: WorldView, command: never) => Decision<Event, unknown> =
    DECIDERS[command.type];
  return decider(world, command as never);
}

function isOfTable(command: Command): command is CommandOf[keyof Deciders] {
  return command.type in DECIDERS;
}

/** `position` is where the event lies in the log; for an ephemeral event it is not looked at. */
export function evolve(world: World, event: Event, position: number): void {
  world.at = Math.max(world.at, event.at);
  if (!isEphemeral(event)) {
    assert(position === world.length, 'events come in the order of the log, without a gap');
    world.length = position + 1;
    world.recordedAt = event.at;
    const actor = 'by' in event ? world.agents.get(event.by) : undefined;
    if (actor !== undefined) {
      actor.seenAt = event.at;
      if (actor.madeBy !== null) ownUp(world, actor);
    }
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
    case 'channel.described':
    case 'thread.marked':
      return evolveThreads(world, event, position);
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
      evolveSettings(world, event);
      return armSupervisor(world, event.at);
    case 'channel.configured':
      return evolveSettings(world, event);
    case 'token.created':
    case 'token.rotated':
    case 'token.revoked':
      return evolveToken(world, event);
    case 'refusal.recorded':
    case 'bus.recorded':
    case 'guard.recorded':
    case 'wake.recorded':
      return;
    case 'log.compacted':
    case 'snapshot.taken':
    case 'log.broken':
      return evolveRecord(world, event);
    case 'agent.seen':
      return evolveSeen(world, event);
    case 'agent.assigned':
      return evolveAssigned(world, event);
    case 'docket.raised':
      return evolveRaised(world, event);
    case 'docket.taken':
      return evolveTaken(world, event);
    case 'docket.closed':
      releaseClosed(world, event);
      return evolveClosed(world, event);
    case 'docket.noticed':
      return evolveNoticed(world, event);
    case 'docket.blocked':
    case 'docket.unblocked':
      return evolveBlocked(world, event);
    case 'docket.lapsed':
      return evolveLapsedQuestions(world, event);
    case 'clock.ticked':
      return evolveTicked(world, event);
    default:
      if (isRunEvent(event)) return evolveRuns(world, event, position);
      if (isTurnEvent(event)) return evolveTurns(world, event);
      if (isGateEvent(event)) return evolveGates(world, event);
      if (isProcessEvent(event)) return evolveProcesses(world, event);
      if (isContextEvent(event)) return evolveContext(world, event, position);
      if (isSessionEvent(event)) return evolveSessions(world, event, position);
      return evolveWork(world, event);
  }
}
