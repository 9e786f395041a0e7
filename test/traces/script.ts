/**
 * The language of the traces and of the golden story: one command of the law a line.
 *
 *   > ada message.send jobs {"n":1} key=k1      who, what, its first fields in order, others by name
 *   > root:admin token.revoke t1                a principal is an agent of standard trust, or what it says
 *   > 3x ada offer.make llm gpu%                so often, `%` being 1, 2, 3
 *   > +30s                                      time passes, and what is due falls due
 *
 *   > ada claim.take <x*300>                    300 times x, `#` being 1, 2, 3
 *
 * Durations have a unit (`500ms`, `30s`, `5m`, `1h`, `2d`), a message is named by its id (`m12`), and
 * whatever begins with a bracket, a brace or a quote is JSON.
 */
import type { Principal } from '../../src/core/law/principal.ts';
import type { Command } from '../../src/core/law/world.ts';
import { createPrincipal } from '../../src/testing/story.ts';

/** What a line asks for. A question is none of the law's commands; its name is `play.ts`'s to know. */
export type Step =
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'ask'; readonly times: number; readonly at: (turn: number) => Asked };

export interface Asked {
  readonly by: Principal;
  readonly verb: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Verb {
  /** The fields that need no name, in order. */
  readonly words: readonly string[];
  /** What is not said. */
  readonly otherwise: Readonly<Record<string, unknown>>;
}

const ON_TURN = { cost: null, leaseMs: null, pid: null, transcript: null };
const ENDED = {
  ...{ output: null, note: null, sessionRef: null, cost: null, consumed: null, quota: null },
  isRestart: false,
};
const ON_CLAIM = { epoch: null, idempotency: null };

/** Every command of the law; one that is not here does not compile. */
const VERBS: Readonly<Record<Command['type'], Verb>> = {
  'message.send': {
    words: ['channel', 'body'],
    otherwise: {
      body: '{}',
      correlationId: null,
      replyTo: null,
      key: null,
      ttlMs: null,
      schemaVersion: 0,
    },
  },
  'message.review': { words: ['target', 'isReleased'], otherwise: { reason: null } },
  'subscription.add': { words: ['pattern'], otherwise: {} },
  'subscription.remove': { words: ['patterns'], otherwise: {} },
  'inbox.drain': {
    words: ['max'],
    otherwise: { max: 100, channels: null, expired: [], leaseMs: null },
  },
  'inbox.present': { words: ['shown'], otherwise: {} },
  'inbox.commit': { words: ['through'], otherwise: {} },
  'ack.record': { words: ['target', 'status'], otherwise: { reason: null } },
  'presence.beat': { words: ['status'], otherwise: { ttlMs: null } },
  'group.create': { words: ['group'], otherwise: { displayName: null, replayPolicy: null } },
  'group.invite': { words: ['group', 'agent'], otherwise: { message: null } },
  'group.join': { words: ['group'], otherwise: {} },
  'group.leave': { words: ['group'], otherwise: {} },
  'group.remove': { words: ['group'], otherwise: {} },
  'channel.describe': { words: ['channel', 'change'], otherwise: {} },
  'thread.mark': {
    words: ['root', 'mark'],
    otherwise: { note: null, expectedVersion: null, owners: [] },
  },
  'channel.retire': { words: ['channel'], otherwise: { isForced: false } },
  'agent.remove': { words: ['agent'], otherwise: { isForced: false } },
  'agent.see': { words: [], otherwise: {} },
  'space.configure': { words: ['change'], otherwise: {} },
  'channel.configure': { words: ['channel', 'change'], otherwise: {} },
  'token.create': {
    words: ['id', 'agent'],
    otherwise: {
      kind: 'agent',
      tier: 'standard',
      hash: 'h1',
      label: null,
      roles: [],
      expiresAt: null,
    },
  },
  'token.rotate': { words: ['id', 'hash'], otherwise: { expiresAt: null } },
  'token.revoke': { words: ['id'], otherwise: {} },
  'refusal.record': { words: ['operation', 'code'], otherwise: { about: null } },
  'compaction.record': { words: ['facts'], otherwise: {} },
  'break.record': {
    words: ['through', 'reason'],
    otherwise: { head: null, file: null },
  },
  'snapshot.record': { words: ['position', 'digest'], otherwise: {} },
  'wake.record': { words: ['wake'], otherwise: {} },
  'bus.record': { words: ['call'], otherwise: { missed: 0 } },
  'context.set': { words: ['ns', 'key', 'value'], otherwise: { ifVersion: null, ttlMs: null } },
  'context.delete': {
    words: ['ns', 'key'],
    otherwise: { key: null, prefix: null, ifVersion: null },
  },
  'guard.record': { words: ['decisions'], otherwise: { missed: 0 } },
  'agent.define': {
    words: ['agent'],
    otherwise: { capabilities: [], maxInstances: 1, isSingleton: false, limits: {}, card: null },
  },
  'agent.undefine': { words: ['agent'], otherwise: {} },
  'instance.start': { words: ['agent'], otherwise: { isHeld: false, host: null, leaseMs: null } },
  'instance.take': { words: ['agents'], otherwise: { agents: null, host: null, leaseMs: null } },
  'instance.report': {
    words: ['id', 'epoch', 'state'],
    otherwise: { state: null, pid: null, usage: null, reason: null, lines: [] },
  },
  'instance.stop': { words: ['id'], otherwise: { id: null, agent: null, reason: null } },
  'session.create': {
    words: ['items'],
    otherwise: { holder: null, key: null, ttlMs: null, items: [] },
  },
  'session.append': { words: ['id', 'items'], otherwise: { expectedLength: null } },
  'session.fork': {
    words: ['id'],
    otherwise: { expectedLength: null, key: null, ttlMs: null, length: null },
  },
  'session.rewind': { words: ['id', 'length'], otherwise: { expectedLength: null } },
  'session.compact': { words: ['id'], otherwise: { expectedLength: null, keep: 0 } },
  'session.share': {
    words: ['id', 'with', 'access'],
    otherwise: { expectedLength: null, access: null },
  },
  'session.close': { words: ['id'], otherwise: { expectedLength: null, reason: null } },
  'session.hand-off': {
    words: ['id', 'to'],
    otherwise: {
      ...{ expectedLength: null, why: 'your turn', keep: null, claims: null },
      item: { kind: 'handoff', body: {} },
    },
  },
  'run.start': {
    words: ['name', 'id'],
    otherwise: {
      ...{ id: null, version: null, input: undefined, digest: 'd', queue: null, key: null },
      ...{ priority: 0, delayMs: 0, dedup: null, parent: null, steps: [], traceparent: null },
    },
  },
  'run.take': {
    words: ['workflows', 'executor'],
    otherwise: { executor: 'box/1', limit: 1, leaseMs: null },
  },
  'run.record': { words: ['id', 'epoch', 'entries'], otherwise: { leaseMs: null } },
  'run.renew': { words: ['runs'], otherwise: { leaseMs: null } },
  'run.signal': { words: ['id', 'name'], otherwise: { value: undefined } },
  'run.cancel': { words: ['id'], otherwise: { reason: null, isForced: false } },
  'run.retry': { words: ['id'], otherwise: { fromStep: null, map: {} } },
  'run.fork': {
    words: ['id', 'atStep'],
    otherwise: { newId: null, version: null, input: null },
  },
  'run.answer': { words: ['id', 'asked', 'answer'], otherwise: {} },
  'queue.declare': { words: ['name', 'fields'], otherwise: {} },
  'agent.assign': { words: ['agent', 'roles'], otherwise: {} },
  'docket.raise': { words: ['text'], otherwise: { to: null, thread: null, forMs: null } },
  'docket.take': { words: ['id'], otherwise: { isForced: false } },
  'docket.close': {
    words: ['id', 'outcome'],
    otherwise: { subject: null, outcome: 'done', note: null },
  },
  'docket.block': {
    words: ['agent', 'session', 'text'],
    otherwise: { reason: 'asks leave for Bash', since: 1_000_000 },
  },
  'docket.unblock': { words: ['session'], otherwise: { outcome: 'went on' } },
  'docket.notice': { words: ['ids'], otherwise: {} },
  'gate.ask': {
    words: ['action', 'subject'],
    otherwise: {
      ...{ subject: 'main', tier: 1, kinds: [], names: [], count: 1, deadlineMs: 3_600_000 },
      ...{ thread: null, payloadHash: null, policy: null, turn: null, isKept: false },
      credential: 'owner',
    },
  },
  'gate.decide': {
    words: ['id', 'decision'],
    otherwise: {
      ...{ decision: 'approve', reason: null, payloadHash: null },
      ...{ credential: 'owner', person: null },
    },
  },
  'gate.withdraw': { words: ['id'], otherwise: { reason: null } },
  'gate.consume': { words: ['id'], otherwise: { payloadHash: null, policy: null } },
  'person.add': {
    words: ['name'],
    otherwise: { verifier: 'v1', credential: 'owner', person: null },
  },
  'person.remove': { words: ['name'], otherwise: { credential: 'owner', person: null } },
  'passkey.add': {
    words: ['id'],
    otherwise: {
      ...{ publicKey: 'pk', label: null, signCount: 0 },
      ...{ credential: 'owner', person: null },
    },
  },
  'passkey.remove': { words: ['id'], otherwise: { credential: 'owner', person: null } },
  'passkey.use': { words: ['id', 'signCount'], otherwise: { credential: 'owner', signCount: 0 } },
  'agent.manage': {
    words: ['agent', 'runnerKind'],
    otherwise: { runnerKind: 'outside', wake: {}, limits: {}, session: 'resume' },
  },
  'agent.unmanage': { words: ['agent'], otherwise: {} },
  'agent.pause': { words: ['agent'], otherwise: { agent: null, reason: null } },
  'agent.resume': { words: ['agent'], otherwise: { agent: null } },
  'turn.take': {
    words: ['agents'],
    otherwise: { agents: null, runnerKinds: null, leaseMs: null, hash: null },
  },
  'turn.renew': { words: ['id', 'epoch'], otherwise: ON_TURN },
  'turn.finish': { words: ['id', 'epoch', 'outcome'], otherwise: { outcome: 'done', ...ENDED } },
  'turn.cancel': { words: ['id'], otherwise: { reason: null } },
  'turn.retry': { words: ['id'], otherwise: {} },
  'claim.take': {
    words: ['id', 'scope'],
    otherwise: { ...ON_CLAIM, scope: null, ttlMs: null, note: null, git: null },
  },
  'claim.renew': { words: ['id'], otherwise: { ...ON_CLAIM, ttlMs: null } },
  'claim.update': {
    words: ['id', 'status'],
    otherwise: { ...ON_CLAIM, status: null, note: null, dataRef: null, expectedVersion: null },
  },
  'claim.checkpoint': {
    words: ['id', 'checkpoint'],
    otherwise: { ...ON_CLAIM, expectedVersion: null },
  },
  'claim.hand-off': { words: ['id', 'to'], otherwise: { ...ON_CLAIM, ttlMs: null, note: null } },
  'claim.release': { words: ['id'], otherwise: { ...ON_CLAIM, evidence: null, isForced: false } },
  'claim.wait': {
    words: ['id', 'scope'],
    otherwise: { idempotency: null, id: null, scope: null, ttlMs: null },
  },
  'claim.unwait': { words: ['wait'], otherwise: { idempotency: null, wait: null } },
  'claim.forget': { words: ['id', 'from'], otherwise: { idempotency: null, id: null, from: null } },
  'task.declare': {
    words: ['id', 'title'],
    otherwise: {
      title: 'a task',
      description: '',
      dependsOn: [],
      project: null,
      suggestedOwner: null,
      causalParent: null,
      expectedVersion: null,
    },
  },
  'task.update': {
    words: ['id', 'status'],
    otherwise: { status: null, suggestedOwner: null, expectedVersion: null },
  },
  'task.remove': { words: ['id'], otherwise: {} },
  'progress.post': {
    words: ['taskId', 'kind', 'text'],
    otherwise: { kind: 'note', text: 'so far' },
  },
  'offer.make': { words: ['kind', 'name'], otherwise: { capacity: 1, meta: null, ttlMs: null } },
  'offer.withdraw': { words: ['kind', 'name'], otherwise: {} },
  'card.advertise': { words: ['name', 'skill'], otherwise: { skill: 'review' } },
  'card.withdraw': { words: [], otherwise: {} },
  'finding.record': { words: ['statement'], otherwise: {} },
  'recall.log': {
    words: ['queryText'],
    otherwise: { returnedIds: [], wasUsed: null, hasAbstained: null },
  },
};

/** `questions`: what is not among the commands, each with its first fields. */
export function parseLine(
  line: string,
  questions: Readonly<Record<string, readonly string[]>>,
): Step {
  const whole = line.slice(2).replaceAll(REPEATED, (_, text, times) => repeat(text, times));
  const tokens = tokensOf(whole);
  const [first = ''] = tokens;
  if (first.startsWith('+')) return { kind: 'pass', ms: durationOf(first.slice(1)) };
  const times = /^(\d+)x$/.exec(first)?.[1];
  const said = times === undefined ? tokens : tokens.slice(1);
  const at = (turn: number): Asked => {
    const [who = '', verb = '', ...rest] = said.map((token) => token.replaceAll('%', `${turn}`));
    const known = VERBS[verb as Command['type']] as Verb | undefined;
    const words = known?.words ?? questions[verb];
    if (words === undefined) throw new Error(`nobody knows ${verb}: ${line}`);
    const fields: Record<string, unknown> = { ...known?.otherwise };
    let place = 0;
    for (const token of rest) {
      const [, name, value] = /^([a-zA-Z][a-zA-Z0-9]*)=(.*)$/s.exec(token) ?? [];
      const field = name ?? words[place++];
      if (field === undefined) throw new Error(`one word too many: ${token}: ${line}`);
      fields[field] = valueIn(field, value ?? token);
    }
    return { by: principalOf(who), verb, fields };
  };
  return { kind: 'ask', times: Number(times ?? 1), at };
}

const REPEATED = /<(.+?)\*(\d+)>/g;

function repeat(text: string, times: string): string {
  return Array.from({ length: Number(times) }, (_, i) => text.replaceAll('#', `${i + 1}`)).join('');
}

function principalOf(text: string): Principal {
  const [id = '', trait] = text.split(':');
  if (trait === undefined) return createPrincipal(id);
  if (trait === 'untrusted' || trait === 'trusted') return createPrincipal(id, { tier: trait });
  // `wes:t3/5` acts for the third turn, taken with epoch 5.
  const [, turn, epoch] = /^(t\d+)\/(\d+)$/.exec(trait) ?? [];
  if (turn !== undefined) {
    return { ...createPrincipal(id), turn: { id: turn, epoch: Number(epoch) } };
  }
  if (trait === 'vouched') return { ...createPrincipal(id), isVouched: true };
  return createPrincipal(id, { kind: trait as Principal['kind'] });
}

/** Text that must not be read as anything else. */
const TEXT_FIELDS = new Set(['body', 'meta', 'scope']);

function valueIn(field: string, text: string): unknown {
  if (TEXT_FIELDS.has(field)) return text;
  if (field.endsWith('Ms') && /^\d/.test(text)) return durationOf(text);
  if (/^m\d+$/.test(text)) return Number(text.slice(1));
  if (/^(-?\d+(\.\d+)?|true|false|null)$/.test(text) || /^[[{"]/.test(text))
    return JSON.parse(text);
  return text;
}

/** From the smallest to the largest. */
export const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

function durationOf(text: string): number {
  const [, count, unit = ''] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (count === undefined) throw new Error(`${text} is no duration`);
  return Number(count) * (UNITS_MS[unit] ?? 0);
}

/** Parts at spaces, but for those within JSON. */
function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  let token = '';
  let depth = 0;
  let isQuoted = false;
  for (const char of text) {
    if (char === '"' && !token.endsWith('\\')) isQuoted = !isQuoted;
    else if (!isQuoted && '[{'.includes(char)) depth++;
    else if (!isQuoted && ']}'.includes(char)) depth--;
    if (char === ' ' && depth === 0 && !isQuoted) {
      if (token !== '') tokens.push(token);
      token = '';
    } else token += char;
  }
  return token === '' ? tokens : [...tokens, token];
}
