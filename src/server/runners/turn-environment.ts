/**
 * The environment of a turn: what a program needs to run at all, what its runner names, and how it
 * reaches the hub [RU8]. Names are taken one by one and never by a pattern, so that no key and no
 * session of a coding agent comes along unless somebody wrote its name down.
 */
import { workerEnvironment } from '../../bus/process/environment.ts';
import type { TurnFacts } from './runner.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface Variables {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly pass_env?: readonly string[] | undefined;
}

export function turnEnvironment(
  from: Environment,
  { env = {}, pass_env: names = [] }: Variables,
  hub: { readonly url: string; readonly token: string },
  {
    agent_id,
    turn_id,
    space,
    traceparent,
  }: Omit<TurnFacts, 'reason' | 'epoch' | 'attempt' | 'after_restart'>,
): Record<string, string> {
  return workerEnvironment(from, names, {
    ...env,
    SYNOD_URL: hub.url,
    SYNOD_TOKEN: hub.token,
    SYNOD_AGENT: agent_id,
    SYNOD_TURN: turn_id,
    SOX_NAMESPACE: space,
    ...(traceparent != null && { TRACEPARENT: traceparent }),
  });
}
