/**
 * What a run does passes here: the rails of the guard that its flow was given see it before it is done and what
 * comes of it. Steps, messages to agents, requests to the bus and compensations have no other way [PO15].
 */
import type { Guard } from '../../guard/guard.ts';
import type { Engine, Visit } from './visit.ts';

/** Does `act`; `given` is what rails are shown beside the step, its key and the attempt. */
export async function passGuard<T>(
  { guard, run }: Pick<Engine, 'guard' | 'run'>,
  { step, key }: Pick<Visit, 'step' | 'key'>,
  given: object,
  act: (scope: { readonly guard?: Guard }) => Promise<T> | T,
): Promise<T> {
  if (guard === null) return act({});
  return guard.pass(`${run.name}.${step}`, { step, key, ...given }, () => act({ guard }));
}
