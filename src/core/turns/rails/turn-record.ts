/** A turn as the guard rails remember it: when it began and for what, how it ended and what it cost. */
import type { World } from '../../law/state.ts';
import { heldTasks, reasonsOf } from '../may-start.ts';
import type { Managed, Turn } from '../turn-state.ts';
import { beginSpan, clearDiary, endSpan } from './diary.ts';
import type { Sketch } from './likeness.ts';
import { chargeTasks } from './rails.ts';
import { beginReasons, clearTriggers, endReasons } from './triggers.ts';

export interface TurnClose {
  readonly at: number;
  /** It did something; a failure says nothing about that. */
  readonly isFruitful: boolean | null;
  readonly consumed: ReadonlySet<number>;
  readonly output: Sketch | null;
}

/** For evolve: the turn is taken. */
export function openTurn(world: World, managed: Managed, turn: Turn, at: number): void {
  beginSpan(managed.rails.diary, at);
  beginReasons(managed.rails.triggers, reasonsOf(world, turn.messages), at);
}

/** For evolve: the run of a turn is over, and `turn.running` is what it cost. */
export function closeTurn(
  world: World,
  managed: Managed | undefined,
  turn: Turn,
  { at, isFruitful, consumed = NONE, output = null }: Partial<TurnClose> & { readonly at: number },
): void {
  const { usd = 0, tokensIn = 0, tokensOut = 0 } = turn.running ?? {};
  const cost = { usd, tokens: tokensIn + tokensOut };
  chargeTasks(world.turns.rails, heldTasks(world, turn.agent), cost);
  if (managed === undefined) return;
  const { diary, triggers } = managed.rails;
  endSpan(diary, { at, cost, output });
  if (isFruitful == null) return;
  endReasons(triggers, reasonsOf(world, turn.messages), { at, isFruitful, consumed });
}

/** For evolve: a person has looked, and what was counted towards parking begins again. */
export function clearRails(managed: Managed): void {
  clearDiary(managed.rails.diary);
  clearTriggers(managed.rails.triggers, null);
  managed.parkedFor = [];
  managed.freedBy = null;
}

const NONE: ReadonlySet<number> = new Set();
