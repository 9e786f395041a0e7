/**
 * How waits of runs begin and end, for evolve: by time, by a signal, by the end of a gate or of another run, by
 * replies, by a person's answer [WF8]. The event that ended a wait is the record of it; there is no second one.
 */
import type { Reply, World } from '../law/state.ts';
import type { Turn, TurnState } from '../turns/turn-state.ts';
import { settleRun, setWaits } from './run-book.ts';
import type { WaitAsked } from './run-events.ts';
import {
  isHeld,
  type Run,
  type StepRef,
  type Wait,
  type WaitEnd,
  type WaitOn,
} from './run-state.ts';

/** A wait as it begins: what it is for may have come already. */
export function beginWait(
  world: World,
  run: Run,
  ref: StepRef,
  asked: WaitAsked,
  timeoutMs: number | null,
  at: number,
): void {
  const on = owned(world, run, waitOn(asked));
  const ms = 'timer' in asked ? asked.timer : 'retry' in asked ? asked.retry : timeoutMs;
  const until = ms === null ? null : at + ms;
  const { step, key } = ref;
  const replies =
    on.kind === 'replies' ? [...(world.replies.get(on.message) ?? [])].slice(0, on.count) : [];
  const had = replies.map(([, { position }]) => position);
  const isFull =
    on.kind === 'replies' &&
    had.length >= on.count &&
    !replies.some(([agent]) => isInTurn(world, on, agent));
  const ended = isFull
    ? ({ by: 'event', at, position: null, word: null, who: null } as const)
    : endAlready(world, run, on, at);
  const rest = run.waits.filter((one) => one.step !== step || one.key !== key);
  setWaits(world, run, [...rest, { step, key, on, until, had, ended }], at);
}

export function dropWait(world: World, run: Run, { step, key }: StepRef, at: number): void {
  if (!run.waits.some((one) => one.step === step && one.key === key)) return;
  const rest = run.waits.filter((one) => one.step !== step || one.key !== key);
  setWaits(world, run, rest, at);
}

export function waitOn(asked: WaitAsked): WaitOn {
  if ('timer' in asked) return { kind: 'timer' };
  if ('retry' in asked) return { kind: 'retry' };
  if ('gate' in asked) return { kind: 'gate', gate: asked.gate };
  if ('signal' in asked) return { kind: 'signal', signal: asked.signal };
  if ('child' in asked) return { kind: 'child', child: asked.child };
  if ('answer' in asked) return { kind: 'answer' };
  return { kind: 'replies', message: asked.replies, count: asked.count, as: asked.as };
}

/** A gate that its executor asked itself is the run's own. */
function owned(world: World, { heldBy }: Run, on: WaitOn): WaitOn {
  if (on.kind !== 'gate' || world.gates.open.get(on.gate)?.asker !== heldBy) return on;
  return { ...on, isOwn: true };
}

function endAlready(world: World, run: Run, on: WaitOn, at: number): WaitEnd | null {
  const end = { by: 'event', at, position: null, word: null, who: null } as const;
  switch (on.kind) {
    case 'gate': {
      const open = world.gates.open.get(on.gate);
      if (open?.state === 'approved') {
        const last = open.approvals.at(-1);
        return { ...end, word: 'approved', who: last?.person ?? last?.by ?? null };
      }
      const over = world.gates.ended.get(on.gate);
      if (over === undefined) return null;
      return { ...end, word: over.end.state, who: over.end.person ?? over.end.by };
    }
    case 'signal': {
      const kept = run.signals.find(({ name }) => name === on.signal);
      if (kept === undefined) return null;
      run.signals = run.signals.filter((one) => one !== kept);
      return { ...end, position: kept.position, who: kept.by };
    }
    case 'child': {
      const child = world.workflows.ended.get(on.child);
      if (child === undefined) return null;
      return { ...end, position: child.endPosition, word: child.state };
    }
    case 'replies': {
      if (on.as !== 'turn') return null;
      let over: Turn | undefined;
      world.turns.turns.forEach((turn) => {
        if (ANSWERLESS.has(turn.state) && isGiven(turn, on.message)) over = turn;
      });
      return over === undefined ? null : { ...end, word: over.state, who: over.id };
    }
    default:
      return null;
  }
}

/** Ends of turns after which nobody begins another for what they were given. */
const ANSWERLESS: ReadonlySet<TurnState> = new Set(['done', 'nothing', 'gave_up', 'dead']);

function isGiven({ messages }: Turn, message: number): boolean {
  return messages.some(({ position }) => position === message);
}

/** The agent that replied is still at it: its turn tells how that ended, and what it cost. */
function isInTurn(world: World, on: WaitOn, agent: string): boolean {
  if (on.kind !== 'replies' || on.as !== 'turn') return false;
  const turn = world.turns.turns.get(world.turns.agents.get(agent)?.turn ?? '');
  return turn?.state === 'busy' && isGiven(turn, on.message);
}

/** A turn is over: who waits for it has its answer by now, or gets none, unless another begins with the same. */
export function onTurnOver(world: World, turn: Turn, isKept: boolean, at: number): void {
  const isAnswerless = !isKept && (ANSWERLESS.has(turn.state) || turn.state === 'cancelled');
  for (const { position } of turn.messages) {
    endAwaited(world, `message ${position}`, at, ({ on, had }) => {
      const isIts = on.kind === 'replies' && on.as === 'turn' && on.message === position;
      if (!isIts || !(isAnswerless || had.length >= on.count)) return null;
      return { by: 'event', at, position: null, word: turn.state, who: turn.id };
    });
  }
}

/** An agent replied to a message that a run waits on. */
export function onReply(world: World, message: number, agent: string, reply: Reply): void {
  const ids = world.workflows.awaited.get(`message ${message}`);
  if (ids === undefined) return;
  for (const id of [...ids]) {
    const run = world.workflows.live.get(id);
    if (run === undefined) continue;
    const waits = run.waits.map((wait) => {
      const { on, ended } = wait;
      if (on.kind !== 'replies' || on.message !== message || ended !== null) return wait;
      return { ...wait, had: [...wait.had, reply.position] };
    });
    setWaits(world, run, waits, reply.at);
    endFull(world, run, agent, reply.at);
  }
}

function endFull(world: World, run: Run, agent: string, at: number): void {
  endWaits(world, run, at, ({ on, had }) =>
    on.kind === 'replies' && had.length >= on.count && !isInTurn(world, on, agent)
      ? { by: 'event', at, position: null, word: null, who: null }
      : null,
  );
}

/** Ends the waits of a run that are meant. */
export function endWaits(
  world: World,
  run: Run,
  at: number,
  how: (wait: Wait) => WaitEnd | null,
): void {
  let isChanged = false;
  const waits = run.waits.map((wait) => {
    const ended = wait.ended === null ? how(wait) : null;
    if (ended === null) return wait;
    isChanged = true;
    return { ...wait, ended };
  });
  if (!isChanged) return;
  setWaits(world, run, waits, at);
  if (isHeld(run)) {
    run.news++;
    world.workflows.stirred++;
  }
  settleRun(world, run, at);
}

/** A gate was decided or has ended. */
export function onGate(
  world: World,
  gate: string,
  word: string,
  who: string | null,
  at: number,
): void {
  endAwaited(world, `gate ${gate}`, at, ({ on }) =>
    on.kind === 'gate' && on.gate === gate ? { by: 'event', at, position: null, word, who } : null,
  );
}

/** A run is over: whoever waits for it goes on. */
export function onRunOver(world: World, child: Run, at: number): void {
  const { id, state, endPosition } = child;
  endAwaited(world, `child ${id}`, at, ({ on }) =>
    on.kind === 'child' && on.child === id
      ? { by: 'event', at, position: endPosition, word: state, who: null }
      : null,
  );
}

function endAwaited(
  world: World,
  key: string,
  at: number,
  how: (wait: Wait) => WaitEnd | null,
): void {
  const ids = world.workflows.awaited.get(key);
  if (ids === undefined) return;
  for (const id of [...ids]) {
    const run = world.workflows.live.get(id);
    if (run !== undefined) endWaits(world, run, at, how);
  }
}
