/**
 * Turns: one run of a managed agent, begun because of messages. Whoever takes one holds it for a time
 * and has a number for it; what is said with an older number, or after that time, is refused [TN6].
 */
import { type EndEvent, withdrawGatesOf } from '../gates/gate-end.ts';
import { type Decision, type Refusal, refuse } from '../law/decider.ts';
import { DAY_MS } from '../law/limits.ts';
import type { Principal } from '../law/principal.ts';
import type { WorldView } from '../law/state.ts';
import { isProse } from '../law/text.ts';
import { afterTurn, overBudget } from './after-turn.ts';
import { LIMITS, limitOf } from './agent-limits.ts';
import { checkPerson, checkText, notManaged } from './managed.ts';
import { wakingNow } from './pending.ts';
import { sketchOf } from './rails/likeness.ts';
import type {
  CancelTurn,
  FinishTurn,
  OnTurn,
  RenewTurn,
  RetryTurn,
  TakenTurn,
  TakeTurn,
  TurnEvent,
  TurnFinished,
  TurnPassed,
  TurnRenewed,
  TurnTaken,
} from './turn-events.ts';
import { failure } from './turn-failure.ts';
import {
  MESSAGES_PER_TURN_MAX,
  START_LEASE_MS,
  TURN_NOTE_CHARS_MAX,
  TURN_OUTPUT_CHARS_MAX,
  TURNS_AT_ONCE,
} from './turn-limits.ts';
import type { Cost, ManagedView, Turn } from './turn-state.ts';
import { turnTrace } from './turn-trace.ts';

/** Turns that turn out to have no reason any more, at one take; the next goes on. */
const PASSED_AT_ONCE = 100;
/** A vendor that serves nobody for longer is a matter for a person. */
const QUOTA_MS_LONGEST = 31 * DAY_MS;
/** The cost of a turn that runs is stored so often at the most. */
const COST_EVERY_MS = 5_000;

export function decideTake(
  world: WorldView,
  command: TakeTurn,
): Decision<TurnPassed | TurnTaken, TakenTurn | null> {
  const { by, at, agents, runnerKinds, hash, incarnation } = command;
  const denied = checkSupervisor(by) ?? checkLease(command.leaseMs);
  if (denied !== null) return denied;
  const { turns, settings } = world;
  for (const agent of agents ?? []) if (!turns.agents.has(agent)) return notManaged(agent);
  const passed: TurnPassed[] = [];
  if (turns.busyCount >= (settings.turnsParallelMax ?? TURNS_AT_ONCE))
    return { events: [], answer: null };
  const wanted = agents === null ? null : new Set(agents);
  for (const agent of turns.waking) {
    const managed = turns.agents.get(agent);
    const turn = turns.turns.get(managed?.turn ?? '');
    if (managed === undefined || turn === undefined || wanted?.has(agent) === false) continue;
    if (runnerKinds?.includes(managed.config.runnerKind) === false) continue;
    const messages = wakingNow(world, managed, at, MESSAGES_PER_TURN_MAX);
    if (messages.length === 0) {
      passed.push({ type: 'turn.passed', at, agent, id: turn.id });
      if (passed.length >= PASSED_AT_ONCE) break;
      continue;
    }
    const epoch = managed.epoch + 1;
    const leaseMs = command.leaseMs ?? limitOf(managed.config.limits, 'turn_timeout_ms');
    const firstMs = command.leaseMs ?? Math.min(leaseMs, START_LEASE_MS);
    const leaseUntil = at + Math.min(firstMs, limitOf(managed.config.limits, 'turn_wall_ms'));
    const trace = turnTrace(messages, command.trace ?? null);
    const taken: TurnTaken = {
      ...{ type: 'turn.taken', at, by: by.id, id: turn.id, epoch, leaseMs, leaseUntil, hash },
      messages: messages.map(({ position }) => position),
      ...(trace !== null && { trace }),
      ...(incarnation != null && { incarnation }),
    };
    const answer = { turn: takenTurn(turn, taken, messages), ...answerOf(managed) };
    return { events: [...passed, taken], answer };
  }
  return { events: passed, answer: null };
}

function answerOf({ config, sessionRef }: ManagedView): Omit<TakenTurn, 'turn'> {
  return { config, sessionRef: config.session === 'resume' ? sessionRef : null };
}

/** The turn as it is once it is taken. */
export function takenTurn(turn: Turn, event: TurnTaken, messages: Turn['messages']): Turn {
  const { at, by, epoch, leaseMs, leaseUntil, hash, trace, incarnation } = event;
  const { incarnation: _before, ...rest } = turn;
  return {
    ...rest,
    ...{ state: 'busy', messages, epoch, attempt: turn.attempt + 1, takenAt: at, takenBy: by },
    ...{ leaseMs, leaseUntil, hash, retryAt: null, sends: 0, pid: null },
    spent: turn.hash === null ? turn.spent : [...turn.spent, turn.hash],
    ...(trace !== undefined && { trace }),
    ...(incarnation !== undefined && { incarnation }),
  };
}

export function decideRenew(
  world: WorldView,
  command: RenewTurn,
): Decision<TurnRenewed, { readonly turn: Turn }> {
  const { by, at, id, leaseMs, pid, transcript, cost } = command;
  const turn = heldTurn(world, command);
  if ('refused' in turn) return turn;
  const unfit = checkLease(leaseMs) ?? checkText('transcript', transcript) ?? checkCost(cost);
  if (unfit !== null) return unfit;
  const managed = world.turns.agents.get(turn.agent);
  const spent = managed === undefined ? null : overBudget(managed, cost);
  if (spent !== null) return refuse('budget.exhausted', `${spent}; end it`, { turn: id });
  const limits = managed?.config.limits ?? {};
  const lastMs = leaseMs ?? turn.leaseMs;
  const wallUntil = (turn.takenAt ?? at) + limitOf(limits, 'turn_wall_ms');
  const leaseUntil = Math.min(at + lastMs, wallUntil);
  const gainedMs = leaseUntil - (turn.leaseUntil ?? at);
  const isCostNews =
    cost !== null && !isSameCost(cost, turn.running) && at - turn.runningAt >= COST_EVERY_MS;
  const isNews =
    (pid !== null && pid !== turn.pid) ||
    (transcript !== null && transcript !== turn.transcript) ||
    isCostNews ||
    // Output renews a lease, and there may be much of it: half a lease is worth a record, and so is
    // the last of what is left.
    gainedMs * 2 >= lastMs ||
    (gainedMs > 0 && leaseUntil === wallUntil);
  if (!isNews) return { events: [], answer: { turn } };
  const event: TurnRenewed = {
    ...{ type: 'turn.renewed', at, by: by.id, id },
    leaseUntil: Math.max(leaseUntil, turn.leaseUntil ?? 0),
    ...(pid !== null && { pid }),
    ...(transcript !== null && { transcript }),
    ...(cost !== null && { cost }),
  };
  return { events: [event], answer: { turn: renewedTurn(turn, event) } };
}

export function renewedTurn(
  turn: Turn,
  { at, leaseUntil, pid, transcript, cost }: TurnRenewed,
): Turn {
  return {
    ...turn,
    leaseUntil,
    pid: pid ?? turn.pid,
    transcript: transcript ?? turn.transcript,
    running: cost ?? turn.running,
    runningAt: cost === undefined ? turn.runningAt : at,
  };
}

export function decideFinish(
  world: WorldView,
  command: FinishTurn,
): Decision<TurnEvent | EndEvent, null> {
  const { by, at, id, outcome, cost, quota } = command;
  const turn = heldTurn(world, command);
  if ('refused' in turn) return turn;
  const managed = world.turns.agents.get(turn.agent);
  if (managed === undefined) return notManaged(turn.agent);
  const unfit = checkEnd(command, turn);
  if (unfit !== null) return unfit;
  const { note, sessionRef } = command;
  if (outcome === 'failed') {
    const cause = command.isRestart ? 'restart' : 'reported';
    const how = { cause, note, sessionRef, cost, ...(quota !== null && { quota }) } as const;
    return { events: failure(world, managed, turn, how, at), answer: null };
  }
  const finished: TurnFinished = {
    ...{ type: 'turn.finished', at, by: by.id, id, outcome, note, sessionRef, cost },
    consumed: consumedOf(command, turn),
    ...sketched(command.output),
  };
  const verdict = afterTurn(world, managed, turn, finished);
  // Who is done has nothing more to say; who gave up may be told to say it again.
  const withdrawn = withdrawGatesOf(world, id, at, outcome !== 'gave_up');
  if (verdict === null) return { events: [finished, ...withdrawn], answer: null };
  const { park: cause, text } = verdict;
  const parked = { type: 'agent.parked', at, agent: turn.agent, cause, text, turn: id } as const;
  return { events: [finished, parked, ...withdrawn], answer: null };
}

/** What it said, as little as tells that it says the same again [RA7]. */
function sketched(output: string | null): Pick<TurnFinished, 'sketch'> {
  const sketch = output === null ? null : sketchOf(output);
  return sketch === null ? {} : { sketch };
}

function consumedOf({ consumed }: FinishTurn, { messages }: Turn): readonly number[] {
  return consumed === 'all' ? messages.map(({ position }) => position) : (consumed ?? []);
}

export function decideCancel(
  world: WorldView,
  command: CancelTurn,
): Decision<TurnEvent | EndEvent, null> {
  const { by, at, id, reason } = command;
  const turn = world.turns.turns.get(id);
  const unfit = checkPerson(by) ?? checkText('reason', reason);
  if (unfit !== null) return unfit;
  if (turn === undefined) return unknownTurn(id);
  if (turn.endedAt !== null) return inState(turn, 'only a turn that has not ended is cancelled');
  const event = { type: 'turn.cancelled', at, by: by.id, id, reason } as const;
  return { events: [event, ...withdrawGatesOf(world, id, at)], answer: null };
}

const REVIVED: ReadonlySet<Turn['state']> = new Set(['dead', 'gave_up', 'cancelled', 'failed']);

/** What ended badly is owed again; what waits after a failure waits no more. */
export function decideRetry(world: WorldView, command: RetryTurn): Decision<TurnEvent, null> {
  const { by, at, id } = command;
  const denied = checkPerson(by);
  if (denied !== null) return denied;
  const turn = world.turns.turns.get(id);
  if (turn === undefined) return unknownTurn(id);
  if (!world.turns.agents.has(turn.agent)) return notManaged(turn.agent);
  if (!REVIVED.has(turn.state)) {
    return inState(
      turn,
      'only a turn that failed, gave up, is dead or was cancelled is tried again',
    );
  }
  return { events: [{ type: 'turn.revived', at, by: by.id, id }], answer: null };
}

/** The turn, when it is the one that runs and the caller is who holds it [TN6]. */
function heldTurn(world: WorldView, { by, id, epoch }: OnTurn): Turn | Refusal {
  const denied = checkSupervisor(by);
  if (denied !== null) return denied;
  const turn = world.turns.turns.get(id);
  if (turn === undefined) return unknownTurn(id);
  const isOwnEnd = turn.state === 'done' || turn.state === 'nothing' || turn.state === 'gave_up';
  if (turn.epoch === epoch && isOwnEnd) return inState(turn, 'it has ended already');
  return turn.epoch === epoch && turn.state === 'busy' ? turn : staleTurn(turn);
}

export function staleTurn({ id, state, epoch, agent }: Turn): Refusal {
  return refuse(
    'turn.stale',
    `turn ${id} of ${agent} is ${state} with epoch ${epoch}: this run of it is over, stop it`,
    { turn: id, state, epoch },
  );
}

function unknownTurn(id: string): Refusal {
  return refuse(
    'turn.not-found',
    `there is no turn ${id}, or it is forgotten; turns.list shows them`,
    {
      turn: id,
    },
  );
}

function inState({ id, state, agent }: Turn, rule: string): Refusal {
  return refuse('turn.state', `turn ${id} of ${agent} is ${state}: ${rule}`, { turn: id, state });
}

function checkSupervisor({ kind }: Principal): Refusal | null {
  if (kind === 'admin') return null;
  return refuse('access.denied', 'only an administrator runs the turns of others');
}

function checkLease(leaseMs: number | null): Refusal | null {
  const { min, max } = LIMITS.turn_timeout_ms;
  if (leaseMs === null || (Number.isSafeInteger(leaseMs) && leaseMs >= min && leaseMs <= max))
    return null;
  return invalidField('lease_ms', `is a whole number from ${min} to ${max}`);
}

function checkEnd(command: FinishTurn, turn: Turn): Refusal | null {
  const { note, output, consumed } = command;
  if (note !== null && !isProse(note, TURN_NOTE_CHARS_MAX)) {
    return invalidField('note', `has at most ${TURN_NOTE_CHARS_MAX} characters of text`);
  }
  if (output !== null && output.length > TURN_OUTPUT_CHARS_MAX) {
    return invalidField('output', `has at most ${TURN_OUTPUT_CHARS_MAX} characters`);
  }
  const given = new Set(turn.messages.map(({ position }) => position));
  if (Array.isArray(consumed) && consumed.some((position) => !given.has(position))) {
    return invalidField('consumed', 'names messages that the turn was given, and no others');
  }
  const until = command.quota?.until ?? command.at;
  if (!(until >= 0 && until <= command.at + QUOTA_MS_LONGEST)) {
    return invalidField('quota.until', 'is a time within the next 31 days');
  }
  return checkText('session_ref', command.sessionRef) ?? checkCost(command.cost);
}

function checkCost(cost: Cost | null): Refusal | null {
  const isSound = Object.values(cost ?? {}).every((value) => Number.isFinite(value) && value >= 0);
  return isSound ? null : invalidField('cost', 'is of numbers from 0 on');
}

function isSameCost(one: Cost, other: Cost | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function invalidField(field: string, issue: string): Refusal {
  return refuse('input.invalid', `${field} ${issue}`, { violations: [{ field, issue }] });
}
