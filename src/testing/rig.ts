/**
 * A hub on the bench: virtual clock, simulated disk, and the few calls most tests
 * make. `flush` is the platform's, as for the virtual clock.
 */
import type { Refusal } from '../core/law/decider.ts';
import type { Principal } from '../core/law/principal.ts';
import { peek } from '../core/talk/inbox.ts';
import type { SendMessage, SentAnswer } from '../core/talk/message.ts';
import type { FeedEnd, FeedSink } from '../hub/feed.ts';
import type { FeedOptions } from '../hub/feed-page.ts';
import { type Hub, type HubOptions, openHub } from '../hub/hub.ts';
import type { Log } from '../log/log.ts';
import { createChance } from './chance.ts';
import { createDisk, type Disk, type Faults, NO_FAULTS, openFaultyLog } from './faulty-log.ts';
import { PLAIN_SEND } from './story.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

export interface Rig {
  readonly hub: Hub;
  readonly clock: VirtualClock;
  readonly disk: Disk;
  readonly faults: Faults;
  readonly log: Log;
  /** What the hub complained of. */
  readonly troubles: readonly string[];
  readonly causes: readonly unknown[];
  send(
    by: Principal,
    channel: string,
    wishes?: Partial<SendMessage>,
  ): Promise<SentAnswer | Refusal>;
  subscribe(by: Principal, ...patterns: readonly string[]): Promise<void>;
  /** Drains and gives the seqs. */
  take(by: Principal, leaseMs?: number): Promise<number[]>;
  /** Awaits while the clock runs what is due, and lets time pass if need be. */
  until<T>(promise: Promise<T>): Promise<T>;
  listen(options: FeedOptions, sink?: Partial<FeedSink>): Listener;
  /** The process dies and another opens what is on the disk. */
  reopen(options?: Partial<HubOptions>): Promise<Rig>;
  /** Another process opens the same disk while this one goes on. */
  beside(options?: Partial<HubOptions>): Promise<Rig>;
}

export interface Listener {
  readonly positions: number[];
  readonly end: FeedEnd | null;
  readonly refusal: Refusal | null;
  close(): void;
}

const TRIES_MAX = 10_000;

export async function openRig(
  flush: () => Promise<void>,
  options: Partial<HubOptions> = {},
  disk: Disk = createDisk(),
  world: VirtualClock = createVirtualClock(createChance(1), flush),
): Promise<Rig> {
  const chance = createChance(1);
  const { clock: own, kill } = world.fork();
  const faults: Faults = { ...NO_FAULTS };
  const log = openFaultyLog(disk, own, chance, faults);
  const troubles: string[] = [];
  const causes: unknown[] = [];

  async function until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    promise.then(
      () => {
        isSettled = true;
      },
      () => {
        isSettled = true;
      },
    );
    for (let tries = 0; !isSettled && tries < TRIES_MAX; tries++) {
      await flush();
      if (!isSettled && !(await world.step())) await world.pass(1);
    }
    return promise;
  }

  const hub = await until(
    openHub({
      space: 'test',
      log,
      clock: own,
      onTrouble(what, cause) {
        troubles.push(what);
        causes.push(cause);
      },
      ...options,
    }),
  );
  const rig: Rig = {
    hub,
    clock: world,
    disk,
    faults,
    log,
    troubles,
    causes,
    until,
    send: (by, channel, wishes = {}) =>
      until(hub.submit<SendMessage>({ ...PLAIN_SEND, by, at: hub.stamp(), channel, ...wishes })),
    async subscribe(by, ...patterns) {
      for (const pattern of patterns) {
        await until(hub.submit({ type: 'subscription.add', by, at: hub.stamp(), pattern }));
      }
    },
    async take(by, leaseMs) {
      const owed = await until(hub.ask((now) => peek(now, by.id, null, 1000)));
      if (!Array.isArray(owed)) return [];
      const command = {
        type: 'inbox.drain',
        by,
        at: hub.stamp(),
        owed,
        expired: new Set<number>(),
      } as const;
      const answer = await until(hub.submit({ ...command, leaseMs: leaseMs ?? null }));
      return 'taken' in answer ? answer.taken.map(({ seq }) => seq) : [];
    },
    listen(feedOptions, sink = {}) {
      const positions: number[] = [];
      let end: FeedEnd | null = null;
      const feed = hub.openFeed(feedOptions, {
        deliver(bundle) {
          for (const { position } of bundle.messages) positions.push(position);
          return true;
        },
        ready: () => Promise.resolve(),
        end: (reason) => {
          end = reason;
        },
        ...sink,
      });
      const refusal = 'refused' in feed ? feed : null;
      return {
        positions,
        refusal,
        get end() {
          return end;
        },
        close: () => 'close' in feed && feed.close(),
      };
    },
    reopen(again = {}) {
      kill();
      return openRig(flush, { ...options, ...again }, disk);
    },
    beside: (other = {}) => openRig(flush, { ...options, ...other }, disk, world),
  };
  return rig;
}
