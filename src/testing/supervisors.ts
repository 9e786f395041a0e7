/**
 * Actors that run managed agents: people who say how, and supervisors who take turns, renew and finish
 * them, honestly or not: with an epoch that is over, twice, never, for ever, or claiming to have read
 * what they were not given. Agents try all of it too, and are refused.
 */
import { isRefusal, type Refusal } from '../core/law/decider.ts';
import type { Principal } from '../core/law/principal.ts';
import type { Command } from '../core/law/world.ts';
import { ADA, MIA, ROOT, TOM } from './persons.ts';
import type { Venue } from './simulated-process.ts';
import type { Stage } from './stage.ts';
import { createPrincipal, PLAIN_SEND } from './story.ts';

const MANAGED = ['bob', 'cat', 'max'];
const CHANNELS = ['a', 'b', 'team/one', 'dm/max~mia', 'dm/bob~mia'];
const WIDE = { hops: 100, pair_per_min: 1000, turn_timeout_ms: 4000, turn_wall_ms: 9000 };
const LIMITS: readonly Readonly<Record<string, number>>[] = [
  { ...WIDE, turns_per_10_min: 1000, turns_per_message: 100, repeats_per_30_min: 1000 },
  { ...WIDE, turns_per_10_min: 1000, turns_per_message: 100, repeats_per_30_min: 1000 },
  WIDE,
];
/** Every guard rail at its own bound, but for the clock: a run of the simulator is short. */
const REAL = { turn_timeout_ms: 4000, turn_wall_ms: 9000 };
const ANYTHING = { channels: null, from: null, kinds: null, minTier: null };
const RULES = [
  ANYTHING,
  ANYTHING,
  { ...ANYTHING, channels: ['a', 'team/*', 'dm/*', 'to/*'] },
  { ...ANYTHING, from: ['mia', 'a*', '__server__'] },
  { ...ANYTHING, kinds: ['human', 'agent'] as const, minTier: 'standard' as const },
];

/** A turn that somebody was told it has; it may be long over. */
interface Run {
  readonly id: string;
  readonly epoch: number;
  readonly agent: string;
  readonly messages: readonly number[];
}

export interface Supervisors {
  act(): void;
  /** Takes what is due and does it, as it should be done. */
  serve(): void;
  /** The turn that an agent was last seen to have. */
  runOf(agent: string): Run | undefined;
}

export function createSupervisors(stage: Stage): Supervisors {
  const { chance, turns } = stage;
  const runs: Run[] = [];

  function submit(by: Principal, name: string, command: Wish): void {
    stage.begin(`${by.id} ${name}`, async (hub) => {
      const answer = (await hub.submit({ ...command, by, at: hub.stamp() } as Command)) as object;
      stage.learn();
      if (isRefusal(answer) && answer.refused === 'internal') stage.fail(answer.message);
      if (!isRefusal(answer) && by.kind === 'agent') stage.fail(`${by.id} ${name}, an agent`);
    });
  }

  /** Mostly who may, now and then an agent that may not. */
  const somebody = (): Principal => chance.pick([MIA, ROOT, ROOT, TOM, MIA, ADA]);

  function manage(): void {
    const agent = chance.pick(MANAGED);
    const config = {
      ...{ runner: '{"kind":"outside"}', runnerKind: 'outside', wake: chance.pick(RULES) },
      ...{
        limits: stage.hasRealBounds ? REAL : chance.pick(LIMITS),
        session: chance.pick(['resume', 'fresh'] as const),
      },
    };
    submit(somebody(), `manages ${agent}`, { type: 'agent.manage', agent, config });
  }

  function rule(): void {
    const agent = chance.isLikely(0.8) ? chance.pick(MANAGED) : null;
    const type = chance.pick([
      'agent.pause',
      'agent.resume',
      'agent.resume',
      'agent.resume',
    ] as const);
    submit(somebody(), `${type} ${agent}`, { type, agent, reason: null });
  }

  function unmanage(): void {
    if (!chance.isLikely(0.3)) return manage();
    const agent = chance.pick(MANAGED);
    submit(somebody(), `unmanages ${agent}`, { type: 'agent.unmanage', agent });
  }

  function join(): void {
    const by = createPrincipal('max');
    const pattern = chance.pick(['a', 'b', 'team/*']);
    submitAs(by, `max joins ${pattern}`, { type: 'subscription.add', pattern });
  }

  function submitAs(by: Principal, name: string, command: Wish): void {
    stage.begin(name, async (hub) => {
      await hub.submit({ ...command, by, at: hub.stamp() } as Command);
    });
  }

  /** A person speaks; what the agents say is said by others. */
  function speak(): void {
    const channel = chance.pick(CHANNELS);
    const wish = { ...PLAIN_SEND, channel, body: '{"text":"do"}' };
    const ttlMs = chance.isLikely(0.1) ? chance.int(1, 500) : null;
    submitAs(MIA, `mia speaks on ${channel}`, { ...wish, ttlMs });
  }

  function take(): void {
    const by = chance.pick([ROOT, ROOT, ROOT, ROOT, MIA]);
    const agents = chance.isLikely(0.6) ? null : [chance.pick(MANAGED)];
    const leaseMs = chance.pick([null, 1000, 3000]);
    stage.begin(`${by.id} takes a turn of ${agents} for ${leaseMs}`, async (hub) => {
      const run = await taken(hub, by, agents, leaseMs);
      if (run !== null) runs.push(run);
      if (runs.length > 30) runs.shift();
    });
  }

  async function taken(
    hub: Venue,
    by: Principal,
    agents: readonly string[] | null,
    leaseMs: number | null,
  ): Promise<Run | null> {
    const wish = { type: 'turn.take', agents, runnerKinds: null, leaseMs, hash: null } as const;
    const answer = await hub.submit({ ...wish, by, at: hub.stamp() });
    stage.learn();
    if (answer === null || isRefusal(answer)) return null;
    const { id, epoch, agent, messages } = answer.turn;
    if (!turns.wasTaken(id, epoch)) stage.fail(`${id} was given at ${epoch}, which is not stored`);
    if (by.kind !== 'admin') stage.fail(`${by.id} took ${id}`);
    return { id, epoch, agent, messages: messages.map(({ position }) => position) };
  }

  const someRun = (): Run | undefined =>
    runs.length === 0 ? undefined : chance.pick(chance.isLikely(0.6) ? runs.slice(-3) : runs);

  function renew(): void {
    const run = someRun();
    if (run === undefined) return take();
    const rest = { leaseMs: chance.pick([null, 2000]), transcript: null, cost: null };
    const pid = chance.isLikely(0.3) ? chance.int(1, 9) : null;
    submit(chance.pick([ROOT, ROOT, ADA]), `renews ${run.id} at ${run.epoch}`, {
      ...{ type: 'turn.renew', id: run.id, epoch: run.epoch, pid },
      ...rest,
    });
  }

  function finish(): void {
    const run = someRun();
    if (run === undefined) return take();
    const by = chance.pick([ROOT, ROOT, ROOT, ROOT, ADA]);
    const outcome = chance.pick(['done', 'done', 'done', 'failed', 'gave_up', 'nothing'] as const);
    const some = run.messages.filter(() => chance.isLikely(0.5));
    const isLie = chance.isLikely(0.1);
    const consumed = isLie ? [...some, 0] : chance.pick(['all', 'all', some, null] as const);
    const isRestart = chance.isLikely(0.2);
    stage.begin(`${by.id} finishes ${run.id} at ${run.epoch} ${outcome}`, async (hub) => {
      const answer = await ended(hub, by, run, { outcome, consumed, isRestart });
      if (isRefusal(answer ?? {})) return;
      if (by.kind !== 'admin') stage.fail(`${by.id} finished ${run.id}`);
      const isStray = isLie && !run.messages.includes(0);
      if (isStray && outcome !== 'failed') stage.fail(`${run.id} read what it was not given`);
    });
  }

  async function ended(
    hub: Venue,
    by: Principal,
    { id, epoch }: Run,
    how: {
      readonly outcome: 'done' | 'failed' | 'gave_up' | 'nothing';
      readonly consumed: 'all' | readonly number[] | null;
      readonly isRestart: boolean;
    },
  ): Promise<null | Refusal> {
    const answer = await hub.submit({
      ...{ type: 'turn.finish', id, epoch, ...how, by, at: hub.stamp() },
      ...{ output: null, note: null, sessionRef: null, cost: null, quota: null },
    });
    stage.learn();
    if (!isRefusal(answer ?? {}) && !turns.wasEnded(id, epoch)) {
      stage.fail(`${id} was ended at ${epoch}, a run that was over`);
    }
    return answer;
  }

  function settle(): void {
    const run = someRun();
    if (run === undefined) return take();
    const type = chance.pick(['turn.cancel', 'turn.retry', 'turn.retry'] as const);
    submit(somebody(), `${type} ${run.id}`, { type, id: run.id, reason: null });
  }

  /** The agent itself, with the token of a run that may be over. */
  function work(): void {
    const run = someRun();
    if (run === undefined) return take();
    const by = { ...createPrincipal(run.agent), turn: { id: run.id, epoch: run.epoch } };
    const channel = chance.pick(CHANNELS.slice(0, 3));
    const wish = { ...PLAIN_SEND, channel, body: '{"text":"did"}' };
    submitAs(by, `${run.agent} speaks in ${run.id}`, wish);
  }

  /** A turn as it mostly goes: taken, answered where others are woken by it, and done. */
  function bustle(): void {
    const channel = chance.pick(CHANNELS.slice(0, 3));
    const wish = { ...PLAIN_SEND, channel, body: '{"text":"did"}' };
    stage.begin(`a turn is served, and answers on ${channel}`, async (hub) => {
      const run = await taken(hub, ROOT, null, 5000);
      const turn = run === null ? {} : { turn: { id: run.id, epoch: run.epoch } };
      const by = { ...createPrincipal(run?.agent ?? 'ada'), ...turn };
      await hub.submit({ ...wish, by, at: hub.stamp() });
      if (run === null) return;
      await ended(hub, ROOT, run, { outcome: 'done', consumed: 'all', isRestart: false });
    });
  }

  const acts = [
    ...[manage, unmanage, rule, join, settle, settle, renew, renew, renew, work, work, work],
    ...[speak, speak, speak, speak, take, take, take, take, take, take, take, take],
    ...[finish, finish, finish, finish, finish, finish, finish],
  ];
  const busy = [...acts, ...Array.from(acts, () => bustle), ...Array.from(acts, () => bustle)];
  const beginnings = [manage, manage, join, speak];
  return {
    act: () =>
      chance.pick(turns.managedCount < 2 ? beginnings : stage.hasRealBounds ? busy : acts)(),
    serve() {
      stage.begin('root serves', async (hub) => {
        const run = await taken(hub, ROOT, null, 5000);
        if (run === null) return;
        await ended(hub, ROOT, run, { outcome: 'done', consumed: 'all', isRestart: false });
      });
    },
    runOf: (agent) => runs.findLast((run) => run.agent === agent),
  };
}

type Wish = Record<string, unknown>;
