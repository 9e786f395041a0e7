/**
 * The law of turns told a second time, from nothing but the entries of the log: one turn at a time,
 * never without something owed, never for the agent's own words, run only while its lease lasts. What
 * may wake an agent ends in exactly one of done, dead and cancelled, or still waits.
 */
import type { Model } from './model.ts';
import { checkStilled, type Said } from './rail-model.ts';
import { createThreadModel } from './thread-model.ts';
import { isSelected } from './wake-oracle.ts';

// biome-ignore lint/suspicious/noExplicitAny: entries are read as they lie, without the types of core.
type Entry = any;

interface ModelTurn {
  readonly id: string;
  readonly agent: string;
  state: string;
  messages: readonly number[];
  epoch: number;
  takenAt: number;
  leaseUntil: number;
  retryAt: number;
  failures: number;
  wasRestarted: boolean;
}

interface ModelAgent {
  readonly name: string;
  config: Entry;
  state: string;
  epoch: number;
  turn: ModelTurn | null;
  /** By position: what waits for a turn; true when it must begin one, unless a person stops it. */
  readonly pending: Map<number, boolean>;
  /** Turns in a row that did nothing, by channel and sender. */
  readonly idle: Map<string, number>;
  waitsUntil: number;
  /** When something last came that it is looked at for. */
  stirredAt: number;
}

export interface TurnModel {
  readonly counts: Readonly<Record<string, number>>;
  readonly managedCount: number;
  /** The agents that were parked and not resumed since, each with the thread it was parked for. */
  readonly parked: ReadonlyMap<string, number | undefined>;
  /** To whom a person spoke in the last entry. */
  readonly heeded: readonly string[];
  /** Takes in the entry at a position, after the model of talk has; throws when it cannot be. */
  add(event: Entry, position: number): void;
  wasTaken(id: string, epoch: number): boolean;
  /** Somebody who ran it reported its end. */
  wasEnded(id: string, epoch: number): boolean;
  isOver(id: string): boolean;
  /** Throws when an agent sleeps on what must wake it, or runs beyond its lease. */
  check(at: number): void;
  /** Nothing runs or is about to. */
  isIdle(at: number): boolean;
}

const MESSAGES_MAX = 20;
const AT_ONCE = 4;
const ATTEMPTS = 4;
/** Such turns make what comes by the same way wake nobody. */
const IDLE_MAX = 4;
/** Within this time what came together is looked at. */
const LOOK_MS = 200;
const OPEN: ReadonlySet<string> = new Set(['waking', 'busy', 'failed']);

export function createTurnModel(model: Model, people: ReadonlySet<string>): TurnModel {
  const agents = new Map<string, ModelAgent>();
  const turns = new Map<string, ModelTurn>();
  const said = new Map<number, Said>();
  /** Of messages that are held: who was managed when they were said. */
  const heldFor = new Map<number, { readonly event: Entry; readonly names: ReadonlySet<string> }>();
  const taken = new Set<string>();
  const ended = new Set<string>();
  const parked = new Map<string, number | undefined>();
  const threads = createThreadModel();
  const heeded: string[] = [];
  const counts: Record<string, number> = {};

  const fail = (why: string): never => {
    throw new Error(why);
  };
  const agentOf = (name: string): ModelAgent =>
    agents.get(name) ?? fail(`${name} has a turn and is not managed`);
  const person = ({ type, by }: Entry): void => {
    if (!people.has(by)) fail(`${type} by ${by}, who is no person`);
  };
  /** The turn, which must be in one of these states and be its agent's one. */
  const turnIn = (event: Entry, ...states: readonly string[]): ModelTurn => {
    const turn = turns.get(event.id) ?? fail(`${event.type} of ${event.id}, which was never due`);
    if (!states.includes(turn.state)) fail(`${event.type} of ${turn.id}, which is ${turn.state}`);
    if (agentOf(turn.agent).turn !== turn) fail(`${event.type} of ${turn.id}, not the turn it has`);
    return turn;
  };
  const inLease = (turn: ModelTurn, event: Entry): void => {
    if (event.at >= turn.leaseUntil) fail(`${event.type} of ${turn.id} after its lease lapsed`);
  };
  const waking = (agent: ModelAgent, at: number): number[] =>
    [...agent.pending.keys()].filter((position) => model.isWaking(position, agent.name, at));

  function heard(event: Entry, position: number, names: ReadonlySet<string> | null): void {
    const isPerson = event.by !== '__server__' && /^(human|admin)\//.test(event.as ?? '');
    if ([...agents.keys()].some((name) => model.isSeated(name, event.channel))) {
      const sender = agents.get(event.by);
      const inTurn = sender?.state === 'busy' ? (sender.turn?.messages ?? []) : [];
      threads.hear(position, event.replyTo === undefined ? inTurn : [event.replyTo], isPerson);
    }
    for (const agent of agents.values()) {
      const { name, pending } = agent;
      if (event.by === name || event.actor === name || !isSelected(agent.config.wake, event))
        continue;
      if (event.asks?.noReply || !model.isWaking(position, name, event.at)) continue;
      if (isPerson) heeded.push(name);
      if (isPerson) agent.idle.clear();
      const isIdle = (agent.idle.get(`${event.channel} ${event.by}`) ?? 0) >= IDLE_MAX;
      const isMust = isPerson || (event.replyTo === undefined && !isIdle);
      pending.set(position, isMust && names?.has(name) !== false);
      agent.stirredAt = Math.max(agent.stirredAt, event.at);
    }
  }

  /** What a turn is begun with: all that waits, the oldest first, and nothing else. */
  function checkGiven(agent: ModelAgent, event: Entry): void {
    const { name, pending } = agent;
    const { messages, at, type, id } = event;
    if (messages.length === 0) fail(`${type} ${id} of ${name} for nothing`);
    if (messages.length > MESSAGES_MAX) fail(`${type} ${id} of ${name} for too much`);
    for (const position of messages) {
      if (said.get(position)?.by === name) fail(`${name} is woken by its own ${position}`);
      if (!pending.has(position)) fail(`${type} ${id}: ${position} does not wait for ${name}`);
      if (!model.isWaking(position, name, at))
        fail(`${type} ${id}: ${name} is not owed ${position}`);
    }
    let found = 0;
    for (const position of waking(agent, at)) {
      if (messages.includes(position)) found++;
      const isBehind = messages.length === MESSAGES_MAX && found === MESSAGES_MAX;
      if (isBehind || !pending.get(position) || messages.includes(position)) continue;
      fail(`${type} ${id} of ${name} without ${position}, which waits as well`);
    }
  }

  /** What is read, left or expired waits no more; what is out on a lease may come back. */
  function prune({ pending, name }: ModelAgent, at: number): void {
    for (const position of [...pending.keys()]) {
      if (!model.isWaking(position, name, at) && !model.isLeased(position, name))
        pending.delete(position);
    }
  }

  /** The turn is over. Its messages are settled, or wait for another. */
  function end(turn: ModelTurn, state: string, isSettled: boolean): ModelAgent {
    const agent = agentOf(turn.agent);
    turn.state = state;
    agent.turn = null;
    agent.state = 'asleep';
    agent.waitsUntil = 0;
    if (isSettled) for (const position of turn.messages) agent.pending.delete(position);
    return agent;
  }

  function countIdle({ messages }: ModelTurn, agent: ModelAgent, isFruitful: boolean): void {
    const keys = messages.map((one) => `${said.get(one)?.channel} ${said.get(one)?.by}`);
    for (const key of new Set(keys)) {
      if (isFruitful) agent.idle.delete(key);
      else agent.idle.set(key, (agent.idle.get(key) ?? 0) + 1);
    }
  }

  const told: Record<string, (event: Entry, position: number) => void> = {
    'message.sent'(event, position) {
      const turn = event.turn === undefined ? undefined : turns.get(event.turn);
      if (event.turn !== undefined && (turn?.state !== 'busy' || turn.agent !== event.by)) {
        fail(`${event.by} speaks in ${event.turn}, which is ${turn?.state}`);
      }
      if (turn !== undefined) inLease(turn, event);
      said.set(position, { channel: event.channel, by: event.by, at: event.at });
      if (event.held === undefined) heard(event, position, null);
      else heldFor.set(position, { event, names: new Set(agents.keys()) });
    },
    'message.reviewed'(event) {
      const held = heldFor.get(event.position);
      if (!event.isReleased || held === undefined) return;
      heard({ ...held.event, at: event.at }, event.position, held.names);
    },
    'inbox.lapsed'(event) {
      const agent = agents.get(event.agent);
      if (agent !== undefined) agent.stirredAt = Math.max(agent.stirredAt, event.at);
    },
    'agent.managed'(event) {
      person(event);
      const known = agents.get(event.agent);
      if (known !== undefined) known.config = event.config;
      else {
        agents.set(event.agent, {
          ...{ name: event.agent, config: event.config, state: 'asleep', epoch: 0, turn: null },
          ...{ pending: new Map(), idle: new Map(), waitsUntil: 0, stirredAt: event.at },
        });
      }
    },
    'agent.unmanaged'(event) {
      if (agentOf(event.agent).turn !== null) fail(`${event.agent} is unmanaged in a turn`);
      agents.delete(event.agent);
      parked.delete(event.agent);
    },
    'agent.paused'(event) {
      person(event);
      for (const name of event.agents) {
        if (agentOf(name).turn !== null) fail(`${name} is paused in a turn`);
        agentOf(name).state = 'paused';
      }
    },
    'agent.resumed'(event) {
      person(event);
      for (const name of event.agents) {
        const agent = agentOf(name);
        if (agent.state !== 'paused' && agent.state !== 'parked')
          fail(`${name} was ${agent.state}`);
        agent.state = 'asleep';
        agent.waitsUntil = 0;
        agent.idle.clear();
        parked.delete(name);
      }
    },
    'agent.parked'(event) {
      const agent = agentOf(event.agent);
      if (agent.turn !== null) end(agent.turn, 'cancelled', false);
      agent.state = 'parked';
      const [first] = [...(turns.get(event.turn)?.messages ?? []), ...agent.pending.keys()];
      parked.set(agent.name, first === undefined ? undefined : threads.rootOf(first));
    },
    'turn.due'(event) {
      const agent = agentOf(event.agent);
      const isAsleep = agent.state === 'asleep' && agent.turn === null;
      if (!isAsleep) fail(`${event.id} is due while ${agent.name} is ${agent.state}`);
      if (event.at < agent.waitsUntil) fail(`${event.id} is due, and was to wait`);
      checkGiven(agent, event);
      const turn: ModelTurn = {
        ...{ id: event.id, agent: agent.name, state: 'waking', messages: event.messages },
        ...{ epoch: 0, takenAt: 0, leaseUntil: 0, retryAt: 0, failures: 0, wasRestarted: false },
      };
      if (turns.has(turn.id)) fail(`${turn.id} is due twice`);
      turns.set(turn.id, turn);
      agent.turn = turn;
      agent.state = 'waking';
    },
    'turn.waits'(event) {
      const agent = agentOf(event.agent);
      if (agent.state !== 'asleep') fail(`${agent.name} waits and is ${agent.state}`);
      agent.waitsUntil = event.until;
      prune(agent, event.at);
    },
    'turn.stilled'(event) {
      const { config, pending } = agentOf(event.agent);
      checkStilled(event, config.limits, said, threads);
      if (pending.has(event.position)) pending.set(event.position, false);
    },
    'turn.passed'(event) {
      const agent = agentOf(event.agent);
      const lost = waking(agent, event.at).find((position) => agent.pending.get(position));
      if (lost !== undefined) fail(`${agent.name} passes, and ${lost} waits for it`);
      if (event.id !== null) end(turnIn(event, 'waking', 'failed'), 'passed', false);
      prune(agent, event.at);
    },
    'turn.taken'(event) {
      const turn = turnIn(event, 'waking');
      const agent = agentOf(turn.agent);
      const running = [...agents.values()].filter(({ state }) => state === 'busy');
      if (running.length >= AT_ONCE) fail(`${turn.id} is taken, and ${running.length} run`);
      if (event.epoch <= agent.epoch) fail(`${turn.id} goes back to epoch ${event.epoch}`);
      checkGiven(agent, event);
      if (event.leaseUntil <= event.at) fail(`${turn.id} is taken for no time`);
      const { messages, epoch, leaseUntil } = event;
      Object.assign(turn, { state: 'busy', messages, epoch, leaseUntil, takenAt: event.at });
      agent.epoch = event.epoch;
      agent.state = 'busy';
      taken.add(`${turn.id} ${event.epoch}`);
    },
    'turn.renewed'(event) {
      const turn = turnIn(event, 'busy');
      inLease(turn, event);
      const { turn_wall_ms: wallMs = 600_000 } = agentOf(turn.agent).config.limits;
      if (event.leaseUntil < turn.leaseUntil) fail(`${turn.id} is renewed for less`);
      if (event.leaseUntil > turn.takenAt + wallMs && event.leaseUntil > turn.leaseUntil) {
        fail(`${turn.id} is renewed for ever`);
      }
      turn.leaseUntil = event.leaseUntil;
    },
    'turn.finished'(event) {
      const turn = turnIn(event, 'busy');
      inLease(turn, event);
      const stray = event.consumed.find((position: number) => !turn.messages.includes(position));
      if (stray !== undefined) fail(`${turn.id} read ${stray}, which it was not given`);
      ended.add(`${turn.id} ${turn.epoch}`);
      prune(agentOf(turn.agent), event.at);
      const isFruitful = event.outcome !== 'nothing' && event.consumed.length > 0;
      countIdle(turn, end(turn, event.outcome, true), isFruitful);
    },
    'turn.failed'(event) {
      const turn = turnIn(event, 'busy');
      const isLate = event.cause === 'lapsed' || event.cause === 'overran';
      if (isLate && event.at < turn.leaseUntil) fail(`${turn.id} lapsed early`);
      if (!isLate) {
        inLease(turn, event);
        ended.add(`${turn.id} ${turn.epoch}`);
      }
      const isRestart = event.cause === 'restart';
      const isExcused = event.quota !== undefined || (isRestart && !turn.wasRestarted);
      turn.wasRestarted ||= isRestart;
      Object.assign(turn, { state: 'failed', retryAt: event.retryAt ?? 0 });
      turn.failures += isExcused ? 0 : 1;
      agentOf(turn.agent).state = 'failed';
    },
    'turn.retried'(event) {
      const turn = turnIn(event, 'failed');
      if (event.at < turn.retryAt) fail(`${turn.id} is tried again early`);
      turn.state = 'waking';
      agentOf(turn.agent).state = 'waking';
    },
    'turn.dead'(event) {
      const turn = turnIn(event, 'failed');
      if (turn.failures !== ATTEMPTS) fail(`${turn.id} is dead after ${turn.failures} failures`);
      end(turn, 'dead', true);
    },
    'turn.cancelled'(event) {
      person(event);
      const turn = turnIn(event, ...OPEN);
      const wasBusy = turn.state === 'busy';
      const agent = end(turn, 'cancelled', event.isKept !== true);
      if (wasBusy) countIdle(turn, agent, false);
    },
    'turn.revived'(event) {
      person(event);
      const turn = turns.get(event.id) ?? fail(`${event.id} is revived and was never due`);
      const agent = agentOf(turn.agent);
      if (agent.turn === turn) {
        if (turn.state !== 'failed') fail(`${turn.id} is revived while ${turn.state}`);
        turn.retryAt = event.at;
        return;
      }
      const isEnded = ['dead', 'gave_up', 'cancelled'].includes(turn.state);
      if (!isEnded) fail(`${turn.id} is revived, which ended ${turn.state}`);
      const all = new Map([...agent.pending, ...turn.messages.map((one) => [one, true] as const)]);
      agent.pending.clear();
      for (const one of [...all].sort(([a], [b]) => a - b)) agent.pending.set(...one);
      agent.stirredAt = Math.max(agent.stirredAt, event.at);
      agent.idle.clear();
      if (agent.state === 'parked') parked.delete(agent.name);
      if (agent.state === 'parked') agent.state = 'asleep';
      if (agent.state === 'asleep') agent.waitsUntil = 0;
    },
  };

  return {
    counts,
    get managedCount() {
      return agents.size;
    },
    ...{ parked, heeded },
    add(event, position) {
      heeded.length = 0;
      const tell = told[event.type];
      if (tell === undefined) return;
      if (!/^(message|inbox)\./.test(event.type)) {
        const what = event.outcome ?? event.cause ?? '';
        const name = event.type === 'agent.parked' ? `${event.type} ${what}` : event.type;
        counts[name] = (counts[name] ?? 0) + 1;
      }
      tell(event, position);
    },
    wasTaken: (id, epoch) => taken.has(`${id} ${epoch}`),
    wasEnded: (id, epoch) => ended.has(`${id} ${epoch}`),
    isOver: (id) => !OPEN.has(turns.get(id)?.state ?? ''),
    check(at) {
      for (const agent of agents.values()) {
        const { name, state, turn, waitsUntil, stirredAt } = agent;
        if (state === 'busy' && turn !== null && turn.leaseUntil <= at) {
          fail(`${turn.id} runs on after its lease lapsed`);
        }
        if (state === 'failed' && turn !== null && turn.retryAt <= at) {
          fail(`${turn.id} is not tried again`);
        }
        if (state !== 'asleep' || waitsUntil > at || stirredAt > at - LOOK_MS) continue;
        const lost = waking(agent, at).find((position) => agent.pending.get(position));
        if (lost !== undefined) fail(`${name} sleeps, and ${lost} waits for it`);
      }
    },
    isIdle: (at) =>
      [...agents.values()].every(
        (agent) =>
          !OPEN.has(agent.state) &&
          (agent.state !== 'asleep' ||
            agent.waitsUntil > at ||
            !waking(agent, at).some((position) => agent.pending.get(position))),
      ),
  };
}
