/**
 * SOX conformance: 67 fixtures at three doors, and 7 scenarios over MCP.
 *
 * How to read it. `fixtures/*.ts` and `scenarios.ts` are the stories, as values;
 * `story.ts` says what a story is. `match.ts`, `checks.ts` and `outputs.ts` judge;
 * they are exact, and `*.test.ts` beside them prove that they can say no. `doors.ts`
 * and `mcp-door.ts` speak to a real server that `server.ts` starts in a process of
 * its own. Here each story is told at each door. None is skipped.
 *
 * One by itself: `vitest run test/conformance/sox/sox.test.ts -t 'SOX-48.*mcp-stdio'`.
 */

import { afterAll, describe, expect, test, vi } from 'vitest';

import type { Door } from './door.ts';
import { DOORS, type DoorName, openDoor } from './doors.ts';
import { FIXTURES } from './fixtures.ts';
import { runStory } from './run-story.ts';
import { SCENARIOS } from './scenarios.ts';
import { openServerPool } from './server-pool.ts';
import { asksForTrace, type Story, sleepMsOf } from './story.ts';

// Three of these only wait, the same 31 seconds; the others keep two cores busy.
const TOGETHER_MAX = 7;
vi.setConfig({ maxConcurrency: TOGETHER_MAX, testTimeout: 120_000, hookTimeout: 60_000 });

interface Telling {
  readonly story: Story;
  readonly door: DoorName;
  readonly suite: 'conformance' | 'scenarios';
}

const TELLINGS: readonly Telling[] = [
  ...DOORS.flatMap((door) =>
    FIXTURES.map((story): Telling => ({ story, door, suite: 'conformance' })),
  ),
  ...SCENARIOS.map((story): Telling => ({ story, door: 'mcp-http', suite: 'scenarios' })),
];

// The longest waits begin first, so that everything else happens meanwhile.
const IN_TURN = TELLINGS.toSorted((a, b) => sleepMsOf(b.story) - sleepMsOf(a.story));

const pool = openServerPool(TELLINGS.map(({ story }) => story));
const passed = new Set<Telling>();

describe.concurrent('SOX', () => {
  for (const telling of IN_TURN) {
    const { story, door } = telling;
    test(`[${story.id}] ${story.name} over ${door}`, async () => {
      await tellStory(story, door);
      passed.add(telling);
    });
  }
});

test('the sheet has 67 fixtures and 7 scenarios, and so have we', () => {
  const numbers = (stories: readonly Story[], prefix: string, count: number) =>
    expect(stories.map(({ id }) => id)).toEqual(
      Array.from({ length: count }, (_none, at) => `${prefix}${at + 1}`),
    );
  numbers(FIXTURES, 'SOX-', 67);
  numbers(SCENARIOS, 'SOX-S', 7);
});

afterAll(async () => {
  await pool.close();
  const lines = [...Map.groupBy(TELLINGS, ({ suite, door }) => `SOX ${suite} ${door}`)].map(
    ([title, all]) => `${title}: ${all.filter((one) => passed.has(one)).length}/${all.length}`,
  );
  // A line of its own each, clear of whatever the reporter puts before the first.
  console.log(`\n${lines.join('\n')}`);
});

async function tellStory(story: Story, name: DoorName): Promise<void> {
  const seat = await pool.enter(story, name);
  try {
    const door = byChance(
      seat.urls.map((url) =>
        openDoor(name, {
          url,
          space: seat.space,
          trace: asksForTrace(story),
          // A stranger to a server with a list of agents need not be told what it offers.
          listsTools: story.boot?.roster === undefined,
        }),
      ),
    );
    await runStory(story, door).finally(() => door.close());
  } catch (fault) {
    // What the story ran into says more than how its server took the early end.
    await seat.leave().catch(() => {});
    throw fault;
  }
  await seat.leave();
}

/** Of several servers that are one, each call goes to any. */
function byChance(doors: readonly Door[]): Door {
  const [only, ...others] = doors;
  if (only !== undefined && others.length === 0) return only;
  return {
    call: (call) => (doors[Math.floor(Math.random() * doors.length)] as Door).call(call),
    close: async () => void (await Promise.all(doors.map((door) => door.close()))),
  };
}
