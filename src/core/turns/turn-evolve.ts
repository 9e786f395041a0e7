/** What the events of turns do to the state, and when an agent is looked at next. */
import { unreachable } from '../law/assert.ts';
import type { World } from '../law/state.ts';
import { consume, oweAgain } from '../talk/consume.ts';
import { rememberFate } from '../talk/receipt.ts';
import { isEndedSoon } from './after-turn.ts';
import { billed, endTurn, enter, evolveManaged, unpark } from './managed.ts';
import { dropPending, lookNow, prune } from './pending.ts';
import { markNeedy } from './rails/chains.ts';
import { noteWait } from './rails/diary.ts';
import { clearRails, closeTurn, openTurn } from './rails/turn-record.ts';
import { renewedTurn, takenTurn } from './turn.ts';
import { raiseStilled } from './turn-docket.ts';
import type {
  TurnDue,
  TurnEvent,
  TurnFailed,
  TurnFinished,
  TurnRevived,
  TurnTaken,
} from './turn-events.ts';
import { isExcused, isVendors } from './turn-failure.ts';
import { MESSAGES_PER_TURN_MAX, TURNS_KEPT_MAX } from './turn-limits.ts';
import type { Managed, Turn, TurnBook } from './turn-state.ts';

/** How many messages that were given and not read are remembered for their receipts. */
const GIVEN_KEPT = 5 * MESSAGES_PER_TURN_MAX;

const KINDS: Readonly<Record<TurnEvent['type'], true>> = {
  'agent.managed': true,
  'agent.unmanaged': true,
  'agent.paused': true,
  'agent.resumed': true,
  'agent.parked': true,
  'turn.due': true,
  'turn.waits': true,
  'turn.passed': true,
  'turn.stilled': true,
  'turn.taken': true,
  'turn.renewed': true,
  'turn.finished': true,
  'turn.failed': true,
  'turn.retried': true,
  'turn.dead': true,
  'turn.cancelled': true,
  'turn.revived': true,
};

export function isTurnEvent(event: { readonly type: string }): event is TurnEvent {
  return event.type in KINDS;
}

export function evolveTurns(world: World, event: TurnEvent): void {
  switch (event.type) {
    case 'agent.managed':
    case 'agent.unmanaged':
    case 'agent.paused':
    case 'agent.resumed':
    case 'agent.parked':
    case 'turn.cancelled':
      return evolveManaged(world, event);
    case 'turn.due':
      return evolveDue(world, event);
    case 'turn.waits':
    case 'turn.passed': {
      const managed = world.turns.agents.get(event.agent);
      if (managed === undefined) return;
      const turn = event.type === 'turn.passed' ? world.turns.turns.get(event.id ?? '') : undefined;
      if (turn !== undefined) endTurn(world, turn, { state: 'passed' }, event.at);
      prune(world, managed, event.at);
      const until = event.type === 'turn.waits' ? event.until : null;
      const { cause } = event.type === 'turn.waits' ? event : { cause: '' };
      if (until !== null) noteWait(managed.rails.diary, cause, until);
      Object.assign(managed, {
        lookAt: until,
        gatherFrom: null,
        why: until === null ? null : event.type === 'turn.waits' ? event.cause : null,
      });
      return armTurns(world, event.agent);
    }
    case 'turn.stilled': {
      const managed = world.turns.agents.get(event.agent);
      if (managed !== undefined) {
        managed.stilled = managed.stilled.filter(({ position }) => position !== event.position);
      }
      if (event.cause !== 'fruitless') {
        markNeedy(world.turns.rails.chains, event.root, event.position, event.at);
      }
      raiseStilled(world, event);
      return;
    }
    case 'turn.taken':
      return evolveTaken(world, event);
    case 'turn.renewed': {
      const turn = world.turns.turns.get(event.id);
      if (turn !== undefined) world.turns.turns.set(turn.id, renewedTurn(turn, event));
      return;
    }
    case 'turn.finished':
      return evolveFinished(world, event);
    case 'turn.failed':
      return evolveFailed(world, event);
    case 'turn.retried': {
      const turn = world.turns.turns.get(event.id);
      const managed = world.turns.agents.get(turn?.agent ?? '');
      if (turn === undefined || managed === undefined) return;
      world.turns.turns.set(turn.id, { ...turn, state: 'waking', retryAt: null });
      return wake(world.turns, managed, event.at);
    }
    case 'turn.dead': {
      const turn = world.turns.turns.get(event.id);
      if (turn === undefined) return;
      const { at, reason } = event;
      const managed = endTurn(world, turn, { state: 'dead', note: reason }, at);
      const agent = world.agents.get(turn.agent);
      for (const message of turn.messages) {
        if (agent !== undefined) consume(world, agent, message, at);
        rememberFate(world, message.position, turn.agent, { state: 'dead', reason, at });
      }
      if (managed !== null) forgetGiven(managed, turn.messages);
      return;
    }
    case 'turn.revived':
      return evolveRevived(world, event);
    default:
      return unreachable(event);
  }
}

function evolveDue(world: World, { agent: name, id, messages, at }: TurnDue): void {
  const { turns } = world;
  const managed = turns.agents.get(name);
  if (managed === undefined) return;
  const turn: Turn = {
    ...{ id, agent: name, state: 'waking', messages: pendingAt(managed, messages) },
    ...{ runnerKind: managed.config.runnerKind, dueAt: at, epoch: 0, attempt: 0, failures: 0 },
    ...{ isAfterRestart: false, takenAt: null, takenBy: null, leaseMs: 0, leaseUntil: null },
    ...{
      hash: null,
      spent: [],
      retryAt: null,
      endedAt: null,
      sends: 0,
      pid: null,
      transcript: null,
    },
    ...{ note: null, cost: null, running: null, runningAt: 0, isFruitless: false },
  };
  turns.next++;
  managed.turn = id;
  managed.turnCount++;
  turns.turns.set(id, turn);
  wake(turns, managed, at);
  forgetOldest(turns);
}

function wake(turns: TurnBook, managed: Managed, at: number): void {
  enter(managed, 'waking', at, null);
  turns.waking.add(managed.agent);
}

/** For one turn that comes, so many of the oldest are looked at: all may be due at once. */
const OLDEST_LOOKED_AT = 8;

/** One that has not ended is young again: there is no more than one for each agent. */
function forgetOldest({ turns }: TurnBook): void {
  const open: Turn[] = [];
  for (let looked = 0; turns.oldest !== undefined && looked < OLDEST_LOOKED_AT; looked++) {
    if (turns.size + open.length <= TURNS_KEPT_MAX) break;
    const turn = turns.get(turns.oldest) as Turn;
    turns.delete(turn.id);
    if (turn.endedAt === null) open.push(turn);
  }
  for (const turn of open) turns.set(turn.id, turn);
}

function evolveTaken(world: World, event: TurnTaken): void {
  const { turns } = world;
  const turn = turns.turns.get(event.id);
  const managed = turns.agents.get(turn?.agent ?? '');
  if (turn === undefined || managed === undefined) return;
  const messages = pendingAt(managed, event.messages);
  const taken = takenTurn(turn, event, messages);
  turns.turns.set(turn.id, taken);
  openTurn(world, managed, taken, event.at);
  turns.waking.delete(managed.agent);
  turns.busyCount++;
  managed.epoch = event.epoch;
  managed.given = [...new Set([...managed.given, ...event.messages])].slice(-GIVEN_KEPT);
  enter(managed, 'busy', event.at, null);
  armTurns(world, managed.agent);
}

function evolveFinished(world: World, event: TurnFinished): void {
  const { at, outcome, note, sessionRef, cost } = event;
  const turn = world.turns.turns.get(event.id);
  if (turn === undefined) return;
  const agent = world.agents.get(turn.agent);
  const given = new Map(turn.messages.map((message) => [message.position, message]));
  for (const position of event.consumed) {
    const message = given.get(position);
    if (agent !== undefined && message !== undefined) consume(world, agent, message, at);
  }
  const running = cost ?? turn.running;
  const isFruitless = outcome !== 'gave_up' && isAllUnread(world, turn, at);
  const managed = endTurn(world, { ...turn, running }, { state: outcome, note, isFruitless }, at, {
    isFruitful: outcome === 'nothing' ? false : !isFruitless,
    consumed: new Set(event.consumed),
    output: isCounted(world, turn) ? (event.sketch ?? null) : null,
  });
  if (managed === null) return;
  managed.sessionRef = sessionRef ?? managed.sessionRef;
  dropPending(managed, turn.messages);
  forgetGiven(managed, turn.messages, event.consumed);
  lookNow(world, managed, at);
}

/** Whether its output is compared with later ones [RA7]. */
function isCounted(world: World, turn: Turn): boolean {
  const managed = world.turns.agents.get(turn.agent);
  return managed !== undefined && !isEndedSoon(world, managed, turn);
}

/** What it drained itself is off the list by now, as is what it said to have read. */
function isAllUnread(world: World, turn: Turn, at: number): boolean {
  const managed = world.turns.agents.get(turn.agent);
  if (managed === undefined) return false;
  prune(world, managed, at);
  const open = new Set(managed.pending.map(({ position }) => position));
  return turn.messages.every(({ position }) => open.has(position));
}

function evolveFailed(world: World, event: TurnFailed): void {
  const { turns } = world;
  const turn = turns.turns.get(event.id);
  const managed = turns.agents.get(turn?.agent ?? '');
  if (turn === undefined || managed === undefined) return;
  const { at, cause, note, retryAt, sessionRef, cost } = event;
  const isRestart = isExcused(turn, cause);
  turns.turns.set(turn.id, {
    ...turn,
    ...{ state: 'failed', retryAt, leaseUntil: null, note },
    ...billed(managed, { ...turn, running: cost ?? turn.running }),
    failures: turn.failures + (isRestart || isVendors(event) ? 0 : 1),
    isAfterRestart: turn.isAfterRestart || isRestart,
  });
  if (turn.state === 'busy') {
    turns.busyCount--;
    closeTurn(world, managed, { ...turn, running: cost ?? turn.running }, { at, isFruitful: null });
  }
  if (event.quota !== undefined) {
    const { kind } = event.quota;
    turns.rails.quotas.set(turn.runnerKind, { kind, until: retryAt ?? at });
  }
  turns.waking.delete(managed.agent);
  managed.sessionRef = sessionRef ?? managed.sessionRef;
  enter(managed, 'failed', at, note);
  armTurns(world, managed.agent);
}

/** What ended badly may begin a turn again, with the agent awake unless somebody paused it. */
function evolveRevived(world: World, { id, at, by }: TurnRevived): void {
  const turn = world.turns.turns.get(id);
  const agent = world.agents.get(turn?.agent ?? '');
  if (turn === undefined || agent?.managed == null) return;
  const { managed } = agent;
  if (managed.turn === id) {
    world.turns.turns.set(id, { ...turn, retryAt: at });
    return armTurns(world, agent.name);
  }
  for (const message of turn.messages) {
    oweAgain(world, agent, message);
    if (managed.pending.some(({ position }) => position === message.position)) continue;
    managed.pending.push(message);
  }
  managed.pending.sort((a, b) => a.position - b.position);
  // A person wants it: what was counted against it counts no more.
  clearRails(managed);
  if (managed.state === 'parked') unpark(world, managed, at, 'tried again', by);
  lookNow(world, managed, at);
}

/** Sees to it that the agent is looked at when something can have come of its turn. */
export function armTurns(world: World, name: string): void {
  const managed = world.turns.agents.get(name);
  const turn = world.turns.turns.get(managed?.turn ?? '');
  const at =
    managed?.state === 'asleep'
      ? managed.lookAt
      : managed?.state === 'busy'
        ? turn?.leaseUntil
        : managed?.state === 'failed'
          ? turn?.retryAt
          : null;
  if (at != null) world.deadlines.push({ at, kind: 'turns', agent: name });
  // What was to be told in the next step is told after a restart as well.
  if (managed != null && (managed.stilled.length > 0 || managed.freedBy !== null)) {
    world.deadlines.push({ at: managed.since, kind: 'turns', agent: name });
  }
}

function pendingAt({ pending }: Managed, positions: readonly number[]): Turn['messages'] {
  const wanted = new Set(positions);
  const found: Turn['messages'][number][] = [];
  // They are among the oldest, and there may be many behind them.
  for (const message of pending) {
    if (found.length === wanted.size) break;
    if (wanted.has(message.position)) found.push(message);
  }
  return found;
}

function forgetGiven(
  managed: Managed,
  messages: Turn['messages'],
  read: readonly number[] = messages.map(({ position }) => position),
): void {
  const gone = new Set(read);
  managed.given = managed.given.filter((position) => !gone.has(position));
}
