/**
 * What a stored event of each kind must hold before `evolve` may see it. The table is complete by its
 * type: a new kind, or a new field that is always there, does not compile until it has its place here.
 *
 * A field that is added later must be lifted into old entries, in lift.ts. One that changes its
 * meaning takes a new kind: no check here could tell.
 */
import type { DurableEvent } from './world.ts';

/** What `typeof` says, or `list`; with `?` it may be null. */
type Word =
  | 'string'
  | 'number'
  | 'boolean'
  | 'object'
  | 'list'
  | 'string?'
  | 'number?'
  | 'boolean?'
  | 'object?'
  | 'any';

type WordFor<V> = unknown extends V
  ? 'any'
  : null extends V
    ? `${PlainWord<NonNullable<V>>}?`
    : PlainWord<V>;
type PlainWord<V> = V extends string
  ? 'string'
  : V extends number
    ? 'number'
    : V extends boolean
      ? 'boolean'
      : V extends readonly unknown[]
        ? 'list'
        : 'object';

/** The fields that are always there. A body is text in memory and JSON in the log, and opaque in both. */
type Shape<E> = {
  readonly [K in keyof E as K extends 'type' | 'body'
    ? never
    : object extends Pick<E, K>
      ? never
      : K]: WordFor<E[K]>;
};

type OfKind<E, T> = E extends { readonly type: infer U } ? (T extends U ? E : never) : never;
type Shapes = { readonly [T in DurableEvent['type']]: Shape<OfKind<DurableEvent, T>> };

const SAID = { at: 'number', by: 'string' } as const;
const ON_MESSAGE = { ...SAID, channel: 'string', seq: 'number', position: 'number' } as const;
const ON_GROUP = { ...SAID, group: 'string' } as const;
const ON_ID = { ...SAID, id: 'string' } as const;
const ON_CUT = { ...ON_ID, cut: 'list', previousCut: 'number?' } as const;
const VERDICT = { ...ON_ID, person: 'string?', proof: 'string', reason: 'string?' } as const;
const ON_WAIT = { at: 'number', agent: 'string', number: 'number' } as const;
const ON_TURN = { at: 'number', id: 'string' } as const;
const ON_OFFER = { at: 'number', agent: 'string', kind: 'string', name: 'string' } as const;

const ON_CONTEXT = {
  ...SAID,
  ns: 'string',
  key: 'string',
  was: 'number',
  prior: 'number',
} as const;

const SHAPES: Shapes = {
  'message.sent': { ...SAID, channel: 'string', seq: 'number' },
  'held.expired': { at: 'number', expired: 'list' },
  'channel.retired': { ...SAID, channel: 'string' },
  'channel.described': { ...SAID, channel: 'string', described: 'object' },
  'thread.marked': {
    ...{ ...ON_MESSAGE, as: 'string', mark: 'string', note: 'string?' },
    ...{ version: 'number', previous: 'number?' },
  },
  'agent.removed': { ...SAID, agent: 'string' },
  'agent.seen': SAID,
  'message.reviewed': { ...ON_MESSAGE, isReleased: 'boolean', reason: 'string?' },
  'subscription.added': { ...SAID, pattern: 'string' },
  'subscription.removed': { ...SAID, patterns: 'list' },
  'inbox.drained': { ...SAID, through: 'list' },
  'inbox.lapsed': { at: 'number', agent: 'string', again: 'list', dead: 'list' },
  'ack.recorded': { ...ON_MESSAGE, status: 'string', reason: 'string?' },
  'presence.changed': { at: 'number', agent: 'string', state: 'string' },
  'group.created': { ...ON_GROUP, displayName: 'string?', replayPolicy: 'string?' },
  'group.invited': { ...ON_GROUP, agent: 'string' },
  'group.joined': ON_GROUP,
  'group.left': ON_GROUP,
  'group.removed': ON_GROUP,
  'space.configured': { ...SAID, settings: 'object' },
  'channel.configured': { ...SAID, channel: 'string', settings: 'object' },
  'token.created': { ...SAID, token: 'object' },
  'token.rotated': { ...ON_ID, hash: 'string', expiresAt: 'number?' },
  'token.revoked': ON_ID,
  'refusal.recorded': { ...SAID, operation: 'string', code: 'string', about: 'string?' },
  'log.compacted': { ...SAID, facts: 'object' },
  'log.broken': {
    ...{ at: 'number', through: 'number', head: 'string?', file: 'string?', reason: 'string' },
  },
  'snapshot.taken': { at: 'number', position: 'number', digest: 'string' },
  'bus.recorded': { ...SAID, call: 'object', missed: 'number' },
  'guard.recorded': { ...SAID, decisions: 'list', missed: 'number' },
  'wake.recorded': { ...SAID, wake: 'object' },
  'agent.assigned': { ...SAID, agent: 'string', roles: 'list' },
  'docket.raised': {
    ...SAID,
    question: 'string',
    text: 'string',
    to: 'string?',
    thread: 'string?',
    until: 'number?',
  },
  'docket.taken': { ...SAID, id: 'number' },
  'docket.closed': {
    ...SAID,
    id: 'number',
    subject: 'string?',
    outcome: 'string',
    note: 'string?',
  },
  'docket.noticed': { at: 'number', ids: 'list' },
  'docket.blocked': {
    at: 'number',
    agent: 'string',
    session: 'string',
    reason: 'string',
    text: 'string',
    since: 'number',
  },
  'docket.unblocked': { at: 'number', session: 'string', outcome: 'string' },
  'docket.lapsed': { at: 'number', agent: 'string', questions: 'list' },
  'gate.asked': {
    ...ON_ID,
    credential: 'string',
    action: 'string',
    subject: 'string',
    tier: 'number',
    deciders: 'object',
    deadlineAt: 'number?',
    thread: 'string?',
    payloadHash: 'string?',
    policy: 'string?',
    turn: 'string?',
    isKept: 'boolean',
  },
  'gate.approved': VERDICT,
  'gate.denied': VERDICT,
  'gate.consumed': ON_ID,
  'gate.ended': { ...ON_ID, state: 'string', reason: 'string?' },
  'person.added': { ...SAID, name: 'string', verifier: 'string', vouchedBy: 'string?' },
  'person.removed': { ...SAID, name: 'string', vouchedBy: 'string' },
  'passkey.added': {
    ...SAID,
    ...{ name: 'string', id: 'string', publicKey: 'string', label: 'string?', signCount: 'number' },
  },
  'passkey.removed': { ...ON_ID, name: 'string' },
  'passkey.used': { ...ON_ID, name: 'string', signCount: 'number' },
  'agent.managed': { ...SAID, agent: 'string', config: 'object' },
  'agent.unmanaged': { ...SAID, agent: 'string' },
  'agent.paused': { ...SAID, agents: 'list', reason: 'string?' },
  'agent.resumed': { ...SAID, agents: 'list' },
  'agent.parked': {
    ...{ at: 'number', agent: 'string', cause: 'string', text: 'string', turn: 'string?' },
  },
  'turn.due': { ...ON_TURN, agent: 'string', messages: 'list' },
  'turn.waits': { at: 'number', agent: 'string', until: 'number', cause: 'string' },
  'turn.stilled': {
    ...{ at: 'number', agent: 'string', position: 'number', root: 'number' },
    ...{ sender: 'string', cause: 'string' },
  },
  'turn.passed': { at: 'number', agent: 'string', id: 'string?' },
  'turn.taken': {
    ...{ ...ON_ID, epoch: 'number', leaseMs: 'number', leaseUntil: 'number' },
    ...{ hash: 'string?', messages: 'list' },
  },
  'turn.renewed': { ...ON_ID, leaseUntil: 'number' },
  'turn.finished': {
    ...{ ...ON_ID, outcome: 'string', note: 'string?', sessionRef: 'string?' },
    ...{ cost: 'object?', consumed: 'list' },
  },
  'turn.failed': {
    ...{ ...ON_TURN, cause: 'string', note: 'string?', sessionRef: 'string?' },
    ...{ cost: 'object?', retryAt: 'number?' },
  },
  'turn.retried': ON_TURN,
  'turn.dead': { ...ON_TURN, reason: 'string' },
  'turn.cancelled': { ...ON_ID, reason: 'string?' },
  'turn.revived': ON_ID,
  'agent.defined': { ...SAID, agent: 'string', definition: 'object' },
  'agent.undefined': { ...SAID, agent: 'string' },
  'instance.started': { ...ON_ID, agent: 'string' },
  'instance.taken': { ...ON_ID, epoch: 'number', host: 'string?', leaseMs: 'number' },
  'instance.moved': {
    ...{ ...ON_ID, state: 'string', reason: 'string?', lines: 'list', pid: 'number?' },
  },
  'instance.renewed': { ...ON_ID, usage: 'object?' },
  'context.written': { ...ON_CONTEXT, value: 'any', bytes: 'number', expiresAt: 'number?' },
  'context.deleted': ON_CONTEXT,
  'session.created': {
    ...{ ...ON_ID, holder: 'string', key: 'string?', ttlMs: 'number', items: 'list' },
  },
  'session.forked': {
    ...{ ...ON_ID, key: 'string?', ttlMs: 'number', from: 'string', length: 'number' },
  },
  'session.appended': { ...ON_ID, items: 'list' },
  'session.rewound': { ...ON_CUT, length: 'number' },
  'session.compacted': { ...ON_CUT, count: 'number', items: 'list' },
  'session.handed-off': {
    ...{ ...ON_ID, holder: 'string', to: 'string', why: 'string', items: 'list', claims: 'list' },
  },
  'session.parked': { ...ON_ID, to: 'string', why: 'string', returns: 'number' },
  'session.shared': { ...ON_ID, with: 'string', access: 'string?' },
  'session.ended': { ...ON_CUT, how: 'string', reason: 'string?' },
  'run.started': {
    ...{ ...ON_ID, name: 'string', version: 'string?', digest: 'string', queue: 'string?' },
    ...{ key: 'string?', priority: 'number', notBefore: 'number?', dedup: 'string?' },
    ...{ parent: 'object?', traceparent: 'string?', steps: 'list' },
  },
  'run.taken': {
    ...{ ...ON_ID, epoch: 'number', executor: 'string', version: 'string?', leaseMs: 'number' },
  },
  'run.recorded': { ...ON_ID, epoch: 'number', entries: 'list' },
  'run.renewed': { ...SAID, ids: 'list', leaseMs: 'number' },
  'run.woken': { at: 'number', ids: 'list' },
  'run.lapsed': { at: 'number', id: 'string', epoch: 'number' },
  'run.signalled': { ...ON_ID, name: 'string' },
  'run.cancelled': { ...ON_ID, reason: 'string?', isOver: 'boolean' },
  'run.retried': { ...ON_ID, fromStep: 'object?', map: 'object' },
  'run.answered': { ...ON_ID, step: 'string', key: 'string?', answer: 'string' },
  'queue.declared': { ...SAID, name: 'string', fields: 'object?' },
  'claim.taken': {
    ...ON_ID,
    epoch: 'number',
    scope: 'object?',
    ttlMs: 'number',
    note: 'string?',
    git: 'string?',
    inheritedFrom: 'string?',
  },
  'claim.renewed': { ...ON_ID, epoch: 'number', ttlMs: 'number' },
  'claim.updated': { ...ON_ID, version: 'number', status: 'string' },
  'claim.checkpointed': { ...ON_ID, version: 'number', checkpoint: 'string' },
  'claim.offered': { ...ON_ID, to: 'string?' },
  'claim.handed-off': {
    ...ON_ID,
    to: 'string',
    epoch: 'number',
    lapsesAt: 'number',
    ttlMs: 'number',
  },
  'claim.released': { ...ON_ID, owner: 'string', evidence: 'string?' },
  'claim.expired': { at: 'number', id: 'string', owner: 'string', epoch: 'number' },
  'claim.forgotten': { ...SAID, id: 'string?', from: 'string?', before: 'number?' },
  'claim.keyed': { ...SAID, command: 'string', key: 'string', digest: 'string', answer: 'any' },
  'wait.started': { ...SAID, number: 'number', id: 'string?', scope: 'object?', until: 'number' },
  'wait.reserved': { ...ON_WAIT, id: 'string?', until: 'number' },
  'wait.ended': { ...ON_WAIT, reason: 'string' },
  'task.declared': {
    ...ON_ID,
    title: 'string',
    description: 'string',
    project: 'string?',
    dependsOn: 'list',
    suggestedOwner: 'string?',
    causalParent: 'string?',
    version: 'number',
  },
  'task.updated': {
    ...ON_ID,
    status: 'string',
    suggestedOwner: 'string?',
    version: 'number',
    cause: 'string',
  },
  'task.removed': ON_ID,
  'task.escalated': { ...ON_ID, status: 'string', tries: 'number' },
  'progress.noted': { ...SAID, taskId: 'string?', kind: 'string', text: 'string' },
  'offer.made': { at: 'number', offer: 'object' },
  'offer.expired': ON_OFFER,
  'offer.withdrawn': ON_OFFER,
  'card.advertised': { at: 'number', agent: 'string', card: 'object' },
  'card.dropped': { at: 'number', agent: 'string', reason: 'string' },
  'finding.recorded': { ...SAID, verdict: 'string', reasons: 'list', finding: 'object' },
  'recall.logged': {
    ...SAID,
    queryText: 'string',
    returnedIds: 'list',
    wasUsed: 'boolean?',
    hasAbstained: 'boolean?',
  },
};

/** Every kind of event that goes into the log. */
export const DURABLE_KINDS: readonly DurableEvent['type'][] = Object.keys(
  SHAPES,
) as DurableEvent['type'][];

interface Field {
  readonly name: string;
  readonly said: string;
  readonly mayBeNull: boolean;
}

/** The table as it is asked for every entry that is read: nothing is left to work out. */
const FIELDS: ReadonlyMap<unknown, readonly Field[]> = new Map(
  Object.entries(SHAPES).map(([kind, shape]) => [kind, Object.entries(shape).map(toField)]),
);

function toField([name, word]: readonly [string, Word]): Field {
  return { name, said: word.replace('?', ''), mayBeNull: word === 'any' || word.endsWith('?') };
}

/** The first field that is not what it must be; null when all are; undefined for a kind that is not ours. */
export function findFlaw(event: Readonly<Record<string, unknown>>): string | null | undefined {
  const fields = FIELDS.get(event.type);
  if (fields === undefined) return undefined;
  for (const { name, said, mayBeNull } of fields) {
    const value = event[name];
    if (value === null ? !mayBeNull : !isSaid(value, said)) return name;
  }
  return null;
}

function isSaid(value: unknown, said: string): boolean {
  if (typeof value === said) return said !== 'object' || !Array.isArray(value);
  return said === 'list' ? Array.isArray(value) : said === 'any' && value !== undefined;
}
