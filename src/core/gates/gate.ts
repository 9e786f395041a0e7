/**
 * Gates: what only a person may allow. Asked by whoever wants to act, decided by people, used once by
 * who asked, for the very thing that was asked [GT1]. What has ended never changes, and the asker is
 * told which end it was and whose word it was [GT6].
 */
import { type Decision, type Refusal, refuse } from '../law/decider.ts';
import { isAgentName } from '../law/principal.ts';
import { checkShare } from '../law/shares.ts';
import type { WorldView } from '../law/state.ts';
import { isPrintable, isProse } from '../law/text.ts';
import { checkAgentRoom } from '../talk/agent.ts';
import type { MessageSent } from '../talk/message.ts';
import { checkDecider } from './decider.ts';
import type {
  AskGate,
  ConsumeGate,
  DecideGate,
  GateAsked,
  GateCommand,
  GateDecided,
  GateEnded,
  GateEvent,
  WithdrawGate,
} from './gate-events.ts';
import {
  GATE_COUNT_LIST_MAX,
  GATE_DEADLINE_MS_MAX,
  GATE_DEADLINE_MS_MIN,
  GATE_NAMES_LIST_MAX,
  GATE_REASON_CHARS_MAX,
  GATE_SUBJECT_CHARS_MAX,
  GATE_WORD_CHARS_MAX,
} from './gate-limits.ts';
import type { GateView } from './gate-state.ts';
import { checkOpen, findGate, hasEnded } from './gate-view.ts';
import { type PostFate, postFate } from './post-fate.ts';
import { tellAsker } from './tell-asker.ts';

/** The id says which gate; what has become of it is asked for. */
export interface GateAnswer {
  readonly id: string;
  readonly isNew: boolean;
}

type GateDecision = Decision<GateEvent | MessageSent | PostFate, GateAnswer>;

export function decideGate(world: WorldView, command: GateCommand): GateDecision {
  switch (command.type) {
    case 'gate.ask':
      return decideAsk(world, command);
    case 'gate.decide':
      return decideVerdict(world, command);
    case 'gate.withdraw':
      return decideWithdraw(world, command);
    case 'gate.consume':
      return decideConsume(world, command);
  }
}

function decideAsk(world: WorldView, command: AskGate): GateDecision {
  const { by, at, deadlineMs } = command;
  if (by.kind === 'observer') return refuse('access.denied', 'an observer asks for nothing');
  const unfit = checkWords(command) ?? checkAgentRoom(world, by);
  if (unfit !== null) return unfit;
  const { gates } = world;
  const mine = gates.byAsker.get(by.id);
  const before = [...(mine ?? [])].find((gate) => isSameWish(gate, command));
  // Asked again, word for word: there is one gate for it.
  if (before !== undefined && isSameGate(before, command)) {
    return { events: [], answer: { id: before.id, isNew: false } };
  }
  const used = (mine?.size ?? 0) - (before === undefined ? 0 : 1);
  const total = gates.open.size - (before === undefined ? 0 : 1);
  const full = checkShare('GATES_MAX', by, total, used);
  if (full !== null) return full;
  const id = `g${gates.counter + 1}`;
  const { kinds, names, count } = command;
  const asked: GateAsked = {
    ...{ type: 'gate.asked', at, by: by.id, id, credential: command.credential },
    ...{ action: command.action, subject: command.subject, tier: command.tier },
    deciders: { kinds: [...new Set(kinds)].sort(), names: [...new Set(names)].sort(), count },
    deadlineAt: deadlineMs === null ? null : at + Math.floor(deadlineMs),
    ...{ thread: command.thread, payloadHash: command.payloadHash, policy: command.policy },
    ...{ turn: command.turn, isKept: command.isKept },
    ...(command.isAwaited && { isAwaited: true }),
  };
  const answer = { id, isNew: true };
  if (before === undefined) return { events: [asked], answer };
  const superseded: GateEnded = {
    ...{ type: 'gate.ended', at, by: by.id, id: before.id },
    ...{ state: 'superseded', reason: `asked anew as ${id}` },
  };
  return { events: [superseded, asked], answer };
}

function decideVerdict(world: WorldView, command: DecideGate): GateDecision {
  const { by, at, id, decision, reason, payloadHash } = command;
  const found = checkDecider(world, command, id);
  if ('refused' in found) return found;
  const { person, proof } = found;
  const gate = checkOpen(found.gate, at);
  if ('refused' in gate) return gate;
  if (gate.state !== 'pending') return hasEnded(gate, at);
  if (payloadHash !== null && payloadHash !== gate.payloadHash) return mismatch(gate, 'decide');
  if (reason !== null && !isProse(reason, GATE_REASON_CHARS_MAX)) {
    return invalid('reason', `is text of at most ${GATE_REASON_CHARS_MAX} characters`);
  }
  if (decision === 'deny' && (reason === null || reason.trim() === '')) {
    return refuse('gate.reason-needed', `say why ${id} is denied: whoever asked goes on by it`, {
      violations: [{ field: 'reason', issue: 'needed to deny' }],
    });
  }
  const who = person ?? by.id;
  const isAgain = gate.approvals.some((one) => (one.person ?? one.by) === who);
  const answer = { id, isNew: false };
  if (isAgain && decision === 'approve') return { events: [], answer };
  const decided: GateDecided = {
    type: decision === 'deny' ? 'gate.denied' : 'gate.approved',
    ...{ at, by: by.id, id, person, proof, reason },
  };
  const isOver = decision === 'deny' || gate.approvals.length + 1 >= gate.deciders.count;
  if (!isOver) return { events: [decided], answer: { id, isNew: true } };
  const fate = postFate(world, gate, decided);
  return {
    events: [decided, ...fate, ...tellAsker(world, gate, decided)],
    answer: { id, isNew: true },
  };
}

function decideWithdraw(world: WorldView, command: WithdrawGate): GateDecision {
  const { by, at, id, reason } = command;
  const found = findGate(world.gates, by, id);
  if ('refused' in found) return found;
  if (found.asker !== by.id && by.kind !== 'admin') {
    return refuse('access.denied', `${id} was asked by ${found.asker}, who takes it back; deny it`);
  }
  if (reason !== null && !isProse(reason, GATE_REASON_CHARS_MAX)) {
    return invalid('reason', `is text of at most ${GATE_REASON_CHARS_MAX} characters`);
  }
  const gate = checkOpen(found, at);
  if ('refused' in gate) return gate;
  if (gate.state !== 'pending') return hasEnded(gate, at);
  const event: GateEnded = {
    ...{ type: 'gate.ended', at, by: by.id, id, state: 'withdrawn', reason },
  };
  const told = gate.asker === by.id ? [] : tellAsker(world, gate, event);
  return { events: [event, ...postFate(world, gate, event), ...told], answer: { id, isNew: true } };
}

/** Once, by who asked, for what was asked, while the approval holds [GT7]. */
function decideConsume(world: WorldView, command: ConsumeGate): GateDecision {
  const { by, at, id, payloadHash, policy } = command;
  const found = findGate(world.gates, by, id);
  if ('refused' in found) return found;
  if (found.asker !== by.id) {
    return refuse('access.denied', `${id} was asked by ${found.asker}, who alone may use it`);
  }
  const gate = checkOpen(found, at);
  if ('refused' in gate) return gate;
  if (gate.state === 'pending') {
    const { approvals, deciders } = gate;
    const message = `${id} is not decided: ${approvals.length} of ${deciders.count} approved; wait with gates.get and wait_ms`;
    return refuse('gate.pending', message, { gate_id: id, state: gate.state });
  }
  if (gate.payloadHash !== payloadHash) return mismatch(gate, 'use');
  if (gate.policy !== policy) {
    const message = `${id} was approved under ${gate.policy ?? 'no rule'}, and that is not the rule now: ask anew with gates.ask`;
    return refuse('gate.lapsed', message, { gate_id: id, policy: gate.policy });
  }
  return {
    events: [{ type: 'gate.consumed', at, by: by.id, id }],
    answer: { id, isNew: true },
  };
}

/** The same matter: a new wish about it takes the place of the old one while that waits [GT5]. */
function isSameWish(gate: GateView, { action, subject, thread }: AskGate): boolean {
  return (
    gate.state === 'pending' &&
    gate.holds === null &&
    gate.action === action &&
    gate.subject === subject &&
    gate.thread === thread
  );
}

function isSameGate(gate: GateView, wish: AskGate): boolean {
  const { kinds, names, count } = gate.deciders;
  return (
    gate.tier === wish.tier &&
    gate.payloadHash === wish.payloadHash &&
    gate.policy === wish.policy &&
    gate.turn === wish.turn &&
    gate.isKept === wish.isKept &&
    gate.isAwaited === (wish.isAwaited === true) &&
    gate.credential === wish.credential &&
    count === wish.count &&
    kinds.join() === [...new Set(wish.kinds)].sort().join() &&
    names.join() === [...new Set(wish.names)].sort().join()
  );
}

function checkWords(command: AskGate): Refusal | null {
  const { action, subject, tier, names, kinds, count, deadlineMs, thread, policy } = command;
  if (!isPrintable(action, GATE_WORD_CHARS_MAX)) {
    return invalid('action', `is a line of 1 to ${GATE_WORD_CHARS_MAX} printable characters`);
  }
  if (subject.trim() === '' || !isProse(subject, GATE_SUBJECT_CHARS_MAX)) {
    return invalid('subject', `is text of 1 to ${GATE_SUBJECT_CHARS_MAX} characters`);
  }
  if (tier !== 1 && tier !== 2) return invalid('tier', 'is 1 or 2');
  if (!Number.isSafeInteger(count) || count < 1 || count > GATE_COUNT_LIST_MAX) {
    return invalid('by.count', `is a whole number from 1 to ${GATE_COUNT_LIST_MAX}`);
  }
  if (kinds.some((kind) => kind !== 'human' && kind !== 'admin')) {
    return invalid('by.kinds', 'are human and admin: nobody else decides a gate');
  }
  const set = new Set(names);
  if (set.size > GATE_NAMES_LIST_MAX || names.some((name) => !isAgentName(name))) {
    return invalid('by.names', `are at most ${GATE_NAMES_LIST_MAX} names of people`);
  }
  if (set.size > 0 && set.size < count) {
    return invalid('by.names', `are ${set.size}, and ${count} different people are asked for`);
  }
  const isFit =
    deadlineMs === null ||
    (deadlineMs >= GATE_DEADLINE_MS_MIN && deadlineMs <= GATE_DEADLINE_MS_MAX);
  if (!isFit) {
    const [least, most] = [GATE_DEADLINE_MS_MIN / 1_000, GATE_DEADLINE_MS_MAX / 1_000];
    return invalid('deadline', `is ${least} to ${most} seconds, or never`);
  }
  for (const [field, word] of [
    ['thread', thread],
    ['policy', policy],
  ] as const) {
    if (word === null || isPrintable(word, GATE_WORD_CHARS_MAX)) continue;
    return invalid(field, `is a line of 1 to ${GATE_WORD_CHARS_MAX} printable characters`);
  }
  if (command.payloadHash === null || /^[0-9a-f]{64}$/.test(command.payloadHash)) return null;
  return invalid('payload_hash', 'is a SHA-256 in hex: 64 of 0-9 and a-f');
}

function mismatch(gate: GateView, verb: 'decide' | 'use'): Refusal {
  return refuse(
    'gate.mismatch',
    `${gate.id} was asked for something else than what you ${verb}: a changed argument needs a gate of its own, ask with gates.ask`,
    { gate_id: gate.id, asked: gate.payloadHash },
  );
}

function invalid(field: string, issue: string): Refusal {
  return refuse('input.invalid', `${field} ${issue}`, { violations: [{ field, issue }] });
}
