/**
 * What Prometheus reads at `/metrics`: what the hub holds, asked when somebody
 * scrapes, and what was called, counted as it happens. Names and labels are in
 * docs/reference/metrics.md and stay. A plain send over a WebSocket is only
 * counted, never timed: measuring must not slow what it measures [ME2].
 */
import type { Counter, Gauge, Registry } from 'prom-client';
import { isRefusal } from '../../core/law/decider.ts';
import type { WorldView } from '../../core/law/state.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Operation } from '../../wire/operation.ts';
import type { Answer } from '../desk/answer.ts';
import type { Desk } from '../desk/desk.ts';

const TASK_STATES = ['open', 'in_progress', 'blocked', 'done', 'cancelled'] as const;
const DURATION_BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30];

/** Looked at when somebody scrapes. */
export interface MetricsSources {
  hubs(): readonly Hub[];
  connections(): Readonly<Record<string, number>>;
  slowReaders(): number;
  /** Metrics somebody else keeps, as text with lines that end; may be empty. */
  more?(): Promise<string>;
}

export interface Metrics {
  /** The same desk; every call through it is counted. */
  readonly desk: Desk;
  read(): Promise<{ readonly contentType: string; readonly text: string }>;
}

interface Tally {
  ok: number;
  refused: number;
  failed: number;
}

interface Held {
  readonly agents: number;
  readonly channels: number;
  readonly claims: number;
  readonly offers: number;
  readonly messages: number;
  readonly tasks: Readonly<Record<(typeof TASK_STATES)[number], number>>;
}

export async function createMetrics(desk: Desk, sources: MetricsSources): Promise<Metrics> {
  const prom = await import('prom-client');
  const registers: Registry[] = [new prom.Registry()];
  const [register] = registers as [Registry];
  prom.collectDefaultMetrics({ register });
  const tallies = new Map<string, Tally>();
  // A space that cannot answer now has not lost what it held: counters must not fall.
  const seenOf = new WeakMap<Hub, Held>();
  /** Nor when a space is closed or removed, and a hub that is opened again begins at none. */
  const totals = new Map<string, { messages: number; batches: number }>();
  const batchesOf = new WeakMap<Hub, number>();
  const gauge = (name: string, help: string, labelNames: string[] = []): Gauge =>
    new prom.Gauge({ name, help, labelNames, registers });
  const counter = (name: string, help: string, labelNames: string[] = []): Counter =>
    new prom.Counter({ name, help, labelNames, registers });

  const up = gauge('synod_up', '1 while every open space can be written to');
  const uptime = gauge('synod_uptime_seconds', 'Seconds since the hub started');
  const held = {
    entries: gauge('synod_entries', 'Entries in the logs of the open spaces'),
    queued: gauge('synod_queue_depth', 'Commands and questions waiting to be carried out'),
    feeds: gauge('synod_feeds', 'Open feeds'),
    agents: gauge('synod_agents', 'Agents known'),
    channels: gauge('synod_channels', 'Channels known'),
    claims: gauge('synod_claims', 'Claims held'),
    offers: gauge('synod_offers', 'Offers standing'),
  };
  const tasks = gauge('synod_tasks', 'Tasks on the plan', ['status']);
  const connections = gauge('synod_connections', 'Open connections', ['door']);
  const messages = counter('synod_messages_total', 'Messages in the logs of the open spaces');
  const batches = counter('synod_batches_total', 'Batches appended to the logs');
  const slow = counter('synod_slow_readers_total', 'Readers cut off because they did not read');
  const calls = counter('synod_calls_total', 'Calls', ['operation', 'outcome']);
  const durations = new prom.Histogram({
    name: 'synod_call_duration_seconds',
    help: 'How long calls took; plain sends over a WebSocket are not timed',
    buckets: DURATION_BUCKETS_S,
    registers,
  });

  async function look(): Promise<void> {
    const sums = { entries: 0, queued: 0, feeds: 0, agents: 0, channels: 0, claims: 0, offers: 0 };
    const byStatus = Object.fromEntries(TASK_STATES.map((status) => [status, 0]));
    for (const hub of sources.hubs()) {
      const { stats } = hub;
      sums.entries += stats.entries;
      sums.queued += stats.queued;
      sums.feeds += stats.feeds;
      const total = totals.get(hub.space) ?? { messages: 0, batches: 0 };
      totals.set(hub.space, total);
      total.batches += stats.batches - (batchesOf.get(hub) ?? 0);
      batchesOf.set(hub, stats.batches);
      const answer = await hub.ask(countWorld);
      if (!isRefusal(answer)) seenOf.set(hub, answer);
      const seen = seenOf.get(hub);
      if (seen === undefined) continue;
      for (const name of ['agents', 'channels', 'claims', 'offers'] as const) {
        sums[name] += seen[name];
      }
      for (const status of TASK_STATES)
        byStatus[status] = (byStatus[status] ?? 0) + seen.tasks[status];
      total.messages = Math.max(total.messages, seen.messages);
    }
    const { store_ok, uptime_s } = desk.health();
    up.set(store_ok ? 1 : 0);
    uptime.set(uptime_s);
    for (const name of Object.keys(held) as (keyof typeof held)[]) held[name].set(sums[name]);
    for (const status of TASK_STATES) tasks.set({ status }, byStatus[status] ?? 0);
    for (const [door, count] of Object.entries(sources.connections()))
      connections.set({ door }, count);
    for (const [name, counter] of [
      ['messages', messages],
      ['batches', batches],
    ] as const)
      setCounter(
        counter,
        [...totals.values()].reduce((sum, total) => sum + total[name], 0),
      );
    setCounter(slow, sources.slowReaders());
    calls.reset();
    for (const [operation, tally] of tallies) {
      for (const outcome of ['ok', 'refused', 'failed'] as const) {
        if (tally[outcome] > 0) calls.inc({ operation, outcome }, tally[outcome]);
      }
    }
  }

  function tallyOf({ id }: Operation): Tally {
    const tally = tallies.get(id) ?? { ok: 0, refused: 0, failed: 0 };
    if (tally.ok + tally.refused + tally.failed === 0) tallies.set(id, tally);
    return tally;
  }

  return {
    desk: {
      ...desk,
      async call(caller, operation, input, options) {
        const startedAt = performance.now();
        const answer = await desk.call(caller, operation, input, options);
        durations.observe((performance.now() - startedAt) / 1000);
        tallyOf(operation)[outcomeOf(answer)]++;
        return answer;
      },
      async callAs(caller, operation, input, run, signal) {
        const answer = await desk.callAs(caller, operation, input, run, signal);
        tallyOf(operation)[outcomeOf(answer)]++;
        return answer;
      },
      callThen(caller, operation, input, done, options) {
        const tally = tallyOf(operation);
        const startedAt = operation.id === 'channels.send' ? null : performance.now();
        const counted = (answer: Answer): void => {
          if (startedAt !== null) durations.observe((performance.now() - startedAt) / 1000);
          tally[outcomeOf(answer)]++;
          done(answer);
        };
        desk.callThen(caller, operation, input, counted, options);
      },
    },
    async read() {
      await look();
      const text = await register.metrics();
      return { contentType: register.contentType, text: text + ((await sources.more?.()) ?? '') };
    },
  };
}

function setCounter(counter: Counter, value: number): void {
  counter.reset();
  counter.inc(value);
}

function outcomeOf(answer: Answer): keyof Tally {
  if ('ok' in answer) return 'ok';
  return answer.error.error_code === 'internal_error' ? 'failed' : 'refused';
}

function countWorld(world: WorldView): Held {
  let messages = 0;
  // Every channel counts its own messages, so nothing had to be counted when they were sent.
  for (const { positions } of world.channels.values()) messages += positions.head;
  const { open, in_progress, blocked, done, cancelled } = world.plan.totals;
  return {
    agents: world.agents.size,
    channels: world.channels.size,
    claims: world.claims.claims.size,
    offers: world.offers.count,
    messages,
    tasks: { open, in_progress, blocked, done, cancelled },
  };
}
