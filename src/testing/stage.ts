/**
 * What a simulation plays on: one seed, one disk, one clock, and one or two processes that
 * write to the disk. It remembers the last actions, so that a failure can be told, and
 * keeps the model up to date with what is stored.
 */
import { decodeEvent } from '../core/law/entry.ts';
import { createWorld } from '../core/law/state.ts';
import { evolve } from '../core/law/world.ts';
import type { Hub } from '../hub/hub.ts';
import { type Chance, createChance } from './chance.ts';
import { type Cluster, createCluster } from './cluster-stage.ts';
import { portray } from './compare.ts';
import { createDocketModel, type DocketModel } from './docket-model.ts';
import { createDisk, type Disk, type Faults, NO_FAULTS, storedEntries } from './faulty-log.ts';
import { createGateModel, type GateModel } from './gate-model.ts';
import { createMarkModel, type MarkModel } from './mark-model.ts';
import { createModel, type Model } from './model.ts';
import { PERSONS } from './persons.ts';
import { createProcess, type SimulatedProcess, type Venue } from './simulated-process.ts';
import { createTurnModel, type TurnModel } from './turn-model.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';
import { createWorkModel, type WorkModel } from './work-model.ts';

export interface SimulationOptions {
  readonly seed: number;
  readonly steps: number;
  /** Resolves when all promises that can go on have done so: `setImmediate` on Node. */
  readonly flush: () => Promise<void>;
  readonly lie?: Faults['lie'];
  /** Stands between the actors and a hub, to show that a hub that errs is noticed. */
  readonly mutate?: (hub: Hub) => Hub;
  /** How many processes write to the disk; drawn by chance when it is left out. */
  readonly writers?: 1 | 2;
  /** So many servers, which sequence the space in turn; otherwise each process decides by itself. */
  readonly servers?: number;
  /** Guard rails of turns at their usual bounds, which a story soon reaches. */
  readonly hasRealBounds?: boolean;
  /** Told each entry as it is taken in, for a model that only some stories need. */
  readonly alsoTold?: (event: never) => void;
}

export interface Stage {
  readonly chance: Chance;
  readonly clock: VirtualClock;
  readonly disk: Disk;
  readonly faults: Faults;
  readonly model: Model;
  /** The same for claims and the plan. */
  readonly work: WorkModel;
  /** And for managed agents, gates and what waits for a person. */
  readonly turns: TurnModel;
  readonly gates: GateModel;
  readonly docket: DocketModel;
  /** And for threads with their marks. */
  readonly threads: MarkModel;
  readonly processes: readonly SimulatedProcess[];
  /** Null where each process decides by itself. */
  readonly cluster: Cluster | null;
  readonly hasRealBounds: boolean;
  /** The first thing that went wrong. */
  readonly failure: unknown;
  readonly actions: readonly string[];
  /** When the last that is stored happened. */
  readonly at: number;
  note(action: string): void;
  fail(why: unknown): void;
  /** Starts an action at one of the open hubs, and says where; null when there is none. */
  begin(name: string, run: (venue: Venue) => Promise<void>): SimulatedProcess | null;
  /** Takes in what is stored by now. */
  learn(): void;
  /** The world that a replay of all that was taken in gives, told field by field. */
  portrayStored(): string;
  /** Called when a process has crashed or closed. */
  onEnd(listener: (process: SimulatedProcess) => void): void;
}

const ACTIONS_KEPT = 40;

export function createStage(options: SimulationOptions): Stage {
  const chance = createChance(options.seed);
  const clock = createVirtualClock(chance.fork(), options.flush);
  const disk = createDisk();
  const faults: Faults = { ...NO_FAULTS, slowMs: 5, lie: options.lie ?? null };
  const model = createModel();
  const work = createWorkModel();
  const turns = createTurnModel(model, PERSONS);
  const gates = createGateModel(PERSONS);
  const docket = createDocketModel(PERSONS, turns);
  const threads = createMarkModel(PERSONS);
  const replayed = createWorld();
  let portrait = { length: -1, text: '' };
  const actions: string[] = [];
  const endListeners: ((process: SimulatedProcess) => void)[] = [];
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
        const position = model.length;
        const event = JSON.parse(entry);
        model.add(entry);
        work.add(event);
        turns.add(event, position);
        gates.add(event);
        docket.add(event, position);
        threads.add(event, position);
        options.alsoTold?.(event as never);
        evolve(replayed, decodeEvent(entry), replayed.length);
      }
    } catch (cause) {
      fail(cause);
    }
  }

  const names =
    options.servers === undefined
      ? ['one', 'two'].slice(0, options.writers ?? chance.int(1, 2))
      : ['one', 'two', 'three', 'four', 'five'].slice(0, options.servers);
  const cluster =
    options.servers === undefined ? null : createCluster({ chance, clock, faults, note, fail });
  const processes = names.map((name) =>
    createProcess({
      ...{ name, chance: chance.fork(), clock, disk, faults, note, fail },
      snapshotEvery: chance.pick([3, 25, 200]),
      ...cluster?.part(name),
      mutate: options.mutate ?? ((hub) => hub),
      onEnd(process) {
        for (const listener of endListeners) listener(process);
      },
    }),
  );
  cluster?.people(processes);

  return {
    hasRealBounds: options.hasRealBounds === true,
    chance,
    clock,
    disk,
    faults,
    model,
    work,
    turns,
    gates,
    docket,
    threads,
    processes,
    cluster,
    actions,
    get failure() {
      return failure;
    },
    get at() {
      return replayed.at;
    },
    note,
    fail,
    begin(name, run) {
      const open = processes.filter(({ hub, isPaused }) => hub !== null && !isPaused);
      if (open.length === 0) return null;
      const process = chance.pick(open);
      note(`${process.name}: ${name}`);
      process.begin(run);
      return process;
    },
    learn,
    portrayStored() {
      const { length } = replayed;
      if (portrait.length !== length) portrait = { length, text: portray(replayed, 'durable') };
      return portrait.text;
    },
    onEnd: (listener) => void endListeners.push(listener),
  };
}
