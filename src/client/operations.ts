/**
 * The operations as the client sees them. Types come from the wire table and cost
 * nothing at run time; schemas stay out of a browser's bundle. What must be known
 * at run time is one bit per operation, and a test holds it to the table.
 */
import type { InputOf, OutputOf, ParsedInputOf } from '../wire/operation.ts';
import type { OPERATIONS, OperationId } from '../wire/operations/table.ts';

/** Everything that can be called. Streams are opened by `messages()`, `receipts()` and `changes()`. */
export type CallId = Exclude<OperationId, 'stream.open' | 'stream.close'>;

type Declared<Id extends CallId> = (typeof OPERATIONS)[Id];

/** What an operation takes. (A schema that rewrites its input first has no input type of its own.) */
export type CallInput<Id extends CallId> =
  unknown extends InputOf<Declared<Id>> ? ParsedInputOf<Declared<Id>> : InputOf<Declared<Id>>;

export type CallOutput<Id extends CallId> = OutputOf<Declared<Id>>;

/** Whether asking twice comes to the same as asking once; `keyed`: it does under a key [CM12]. */
const REPEATABLE: Readonly<Record<CallId, boolean | 'keyed'>> = {
  'channels.send': 'keyed',
  'channels.recv': false,
  'channels.subscribe': true,
  'channels.unsubscribe': true,
  'channels.list_channels': true,
  'channels.list_agents': true,
  'channels.ack': true,
  'channels.heartbeat': true,
  'channels.replay': true,
  'channels.collect': true,
  'group.create': false,
  'group.invite': false,
  'group.join': true,
  'group.leave': true,
  'group.remove': 'keyed',
  'group.list_members': true,
  'group.list': true,
  'search.messages': true,
  'messages.get': true,
  'threads.get': true,
  'threads.list': true,
  'threads.mark': 'keyed',
  'channels.describe': true,
  'channels.digest': true,
  'receipts.get': true,
  'receipts.waits': true,
  'inbox.peek': true,
  'inbox.commit': true,
  'claims.take': true,
  'claims.release': 'keyed',
  'claims.update': 'keyed',
  'claims.checkpoint': true,
  'claims.handoff': 'keyed',
  'claims.check': true,
  'claims.list': true,
  'claims.wait': true,
  'claims.unwait': true,
  'claims.forget': true,
  'plan.board': true,
  'plan.update': 'keyed',
  'plan.progress': 'keyed',
  'plan.declare': 'keyed',
  'plan.remove': 'keyed',
  'plan.notes': true,
  'presence.list': true,
  'presence.report': true,
  'agents.tell': false,
  'offers.make': true,
  'offers.withdraw': 'keyed',
  'offers.list': true,
  'cards.advertise': true,
  'cards.withdraw': 'keyed',
  'cards.manifest': true,
  'cards.route': true,
  'findings.record': false,
  'findings.recall': false,
  'findings.list': true,
  'guard.record': false,
  'docket.raise': 'keyed',
  'docket.list': true,
  'docket.get': true,
  'docket.take': true,
  'docket.close': 'keyed',
  'gates.ask': 'keyed',
  'gates.get': true,
  'gates.consume': 'keyed',
  'gates.withdraw': 'keyed',
  'gates.list': true,
  'gates.decide': 'keyed',
  'people.add': false,
  'people.list': true,
  'people.remove': 'keyed',
  'people.prove': true,
  'people.passkey_begin': true,
  'people.passkey_add': false,
  'people.passkey_prove': false,
  'people.passkey_list': true,
  'people.passkey_remove': false,
  'agents.managed': true,
  'agents.define': true,
  'agents.undefine': 'keyed',
  'agents.start': 'keyed',
  'agents.stop': 'keyed',
  'agents.take': false,
  'agents.report': true,
  'agents.instances': true,
  'agents.find': true,
  'context.set': 'keyed',
  'context.get': true,
  'context.delete': 'keyed',
  'context.list': true,
  'context.snapshot': true,
  'context.diff': true,
  'context.watch': true,
  'sessions.create': 'keyed',
  'sessions.get': true,
  'sessions.list': true,
  'sessions.append': 'keyed',
  'sessions.fork': 'keyed',
  'sessions.rewind': 'keyed',
  'sessions.compact': 'keyed',
  'sessions.share': true,
  'sessions.close': 'keyed',
  'sessions.handoff': 'keyed',
  'workflows.start': 'keyed',
  'workflows.get': true,
  'workflows.wait': true,
  'workflows.list': true,
  'workflows.steps': true,
  'workflows.signal': 'keyed',
  'workflows.cancel': true,
  'workflows.retry': 'keyed',
  'workflows.fork': 'keyed',
  'workflows.answer': false,
  'workflows.queue': true,
  'workflows.queues': true,
  'workflows.take': false,
  'workflows.record': false,
  'workflows.renew': true,
  'turns.list': true,
  'turns.get': true,
  'hub.whoami': true,
  'hub.status': true,
  'record.head': true,
  'hub.vitals': true,
  'held.list': true,
  'held.review': false,
  'channels.configure': true,
  'channels.retire': 'keyed',
  'agents.assign': true,
  'agents.remove': 'keyed',
  'agents.manage': true,
  'agents.unmanage': 'keyed',
  'turns.cancel': 'keyed',
  'turns.retry': 'keyed',
  'turns.pause': true,
  'turns.resume': true,
  'turns.take': false,
  'turns.renew': true,
  'turns.finish': 'keyed',
  'record.at': true,
  'record.span': true,
  'audit.list': true,
  'tokens.create': false,
  'tokens.list': true,
  'tokens.rotate': false,
  'tokens.revoke': 'keyed',
  'web.link': false,
  'web.sessions': true,
  'web.revoke': true,
  'web.phone_open': true,
  'web.phone_close': true,
  'spaces.list': true,
  'spaces.create': true,
  'spaces.remove': false,
  'spaces.configure': true,
  'cluster.status': true,
  'cluster.invite': false,
  'cluster.servers': true,
  'cluster.revoke': true,
  'cluster.permissions': true,
  'cluster.drain': true,
};

/** May this very call be asked again when its answer was lost? [K8] */
export function isRepeatable(id: CallId, input: Readonly<Record<string, unknown>>): boolean {
  // What is drained on lease comes back.
  if (id === 'channels.recv') return typeof input.lease_ms === 'number';
  const known = REPEATABLE[id] ?? false;
  return known === 'keyed' ? typeof input.idempotency_key === 'string' : known;
}

/** Done once under a key, however often it is asked. */
export function isKeyed(id: CallId): boolean {
  return REPEATABLE[id] === 'keyed';
}

/** What to do about a call whose outcome nobody knows. */
export function adviceFor(id: CallId): string {
  switch (id) {
    case 'channels.recv':
      return 'what it drained may be gone; drain with lease_ms, or read with messages(), and nothing is lost';
    case 'channels.send':
      return 'send again with the same idempotency_key and it lands once';
    default:
      return 'look whether it was done before you ask again';
  }
}
