/** Turns of several servers on one hub, one of which is lost: what it ran is cut off, once, and nothing else is. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { SERVER } from '../../core/law/principal.ts';
import type { DurableEvent } from '../../core/law/world.ts';
import type { TakenTurn } from '../../core/turns/turn-events.ts';
import type { Turn } from '../../core/turns/turn-state.ts';
import { WAKE_ALWAYS } from '../../core/turns/wake-rule.ts';
import type { Hub } from '../../hub/hub.ts';
import { openRig, type Rig } from '../../testing/rig.ts';
import { accepted, createPrincipal } from '../../testing/story.ts';
import { ada, root } from '../../testing/turn-story.ts';
import { finishTurn } from './finish-turn.ts';
import { type LostTurns, watchLostTurns } from './lost-turns.ts';

interface Stage {
  readonly rig: Rig;
  readonly lost: Set<string>;
  /** Whether a server is lost cannot be told. */
  isBlind: boolean;
  readonly events: DurableEvent[];
  readonly warned: string[];
  /** A supervisor of that incarnation, until the stage is closed. */
  supervise(incarnation: string, hub?: Partial<Hub>): void;
  take(agent: string, incarnation: string | null, by?: typeof SERVER): Promise<TakenTurn>;
  turn(taken: TakenTurn): Promise<Turn>;
  /** Everybody has looked again, a few times. */
  look(): Promise<void>;
  close(): void;
}

async function open(...agents: string[]): Promise<Stage> {
  const rig = await openRig(() => setImmediate());
  const { hub } = rig;
  const closers: (() => void)[] = [];
  const events: DurableEvent[] = [];
  const watchers = new Set<LostTurns>();
  hub.watch.events((_world, _first, now) => {
    for (const event of now) {
      events.push(event);
      for (const one of watchers) one.hear(event);
    }
  });
  for (const agent of agents) {
    const config = {
      ...{ runner: '{"kind":"outside"}', runnerKind: 'outside', wake: WAKE_ALWAYS, limits: {} },
      session: 'resume',
    } as const;
    await rig.subscribe(createPrincipal(agent), agent);
    const command = { type: 'agent.manage', agent, config, by: root, at: hub.stamp() } as const;
    accepted(await rig.until(hub.submit(command)));
    accepted(await rig.send(ada, agent));
  }
  await rig.clock.pass(100);
  const stage: Stage = {
    ...{ rig, lost: new Set(), isBlind: false, events, warned: [] },
    supervise(incarnation, changed = {}) {
      const one = watchLostTurns({
        hub: { ...hub, ...changed },
        servers: {
          incarnation,
          async isLost(other) {
            if (stage.isBlind) throw new Error('nobody answers');
            return stage.lost.has(other);
          },
        },
        lookMs: 1,
        warn: (line) => void stage.warned.push(line),
        onFailure: (what, cause) => void stage.warned.push(`${what} ${String(cause)}`),
      });
      watchers.add(one);
      closers.push(one.close);
    },
    async take(agent, incarnation, by = SERVER) {
      const wish = { type: 'turn.take', agents: [agent], runnerKinds: null, hash: null } as const;
      const command = { ...wish, by, at: hub.stamp(), leaseMs: 600_000, incarnation };
      return accepted(await rig.until(hub.submit(command))) as TakenTurn;
    },
    turn: async ({ turn }) =>
      (await rig.until(hub.ask((world) => world.turns.turns.get(turn.id)))) as Turn,
    async look() {
      for (let i = 0; i < 20; i++) {
        await setTimeout(1);
        await rig.until(hub.ask(() => null));
      }
    },
    close() {
      for (const close of closers) close();
    },
  };
  return stage;
}

test('[RU26] [TN9] what a lost server ran is cut off once, however many report it, and nothing else is', async () => {
  const stage = await open('wes', 'bea', 'cyd', 'dan');
  const before = await stage.take('wes', 'a1');
  stage.supervise('b1');
  stage.supervise('c1');
  const since = await stage.take('bea', 'a1');
  const other = await stage.take('cyd', 'b1');
  const outside = await stage.take('dan', null, root);
  await stage.look();
  const statesNow = async (): Promise<string[]> =>
    (await Promise.all([before, since, other, outside].map(stage.turn))).map(({ state }) => state);
  expect(await statesNow()).toEqual(['busy', 'busy', 'busy', 'busy']);
  stage.isBlind = true;
  stage.lost.add('a1');
  await stage.look();
  expect(await statesNow()).toEqual(['busy', 'busy', 'busy', 'busy']);
  stage.isBlind = false;
  await stage.look();
  expect(await statesNow()).toEqual(['waking', 'waking', 'busy', 'busy']);
  const failed = stage.events.filter((event) => event.type === 'turn.failed');
  expect(failed.map(({ id }) => id).sort()).toEqual([before.turn.id, since.turn.id].sort());
  const how = { cause: 'restart', note: 'the server that ran it is gone' };
  expect(failed).toMatchObject([how, how]);
  // At another server it runs, and is told so.
  const again = await stage.take('wes', 'b1');
  expect(again.turn).toMatchObject({ id: before.turn.id, attempt: 2, isAfterRestart: true });
  await stage.look();
  expect((await stage.turn(again)).state).toBe('busy');
  expect(stage.warned).toEqual([]);
  stage.close();
});

test('[RU26] [TN6] the server was paused: what it says late is stale, and what it takes next is its own', async () => {
  const stage = await open('wes');
  stage.supervise('b1');
  const late = await stage.take('wes', 'a1');
  stage.lost.add('a1');
  await stage.look();
  const again = await stage.take('wes', 'b1');
  stage.lost.delete('a1');
  const { hub } = stage.rig;
  const result = { outcome: 'done', consumed: 'all' } as const;
  const ending = { notes: [], isRestart: false, clean: (text: string) => text };
  const end = finishTurn(hub, late.turn, result, {
    ...ending,
    warn: (one) => stage.warned.push(one),
  });
  await stage.rig.until(end);
  expect(await stage.turn(again)).toMatchObject({ state: 'busy', attempt: 2, incarnation: 'b1' });
  const next = { ...ending, isRestart: true, warn: (one: string) => stage.warned.push(one) };
  await stage.rig.until(finishTurn(hub, again.turn, { outcome: 'failed' }, next));
  await stage.rig.clock.pass(60_000);
  const own = await stage.take('wes', 'a1');
  await stage.look();
  expect((await stage.turn(own)).state).toBe('busy');
  // Until it is lost once more.
  stage.lost.add('a1');
  await stage.look();
  expect((await stage.turn(own)).state).toBe('failed');
  expect(stage.warned).toEqual([]);
  stage.close();
});

test('[RU26] what cannot be known or reported now is looked at again', async () => {
  const stage = await open('wes');
  const taken = await stage.take('wes', 'a1');
  stage.lost.add('a1');
  const { hub } = stage.rig;
  const refusal = (): Refusal => refuse('store.unavailable', 'nobody sequences the space', {});
  let left = 5;
  const ask = ((question: never) =>
    left-- > 0 ? Promise.resolve(refusal()) : hub.ask(question)) as Hub['ask'];
  let refused = 3;
  const submit = ((command: never) =>
    refused-- > 0 ? Promise.resolve(refusal()) : hub.submit(command)) as Hub['submit'];
  stage.supervise('b1', { ask, submit });
  await stage.look();
  expect((await stage.turn(taken)).state).toBe('waking');
  expect(stage.events.filter(({ type }) => type === 'turn.failed')).toHaveLength(1);
  stage.close();
});
