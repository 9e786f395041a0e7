/**
 * Servers for stories: shared where a space isolates, its own where it cannot.
 *
 * Stories whose servers have the same configuration share one, each in a space of
 * its own; fixture 32 proves that spaces are isolated. A list of agents or a plugin
 * belongs to the whole server, so such a story starts and stops one for itself, in
 * the agents' own spaces. A shared server ends with its last expected story.
 */

import { journalFaults, logFaults } from './run-story.ts';
import { launch, type RunningServer } from './server.ts';
import type { Boot, Story } from './story.ts';

interface Seat {
  readonly urls: readonly string[];
  readonly space: string | undefined;
  /** The story is over: its own server stops and is judged; a shared one lives on. */
  leave(): Promise<void>;
}

interface ServerPool {
  /** `tag` tells apart the tellings of one story. */
  enter(story: Story, tag: string): Promise<Seat>;
  close(): Promise<void>;
}

interface Shared {
  readonly server: Promise<RunningServer>;
  seatsLeft: number;
}

/** `expected` is every story that will be told, as often as it will be. */
export function openServerPool(expected: readonly Story[]): ServerPool {
  const shared = new Map<string, Shared>();
  const seatsOf = Map.groupBy(
    expected.filter((story) => !needsOwnServer(story.boot)),
    ({ boot }) => keyOf(boot),
  );
  return {
    async enter(story, tag) {
      const { boot = {} } = story;
      if (needsOwnServer(boot)) return await enterOwn(boot);
      const key = keyOf(boot);
      let place = shared.get(key);
      if (place === undefined) {
        place = { server: start(boot), seatsLeft: seatsOf.get(key)?.length ?? 0 };
        shared.set(key, place);
      }
      const seat = place;
      const server = await seat.server;
      const space = `${story.id}-${tag}`.toLowerCase();
      await server.makeSpace(space);
      return {
        urls: server.urls,
        space,
        async leave() {
          seat.seatsLeft -= 1;
          if (seat.seatsLeft > 0) return;
          shared.delete(key);
          await server.close();
        },
      };
    },
    async close() {
      const servers = await Promise.allSettled([...shared.values()].map(({ server }) => server));
      await Promise.all(
        servers.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)),
      );
    },
  };
}

function needsOwnServer(boot: Boot | undefined): boolean {
  return boot?.roster !== undefined || boot?.plugins !== undefined;
}

function keyOf(boot: Boot | undefined): string {
  return JSON.stringify(boot?.serverConfig ?? {});
}

async function enterOwn(boot: Boot): Promise<Seat> {
  for (const refused of boot.refused ?? []) {
    // The refusal must come from the plugins alone, so none of the boot's own arguments.
    const launched = await launch({}, refused.plugins);
    if ('running' in launched) {
      await launched.running.close();
      throw new Error('a server started that had to be refused');
    }
    const { exitCode, log } = launched.refused;
    if (exitCode === 0 || exitCode === null) throw new Error(`refused with exit code ${exitCode}`);
    throwFaults(logFaults(refused.log, log));
  }
  const server = await start(boot);
  return {
    urls: server.urls,
    space: undefined,
    async leave() {
      try {
        await server.stop();
        throwFaults(logFaults(boot.log ?? [], server.log()));
        await judgeJournal(boot, server);
      } finally {
        await server.close();
      }
    },
  };
}

async function judgeJournal(boot: Boot, server: RunningServer): Promise<void> {
  if (boot.journal === undefined) return;
  throwFaults(journalFaults(boot.journal, await server.journals()));
}

async function start(boot: Boot): Promise<RunningServer> {
  const launched = await launch(boot);
  if ('running' in launched) return launched.running;
  const { exitCode, log } = launched.refused;
  throw new Error(`the server did not start (exit code ${exitCode}); stderr: ${log}`);
}

function throwFaults(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join('\n'));
}
