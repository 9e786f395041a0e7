/**
 * Turns of managed agents, as the server sees to them. Nothing is loaded, watched or written until
 * there is a managed agent; from then on every space that has one is opened with the hub, so that a
 * turn that was due or cut off goes on without anybody asking [RU20].
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Bus } from '../../bus/router/bus.ts';
import { isRefusal, type Refusal } from '../../core/law/decider.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { RunnerSpec } from '../../wire/operations/runner-spec.ts';
import type { Desk } from '../desk/desk.ts';
import type { TurnOutput, TurnWindow } from '../desk/turn-window.ts';
import type { Servers } from '../runners/lost-turns.ts';
import type { OpenRunners } from '../runners/open-runners.ts';
import type { ManagedAgent } from './config-file.ts';
import { configureAgents } from './configured-agents.ts';
import type { OpenSpaces } from './spaces.ts';
import { createTurnEcho } from './turn-echo.ts';
import { readTurnSpaces, writeTurnSpaces } from './turn-spaces.ts';

export interface HubTurnsOptions {
  readonly dir: string;
  readonly roots: readonly string[];
  readonly named: ReadonlyMap<string, RunnerSpec>;
  /** Agents that the configuration manages. */
  readonly agents: readonly ManagedAgent[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly spaces: OpenSpaces;
  readonly telemetry: Telemetry | null;
  /** Of the cluster; null where this one is alone. */
  readonly servers: Servers | null;
  newSecret(): string;
  digest(text: string): string;
  warn(line: string): void;
  onFailure(what: string, cause: unknown): void;
}

/** What is known only when the doors are open. */
export interface OpenDoors {
  readonly desk: Desk;
  readonly url: string;
  bus(): Bus | null;
}

export interface HubTurns {
  /** The runner that is meant, or why it cannot be used here. */
  check(choice: string | RunnerSpec): Promise<RunnerSpec | Refusal>;
  /** What they say; of an earlier hub's too, once something runs. */
  readonly window: TurnWindow;
  start(doors: OpenDoors): Promise<void>;
  close(): Promise<void>;
}

export function createHubTurns(options: HubTurnsOptions): HubTurns {
  const { dir, spaces } = options;
  const doors = Promise.withResolvers<OpenDoors>();
  const closers: (() => void)[] = [];
  /** Of the spaces that are open. */
  const closersOf = new Map<string, (() => void)[]>();
  const listeners = new Set<(output: TurnOutput) => void>();
  const echo = createTurnEcho();
  let opening: Promise<OpenRunners> | null = null;
  let opened: OpenRunners | null = null;
  let isClosed = false;

  function open(): Promise<OpenRunners> {
    opening ??= load();
    return opening;
  }

  async function load(): Promise<OpenRunners> {
    const { openRunners } = await import('../runners/open-runners.ts');
    opened = await openRunners({ ...options, ...(await doors.promise) });
    opened.transcripts.follow((output) => {
      const { space, turn_id: turn, agent_id: agent, lines } = output;
      spaces.find(space)?.whispers?.utter({ turn, agent, lines });
      for (const listener of listeners) listener(output);
    });
    return opened;
  }

  async function supervise(hub: Hub): Promise<void> {
    const known = readTurnSpaces(dir);
    if (!known.spaces.includes(hub.space)) {
      writeTurnSpaces(dir, { ...known, spaces: [...known.spaces, hub.space] });
    }
    const { supervisor } = await open();
    if (!isClosed) await supervisor.attach(hub);
  }

  /** A space without managed agents is watched for the first. */
  async function look(hub: Hub): Promise<void> {
    // Watched before it is looked at: what is managed in between is not missed.
    const begin = (): void => {
      stop();
      supervise(hub).catch((cause) => options.onFailure('turns cannot be run', cause));
    };
    const stop = hub.watch.events(begin, { types: ['agent.managed'], isOfEveryHub: true });
    closersOf.get(hub.space)?.push(stop);
    const has = await hub.ask((world) => world.turns.agents.size > 0);
    if (isRefusal(has) || !has || isClosed) return;
    stop();
    await supervise(hub);
  }

  function leave(space: string): void {
    for (const close of closersOf.get(space) ?? []) close();
    closersOf.delete(space);
  }

  return {
    check: async (choice) => (await open()).chooser.check(choice),
    window: {
      async tail(space, turnId, isLively) {
        const here = opened?.transcripts.tail(space, turnId) ?? [];
        const isShared = spaces.find(space)?.whispers != null;
        if (here.length === 0 && isLively && isShared) await echo.first(space, turnId);
        const there = echo.tail(space, turnId);
        // Attempts of one turn may run at one server after the other.
        return (there.at(-1)?.at ?? 0) > (here.at(-1)?.at ?? 0) ? there : here;
      },
      follow(listener) {
        listeners.add(listener);
        const stop = echo.follow(listener);
        return () => {
          stop();
          listeners.delete(listener);
        };
      },
    },
    async start(now) {
      doors.resolve(now);
      // Whatever a killed hub left is ended, also when nothing is due.
      if (existsSync(join(dir, 'turns', 'live'))) await open();
      closers.push(
        spaces.onOpened((hub) => {
          closersOf.set(hub.space, [echo.hear(hub)]);
          look(hub).catch((cause) => options.onFailure('turns cannot be run', cause));
        }),
        spaces.onRested(leave),
        spaces.onRemoved((name) => {
          leave(name);
          opened?.supervisor.detach(name);
          echo.forget(name);
        }),
      );
      await configureAgents(now.desk, dir, options);
      for (const name of readTurnSpaces(dir).spaces) {
        // Opening one that is not open yet leads to `look`.
        if (spaces.has(name)) await spaces.open(name, { mayCreate: false });
      }
    },
    async close() {
      isClosed = true;
      for (const close of closers) close();
      for (const space of [...closersOf.keys()]) leave(space);
      await (await opening)?.close();
    },
  };
}
