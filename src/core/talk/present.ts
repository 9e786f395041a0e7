/**
 * What was put before an agent by other means than a feed, such as a hook of its
 * harness: which messages are worth showing, and the command that says they were
 * shown. They stay owed; only their receipts say more [R5].
 */
import { type Asked, type Decision, isRefusal } from '../law/decider.ts';
import type { WorldView } from '../law/state.ts';
import { peek } from './inbox.ts';
import type { Presented } from './presented.ts';

/** More than an agent is ever shown without reading. */
const LOOK_MAX = 2_000;

export interface Present extends Asked {
  readonly type: 'inbox.present';
  /** Positions of all that is owed and was shown, now or before. */
  readonly shown: ReadonlySet<number>;
}

/** An agent is not shown its own words, nor what has expired. */
export function isWorthShowing(
  message: { readonly by: string; readonly expiresAt?: number },
  agent: string,
  at: number,
): boolean {
  return message.by !== agent && (message.expiresAt ?? Number.POSITIVE_INFINITY) > at;
}

/** A range may be claimed only where all that is owed between was shown, so each run is one [R5]. */
export function decidePresent(world: WorldView, command: Present): Decision<Presented, null> {
  const { by, at, shown } = command;
  const owed = peek(world, by.id, null, LOOK_MAX);
  if (isRefusal(owed)) return owed;
  const runs: { from: number; to: number }[] = [];
  let run: { from: number; to: number } | null = null;
  for (const { position } of owed) {
    if (!shown.has(position)) run = null;
    else if (run !== null) run.to = position;
    else {
      run = { from: position, to: position };
      runs.push(run);
    }
  }
  const events = runs.map(({ from, to }): Presented => {
    return { type: 'inbox.presented', at, by: by.id, from, to };
  });
  return { events, answer: null };
}
