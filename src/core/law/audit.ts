/**
 * The record as a list of deeds: who did what to what, and how it ended [AU1]. One row a kind of event,
 * complete by its type: a new kind does not compile until it says what it is here, or that it is
 * only bookkeeping. A row names ids, names and codes: no body, no text of anybody, no hash of a secret.
 */

import { channelOfNamespace } from '../context/own-namespaces.ts';
import type { PasskeyEvent } from '../gates/gate-events.ts';
import { messageId } from '../talk/message-id.ts';
import { SERVER } from './principal.ts';
import type { DurableEvent } from './world.ts';

export interface Deed {
  readonly actor: string;
  /** What it was done to; null where the deed says it all. */
  readonly subject: string | null;
  /** `done`, unless the deed has ends of its own. */
  readonly outcome: string;
  readonly detail: Readonly<Record<string, string | number>>;
  /** The channel it was said on, for who asks whether it may be shown. */
  readonly channel: string | null;
}

type OfKind<E, T> = E extends { readonly type: infer U } ? (T extends U ? E : never) : never;
/** Null: bookkeeping of the hub, which nobody decided. */
type Tellers = {
  readonly [T in DurableEvent['type']]: ((event: OfKind<DurableEvent, T>) => Deed) | null;
};

const HUB = SERVER.id;

function deed(
  actor: string,
  subject: string | null = null,
  outcome = 'done',
  detail: Deed['detail'] = {},
  channel: string | null = null,
): Deed {
  return { actor, subject, outcome, detail, channel };
}

const onId = ({ by, id }: { readonly by: string; readonly id: string }): Deed => deed(by, id);
const onGroup = ({ by, group }: { readonly by: string; readonly group: string }): Deed =>
  deed(by, group, 'done', {}, group);
const onAgent = ({ by, agent }: { readonly by: string; readonly agent: string }): Deed =>
  deed(by, agent);
const onPasskey = ({ by, name, id }: PasskeyEvent): Deed => deed(by, name, 'done', { id });
const onTurn = ({ id }: { readonly id: string }): Deed => deed(HUB, id);
const onWait = ({ agent, number }: { readonly agent: string; readonly number: number }): Deed =>
  deed(agent, `wait ${number}`);

const verdict = (
  outcome: string,
  { by, id, person, proof }: OfKind<DurableEvent, 'gate.approved' | 'gate.denied'>,
): Deed => deed(by, id, outcome, { ...(person !== null && { person }), proof });

const TELLERS: Tellers = {
  'message.sent': ({ by, channel, seq, actor, turn, held }) =>
    deed(
      by,
      channel,
      held === undefined ? 'done' : 'held',
      {
        seq,
        ...(actor !== undefined && { on_behalf_of: actor }),
        ...(turn !== undefined && { turn }),
      },
      channel,
    ),
  'message.reviewed': ({ by, position, isReleased, channel }) =>
    deed(by, messageId(position), isReleased ? 'released' : 'refused', {}, channel),
  'held.expired': ({ expired }) => deed(HUB, 'held', 'expired', { messages: expired.length }),
  'channel.retired': ({ by, channel }) => deed(by, channel, 'done', {}, channel),
  'channel.described': ({ by, channel }) => deed(by, channel, 'done', {}, channel),
  'thread.marked': ({ by, position, mark, version, channel }) =>
    deed(by, messageId(position), mark, { version }, channel),
  'channel.configured': ({ by, channel }) => deed(by, channel, 'done', {}, channel),
  'space.configured': ({ by }) => deed(by, 'space'),
  'agent.removed': onAgent,
  'agent.defined': onAgent,
  'agent.undefined': onAgent,
  'instance.started': ({ by, id, agent }) => deed(by, id, 'starting', { agent }),
  'instance.taken': ({ by, id, epoch }) => deed(by, id, 'taken', { epoch }),
  'instance.moved': ({ by, id, state }) => deed(by, id, state),
  'instance.renewed': null,
  'context.written': ({ by, ns, key }) =>
    deed(by, `${ns} ${key}`, 'done', {}, channelOfNamespace(ns)),
  'context.deleted': ({ by, ns, key, isLapse }) =>
    deed(by, `${ns} ${key}`, isLapse ? 'lapsed' : 'done', {}, channelOfNamespace(ns)),
  'session.created': ({ by, id, holder }) => deed(by, id, 'done', { holder }),
  'session.forked': ({ by, id, from }) => deed(by, id, 'done', { from }),
  'session.appended': ({ by, id, items }) => deed(by, id, 'done', { items: items.length }),
  'session.rewound': ({ by, id, length }) => deed(by, id, 'done', { length }),
  'session.compacted': ({ by, id, count }) => deed(by, id, 'done', { count }),
  'session.handed-off': ({ by, id, holder, to }) => deed(by, id, 'done', { from: holder, to }),
  'session.parked': ({ by, id, to }) => deed(by, id, 'parked', { to }),
  'session.shared': ({ by, id, with: agent, access }) =>
    deed(by, id, access ?? 'withdrawn', { agent }),
  'session.ended': ({ by, id, how }) => deed(by, id, how),
  'run.started': ({ by, id, name }) => deed(by, id, 'queued', { workflow: name }),
  'run.taken': ({ by, id, epoch }) => deed(by, id, 'taken', { epoch }),
  'run.recorded': null,
  'run.renewed': null,
  'run.woken': null,
  'run.lapsed': ({ id, epoch }) => deed(HUB, id, 'lapsed', { epoch }),
  'run.signalled': ({ by, id, name }) => deed(by, id, 'signalled', { signal: name }),
  'run.cancelled': ({ by, id }) => deed(by, id, 'cancelled'),
  'run.retried': ({ by, id }) => deed(by, id, 'retried'),
  'run.answered': ({ by, id, step, answer }) => deed(by, id, answer, { step }),
  'queue.declared': ({ by, name, fields }) => deed(by, name, fields === null ? 'removed' : 'done'),
  'agent.seen': null,
  'agent.assigned': ({ by, agent, roles }) => deed(by, agent, 'done', { roles: roles.join(' ') }),
  'subscription.added': ({ by, pattern }) => deed(by, pattern, 'done', {}, pattern),
  'subscription.removed': ({ by, patterns }) =>
    deed(by, null, 'done', { patterns: patterns.length }),
  'inbox.drained': null,
  'inbox.lapsed': null,
  'ack.recorded': ({ by, position, status, channel }) =>
    deed(by, messageId(position), status, {}, channel),
  'presence.changed': null,
  'group.created': onGroup,
  'group.invited': ({ by, group, agent }) => deed(by, group, 'done', { agent }, group),
  'group.joined': onGroup,
  'group.left': onGroup,
  'group.removed': onGroup,
  'token.created': ({ by, token: { id, agent, kind, tier } }) =>
    deed(by, id, 'done', { agent, kind, tier }),
  'token.rotated': onId,
  'token.revoked': onId,
  'refusal.recorded': ({ by, operation, code, about }) =>
    deed(by, operation, code, about === null ? {} : { about }),
  'log.compacted': ({ by, facts: { through, dropped } }) =>
    deed(by, 'log', 'done', { through, dropped }),
  'snapshot.taken': null,
  'log.broken': ({ through, file }) =>
    deed(HUB, 'log', 'broken', { through, ...(file !== null && { file }) }),
  'bus.recorded': ({ call, missed }) => {
    const { action, resource, agentId, sessionId, outcome, durationMs, actor } = call;
    return deed(actor.client ?? actor.id ?? 'bus', action, outcome, {
      ...(resource !== null && { worker: resource }),
      ...(agentId !== undefined && { agent: agentId }),
      ...(sessionId !== undefined && { session: sessionId }),
      duration_ms: durationMs,
      ...(missed > 0 && { missed }),
    });
  },
  'guard.recorded': ({ by, decisions, missed }) => {
    const refused = decisions.filter(({ allowed }) => !allowed);
    const [first] = [...refused, ...decisions];
    const count = (of: typeof decisions): number => of.reduce((sum, { times }) => sum + times, 0);
    return deed(by, first?.guard ?? null, first?.code, {
      ...{ allowed: count(decisions) - count(refused), refused: count(refused) },
      ...(first !== undefined && { kind: first.kind }),
      ...(missed > 0 && { missed }),
    });
  },
  'wake.recorded': ({ by, wake: { agent, outcome, session, vendor, means, messages } }) =>
    deed(by, agent, outcome, {
      ...(session !== null && { session }),
      ...{ vendor, means, messages },
    }),
  'docket.raised': ({ by, to }) => deed(by, 'docket', 'done', to === null ? {} : { to }),
  'docket.taken': ({ by, id }) => deed(by, `docket ${id}`),
  'docket.closed': ({ by, id, outcome }) => deed(by, `docket ${id}`, outcome),
  'docket.noticed': null,
  'docket.blocked': ({ agent, session }) => deed(agent, session, 'blocked'),
  'docket.unblocked': ({ session, outcome }) => deed(HUB, session, outcome),
  'docket.lapsed': ({ agent, questions }) =>
    deed(agent, 'docket', 'lapsed', { questions: questions.length }),
  'gate.asked': ({ by, id, action, subject, tier, turn }) =>
    deed(by, id, 'asked', { action, subject, tier, ...(turn !== null && { turn }) }),
  'gate.approved': (event) => verdict('approved', event),
  'gate.denied': (event) => verdict('denied', event),
  'gate.consumed': ({ by, id }) => deed(by, id, 'used'),
  'gate.ended': ({ by, id, state }) => deed(by, id, state),
  'person.added': ({ by, name, vouchedBy }) =>
    deed(by, name, 'done', vouchedBy === null ? {} : { vouched_by: vouchedBy }),
  'person.removed': ({ by, name, vouchedBy }) => deed(by, name, 'done', { vouched_by: vouchedBy }),
  'passkey.added': onPasskey,
  'passkey.removed': onPasskey,
  'passkey.used': onPasskey,
  'agent.managed': onAgent,
  'agent.unmanaged': onAgent,
  'agent.paused': ({ by, agents }) =>
    deed(by, agents.length === 1 ? (agents[0] ?? null) : null, 'done', { agents: agents.length }),
  'agent.resumed': ({ by, agents }) =>
    deed(by, agents.length === 1 ? (agents[0] ?? null) : null, 'done', { agents: agents.length }),
  'agent.parked': ({ agent, cause, turn }) =>
    deed(HUB, agent, cause, turn === null ? {} : { turn }),
  'turn.due': ({ id, agent, messages }) =>
    deed(HUB, id, 'due', { agent, messages: messages.length }),
  'turn.waits': ({ agent, cause }) => deed(HUB, agent, cause),
  'turn.stilled': ({ agent, cause, sender, position }) =>
    deed(sender, agent, cause, { message: messageId(position) }),
  'turn.passed': ({ agent, id }) => deed(HUB, id ?? agent, 'passed', { agent }),
  'turn.taken': ({ by, id, epoch }) => deed(by, id, 'taken', { epoch }),
  'turn.renewed': null,
  'turn.finished': ({ by, id, outcome }) => deed(by, id, outcome),
  'turn.failed': ({ id, cause }) => deed(HUB, id, 'failed', { cause }),
  'turn.retried': onTurn,
  'turn.dead': ({ id }) => deed(HUB, id, 'dead'),
  'turn.cancelled': ({ by, id }) => deed(by, id, 'cancelled'),
  'turn.revived': onId,
  'claim.taken': ({ by, id, epoch }) => deed(by, id, 'done', { epoch }),
  'claim.renewed': null,
  'claim.updated': ({ by, id, status }) => deed(by, id, status),
  'claim.checkpointed': onId,
  'claim.offered': ({ by, id, to }) => deed(by, id, 'done', to === null ? {} : { to }),
  'claim.handed-off': ({ by, id, to, epoch }) => deed(by, id, 'done', { to, epoch }),
  'claim.released': ({ by, id, owner }) => deed(by, id, 'done', { owner }),
  'claim.expired': ({ id, owner, epoch }) => deed(owner, id, 'lapsed', { epoch }),
  'claim.forgotten': ({ by, id, from }) => deed(by, id ?? from ?? 'old checkpoints'),
  'claim.keyed': null,
  'wait.started': ({ by, number }) => deed(by, `wait ${number}`),
  'wait.reserved': onWait,
  'wait.ended': ({ agent, number, reason }) => deed(agent, `wait ${number}`, reason),
  'task.declared': onId,
  'task.updated': ({ by, id, status }) => deed(by, id, status),
  'task.removed': onId,
  'task.escalated': ({ by, id, tries }) => deed(by, id, 'escalated', { tries }),
  'progress.noted': ({ by, taskId, kind }) => deed(by, taskId, kind),
  'offer.made': ({ offer: { agent, kind, name } }) => deed(agent, `${kind} ${name}`),
  'offer.expired': ({ agent, kind, name }) => deed(agent, `${kind} ${name}`, 'lapsed'),
  'offer.withdrawn': ({ agent, kind, name }) => deed(agent, `${kind} ${name}`),
  'card.advertised': ({ agent }) => deed(agent, agent),
  'card.dropped': ({ agent, reason }) => deed(agent, agent, reason),
  'finding.recorded': ({ by, verdict: outcome }) => deed(by, 'finding', outcome),
  'recall.logged': ({ by }) => deed(by, 'recall'),
};

/** Every kind of event that is a deed. */
export function isDeed(type: string): type is DurableEvent['type'] {
  return (TELLERS as Readonly<Record<string, unknown>>)[type] != null;
}

/** A kind that is stored and is no deed [AU3]. */
export function isBookkeeping(type: string): boolean {
  return Object.hasOwn(TELLERS, type) && !isDeed(type);
}

export function deedOf(event: DurableEvent): Deed | null {
  const tell = TELLERS[event.type] as ((event: DurableEvent) => Deed) | null;
  return tell === null ? null : tell(event);
}
