/**
 * The place of an instance at the hub, as its host holds it: taken or started, told of in order, renewed,
 * and given back. What the hub does not hear is said again; what it refuses because another host holds the
 * place, or because nobody could reach it for most of a lease, ends our hold [SU5], and the process with it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { timerMs } from '../../bus/process/deadline.ts';
import { INSTANCE_REASON_CHARS_MAX } from '../../core/processes/process-limits.ts';
import { codeOf, type HubCalls, type InstanceView, sentenceOf } from './supervisor-options.ts';

export interface Told {
  readonly state?: InstanceView['state'];
  readonly pid?: number;
  readonly reason?: string;
  readonly lines?: readonly string[];
  readonly usage?: {
    readonly memory_mb: number;
    readonly cpu_seconds: number;
    readonly files: number;
  };
}

export interface LeaseEvents {
  /** What the hub makes of it after each word of ours. */
  onView(view: InstanceView): void;
  /** It is ours no more. Comes once, and nothing after it. */
  onLost(reason: string): void;
}

export interface InstanceLease {
  readonly id: string;
  readonly epoch: number;
  readonly limits: Readonly<Record<string, number>>;
  tell(told: Told): void;
  /** Resolves when everything was told, or the hold was lost, or the time is over. */
  settled(withinMs: number): Promise<void>;
  /** Of one that failed: it is not started again. */
  giveUp(reason: string): Promise<void>;
  close(): void;
}

export interface LeaseOptions {
  readonly hub: HubCalls;
  readonly agent: string;
  readonly host: string;
  readonly leaseMs: number;
  /** What is told with each renewal. */
  usage(): Told['usage'] | undefined;
}

const RENEWALS_A_LEASE = 4;
/** The last quarter is for ending the process before anybody else may begin one. */
const BELIEVED_SHARE = 0.75;
/** To be sure that nothing is left when the lease is over. */
const ENDED_SHARE = 0.15;
const AGAIN_MS_MIN = 100;
const AGAIN_MS_MAX = 2_000;
/** The hub has decided, and will decide the same again. */
const FINAL = new Set(['instance.stale', 'instance.not-found', 'access.denied', 'input.invalid']);

/** How long its process has to end, once the hold was lost. */
export function leftOfLeaseMs(leaseMs: number): number {
  return leaseMs * ENDED_SHARE;
}

/** One that waits for a host is taken; else a new one is started. A refusal is thrown. */
export async function openLease(
  options: LeaseOptions,
  events: LeaseEvents,
): Promise<InstanceLease> {
  const { hub, agent, host, leaseMs } = options;
  const hold = { host, lease_ms: leaseMs };
  const askedAt = performance.now();
  const { instance } = await hub.call('agents.take', { agents: [agent], ...hold });
  const view =
    instance ?? (await hub.call('agents.start', { agent_id: agent, hold: true, ...hold }));
  return keepLease(view, options, events, askedAt);
}

function keepLease(
  view: InstanceView,
  { hub, leaseMs, usage }: LeaseOptions,
  events: LeaseEvents,
  askedAt: number,
): InstanceLease {
  const { instance_id: id, epoch, limits } = view;
  const untold: Told[] = [];
  let isOver = false;
  let draining: Promise<void> | null = null;

  const renewal = setInterval(() => {
    const measured = usage();
    if (untold.length === 0) tell(measured === undefined ? {} : { usage: measured });
  }, leaseMs / RENEWALS_A_LEASE);
  renewal.unref();
  const believedMs = leaseMs * BELIEVED_SHARE;
  let lapse: NodeJS.Timeout | undefined;
  believeFrom(askedAt);

  /** Our clock runs from when we asked, the hub's from when it heard: ours is over first. */
  function believeFrom(at: number): void {
    clearTimeout(lapse);
    const unheard = `the hub could not be told of it for ${Math.round(believedMs)} ms`;
    lapse = setTimeout(() => lose(unheard), timerMs(at + believedMs - performance.now()));
    lapse.unref();
  }

  function close(): void {
    isOver = true;
    clearInterval(renewal);
    clearTimeout(lapse);
  }

  function lose(reason: string): void {
    if (isOver) return;
    close();
    events.onLost(reason);
  }

  function tell(told: Told): void {
    if (isOver) return;
    untold.push(told);
    draining ??= drain().finally(() => {
      draining = null;
    });
  }

  async function drain(): Promise<void> {
    let againMs = AGAIN_MS_MIN;
    for (let next = untold[0]; next !== undefined && !isOver; next = untold[0]) {
      const sentAt = performance.now();
      try {
        const { reason, lines, ...rest } = next;
        const said = await hub.call('agents.report', {
          ...{ instance_id: id, epoch, lines: [...(lines ?? [])] },
          ...(reason !== undefined && { reason: oneLine(reason) }),
          ...rest,
        });
        untold.shift();
        if (!isOver) believeFrom(sentAt);
        againMs = AGAIN_MS_MIN;
        if (!isOver) events.onView(said);
      } catch (error) {
        const code = codeOf(error);
        if (code === 'instance.state') untold.shift();
        if (code === 'instance.state' && fromOf(error) === 'stopping') {
          // It was stopped there while this was on its way: a word that may be said then is answered with why.
          if (untold.length === 0) untold.push({});
        } else if (code === 'instance.state' || (code !== null && FINAL.has(code))) {
          lose(sentenceOf(error));
        } else {
          await sleep(againMs);
          againMs = Math.min(againMs * 2, AGAIN_MS_MAX);
        }
      }
    }
  }

  return {
    ...{ id, epoch, limits, tell, close },
    async settled(withinMs) {
      const stop = new AbortController();
      await Promise.race([draining, sleep(withinMs, undefined, stop).catch(() => {})]);
      stop.abort();
    },
    async giveUp(reason) {
      try {
        await hub.call('agents.stop', { instance_id: id, reason: oneLine(reason) });
      } catch {
        // Over already, or out of reach: then the lease lapses, and nobody is told a lie.
      }
    },
  };
}

function fromOf(error: unknown): unknown {
  return (error as { detail?: { from?: unknown } }).detail?.from;
}

function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, INSTANCE_REASON_CHARS_MAX)
    .toWellFormed();
}
