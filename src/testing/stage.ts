/**
 * What a simulation plays on: one seed, one disk, one clock, and a hub that may die
 * and come back at any moment. It remembers the last actions, so that a failure can
 * be told, and keeps the model up to date with what is stored.
 */
import { type Hub, openHub } from '../hub/hub.ts';
import { LogError } from '../log/log.ts';
import { type Chance, createChance } from './chance.ts';
import {
  crashDisk,
  createDisk,
  type Disk,
  type Faults,
  NO_FAULTS,
  openFaultyLog,
  storedEntries,
} from './faulty-log.ts';
import { createModel, type Model } from './model.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';
import { createWorkModel, type WorkModel } from './work-model.ts';

export interface SimulationOptions {
  readonly seed: number;
  readonly steps: number;
  /** Resolves when all promises that can go on have done so: `setImmediate` on Node. */
  readonly flush: () => Promise<void>;
  readonly lie?: Faults['lie'];
  /** Stands between the actors and the hub, to show that a hub that errs is noticed. */
  readonly mutate?: (hub: Hub) => Hub;
}

export const QUEUE_MAX = 60;

export interface Stage {
  readonly chance: Chance;
  readonly clock: VirtualClock;
  readonly disk: Disk;
  readonly faults: Faults;
  readonly model: Model;
  /** The same for claims and the plan. */
  readonly work: WorkModel;
  /** Null while there is none. */
  readonly hub: Hub | null;
  /** Counts the lives of the hub. */
  readonly life: number;
  /** Actions under way in this life. */
  readonly pending: number;
  /** The first thing that went wrong. */
  readonly failure: unknown;
  readonly actions: readonly string[];
  note(action: string): void;
  fail(why: unknown): void;
  /** Starts an action; one the disk fails is over, one the hub dies on is never heard of again. */
  begin(name: string, run: (hub: Hub) => Promise<void>): void;
  /** Takes in what is stored by now. */
  learn(): void;
  open(): void;
  crash(): void;
  close(): void;
  onCrash(listener: () => void): void;
}

const ACTIONS_KEPT = 40;

export function createStage(options: SimulationOptions): Stage {
  const chance = createChance(options.seed);
  const clock = createVirtualClock(chance.fork(), options.flush);
  const disk = createDisk();
  const faults: Faults = { ...NO_FAULTS, slowMs: 5, lie: options.lie ?? null };
  const model = createModel();
  const work = createWorkModel();
  const diskChance = chance.fork();
  const actions: string[] = [];
  const crashListeners: (() => void)[] = [];
  let hub: Hub | null = null;
  let life = 0;
  let pending = 0;
  let isOpening = false;
  let kill = (): void => {};
  let failure: unknown;

  function note(action: string): void {
    actions.push(`${clock.now() % 1e9} ${action}`);
    if (actions.length > ACTIONS_KEPT) actions.shift();
  }

  function fail(why: unknown): void {
    failure ??= why instanceof Error ? why : new Error(String(why));
  }

  function learn(): void {
    try {
      const stored = storedEntries(disk);
      if (stored.length < model.length)
        fail(`the disk lost entries: ${model.length} were stored, ${stored.length} are`);
      for (const entry of stored.slice(model.length)) {
        model.add(entry);
        work.add(JSON.parse(entry));
      }
    } catch (cause) {
      fail(cause);
    }
  }

  function begin(name: string, run: (hub: Hub) => Promise<void>): void {
    if (hub === null) return;
    note(name);
    const mine = life;
    pending++;
    run(hub)
      .catch((cause) => {
        if (!(cause instanceof LogError)) fail(cause);
      })
      .finally(() => {
        if (mine === life) pending--;
      });
  }

  function open(): void {
    if (hub !== null || isOpening) return;
    const mine = life;
    const process = clock.fork();
    isOpening = true;
    kill = process.kill;
    openHub({
      space: 'simulated',
      log: openFaultyLog(disk, process.clock, diskChance, faults),
      clock: process.clock,
      snapshotEvery: 25,
      cacheBytesMax: 2000,
      queueMax: QUEUE_MAX,
    }).then(
      (opened) => {
        if (mine !== life) return;
        isOpening = false;
        hub = options.mutate?.(opened) ?? opened;
        note('the hub is open');
      },
      (cause) => {
        if (mine !== life) return;
        isOpening = false;
        note(`the hub did not open: ${cause}`);
        if (!(cause instanceof LogError)) fail(cause);
      },
    );
  }

  function end(): void {
    hub = null;
    isOpening = false;
    life++;
    pending = 0;
    for (const listener of crashListeners) listener();
  }

  return {
    chance,
    clock,
    disk,
    faults,
    model,
    work,
    actions,
    get hub() {
      return hub;
    },
    get life() {
      return life;
    },
    get pending() {
      return pending;
    },
    get failure() {
      return failure;
    },
    note,
    fail,
    begin,
    learn,
    open,
    crash() {
      note('the hub crashes');
      kill();
      crashDisk(disk, faults);
      end();
    },
    close() {
      const closing = hub;
      const mine = life;
      if (closing === null) return;
      note('the hub is closed');
      closing.close().then(
        () => mine === life && end(),
        (cause) => fail(cause),
      );
    },
    onCrash: (listener) => void crashListeners.push(listener),
  };
}
