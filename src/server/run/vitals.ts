/**
 * How the hub is doing, remembered for ten minutes: one small sample every five seconds, of the process
 * and of each open space [VI1]. What happens in between pays a count, a plain send no clock [VI2]; what
 * costs more, like the size of the store, is looked at when somebody asks.
 */
import type { Bus } from '../../bus/router/bus.ts';
import type { Hub } from '../../hub/hub.ts';
import { isFields } from '../../wire/fields.ts';
import type { Operation } from '../../wire/operation.ts';
import type { Desk } from '../desk/desk.ts';
import { DEFAULT_SPACE } from '../desk/spaces.ts';
import type { VitalsReading, VitalsWindow } from '../desk/vitals-window.ts';
import { type CutOff, cutOffLine } from '../doors/cut-off.ts';
import { createTimings, type Timings } from './timings.ts';

const BEAT_MS = 5_000;
const SAMPLES_KEPT = 120;
const CUT_OFF_KEPT = 20;

type Sample = VitalsReading['samples'][number];
type SlowReader = VitalsReading['slow_readers']['last'][number];

interface SpaceVitals {
  readonly appends: Timings;
  readonly samples: Sample[];
  /** At the last sample; null before the first. */
  entries: number | null;
  slowReaders: number;
  lastCutOff: SlowReader[];
}

export interface VitalsSources {
  hubs(): readonly Hub[];
  connections(): Readonly<Record<string, number>>;
  bus(): Bus | null;
  store(space: string): Promise<{ readonly kind: string; readonly bytes: number | null }>;
}

export interface Vitals extends VitalsWindow {
  /** The same desk; every call through it is counted, and timed unless it is a plain send or waits. */
  count(desk: Desk): Desk;
  /** A batch of this space took so long to be durable. */
  noteAppend(space: string, ms: number): void;
  /** For the doors: who was cut off is kept, and said to the hub's log. */
  cutOffs(warn: (line: string) => void): CutOff;
  noteFailure(): void;
  begin(sources: VitalsSources): void;
  close(): void;
}

export function createVitals(beatMs: number = BEAT_MS): Vitals {
  const spaces = new Map<string, SpaceVitals>();
  const calls = createTimings();
  let callCount = 0;
  let failures = 0;
  let sources: VitalsSources | null = null;
  let timer: NodeJS.Timeout | null = null;
  let lastLoop = performance.eventLoopUtilization();
  let lastAt = performance.now();

  function spaceOf(name: string): SpaceVitals {
    const known = spaces.get(name);
    if (known !== undefined) return known;
    const space: SpaceVitals = {
      appends: createTimings(),
      samples: [],
      entries: null,
      slowReaders: 0,
      lastCutOff: [],
    };
    spaces.set(name, space);
    return space;
  }

  function sample(): void {
    const elapsedS = Math.max(0.001, (performance.now() - lastAt) / 1000);
    lastAt = performance.now();
    const loop = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(loop, lastLoop);
    lastLoop = loop;
    const { rss, heapUsed } = process.memoryUsage();
    const took = calls.take();
    const whole = {
      calls_per_s: perSecond(callCount, elapsedS),
      call_ms_p50: took?.p50 ?? null,
      call_ms_p99: took?.p99 ?? null,
      failures,
      busy: Math.min(1, Math.max(0, utilization)),
      rss_bytes: rss,
      heap_bytes: heapUsed,
    };
    callCount = 0;
    failures = 0;
    const open = new Map((sources?.hubs() ?? []).map((hub) => [hub.space, hub]));
    for (const [name, hub] of open) {
      const space = spaceOf(name);
      const { entries } = hub.stats;
      const append = space.appends.take();
      space.samples.push({
        at: Date.now() / 1000,
        entries_per_s: perSecond(Math.max(0, entries - (space.entries ?? entries)), elapsedS),
        append_ms_p50: append?.p50 ?? null,
        append_ms_p99: append?.p99 ?? null,
        ...whole,
      });
      space.entries = entries;
      if (space.samples.length > SAMPLES_KEPT) space.samples.shift();
    }
    for (const name of spaces.keys()) if (!open.has(name)) spaces.delete(name);
  }

  return {
    count(desk) {
      const timed = (operation: Operation, input: unknown): boolean => {
        callCount++;
        return operation.id !== 'channels.send' && !doesWait(input);
      };
      return {
        ...desk,
        async call(caller, operation, input, options) {
          const startedAt = timed(operation, input) ? performance.now() : null;
          const answer = await desk.call(caller, operation, input, options);
          if (startedAt !== null) calls.add(performance.now() - startedAt);
          return answer;
        },
        callAs(caller, operation, input, run, signal) {
          callCount++;
          return desk.callAs(caller, operation, input, run, signal);
        },
        callThen(caller, operation, input, done, options) {
          if (!timed(operation, input))
            return desk.callThen(caller, operation, input, done, options);
          const startedAt = performance.now();
          desk.callThen(
            caller,
            operation,
            input,
            (answer) => {
              calls.add(performance.now() - startedAt);
              done(answer);
            },
            options,
          );
        },
      };
    },
    noteAppend: (space, ms) => spaceOf(space).appends.add(ms),
    cutOffs: (warn) => (caller, bytes, door) => {
      const space = spaceOf(caller.space);
      space.slowReaders++;
      const told = { agent_id: caller.principal.id, door, bytes, at: Date.now() / 1000 };
      space.lastCutOff = [told, ...space.lastCutOff].slice(0, CUT_OFF_KEPT);
      warn(cutOffLine(caller, bytes, door));
    },
    noteFailure() {
      failures++;
    },
    begin(from) {
      sources = from;
      sample();
      timer = setInterval(sample, beatMs).unref();
    },
    async read(hub, since) {
      const space = spaceOf(hub.space);
      const { queued, feeds, entries } = hub.stats;
      const bus = hub.space === DEFAULT_SPACE ? (sources?.bus() ?? null) : null;
      const store = (await sources?.store(hub.space)) ?? { kind: 'unknown', bytes: null };
      return {
        beat_ms: beatMs,
        samples: space.samples.filter(({ at }) => at * 1000 > since),
        now: { queued, feeds, connections: { ...sources?.connections() } },
        slow_readers: { total: space.slowReaders, last: space.lastCutOff },
        store: { ok: hub.isAvailable, entries, ...store },
        bus: bus && busReading(bus),
      };
    },
    close() {
      if (timer !== null) clearInterval(timer);
    },
  };
}

function doesWait(input: unknown): boolean {
  return isFields(input) && ('wait_ms' in input || 'timeout' in input);
}

function perSecond(count: number, elapsedS: number): number {
  return Math.round((count / elapsedS) * 100) / 100;
}

function busReading(bus: Bus): NonNullable<VitalsReading['bus']> {
  const { clients, sessions, pending } = bus.counts();
  const workers = bus.workers();
  const pools = bus.config.pools.map(({ id }) => {
    const own = workers.filter(({ pool }) => pool === id);
    const states: Record<string, number> = {};
    for (const { state } of own) states[state] = (states[state] ?? 0) + 1;
    const queued = own.reduce((sum, { queuedBytes }) => sum + queuedBytes, 0);
    return { pool: id, workers: states, queued_bytes: queued };
  });
  return { clients, sessions, pending, restarts: bus.stats().worker_restarts, pools };
}
