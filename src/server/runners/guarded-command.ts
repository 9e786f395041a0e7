/**
 * The program of a turn under the policy of its runner: in the sandbox or not at all. Besides what the policy
 * says it has the folder it works in, the scratch folder of the turn and the way to its hub, because a turn
 * without them is none [RU24].
 */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { createGuard, type Guard } from '../../guard/guard.ts';
import type { Policy } from '../../guard/policy.ts';
import { findSandbox } from '../../guard/sandbox.ts';
import type { SpawnPlan } from '../../guard/spawn.ts';
import type { SpecOf } from '../../wire/operations/runner-spec.ts';
import type { TurnJob } from './runner.ts';

type CommandSpec = SpecOf<'command'>;

/** Asked when the runner is configured: a policy that cannot be held is found then, not when mail comes. */
export async function checkPolicy({ policy }: CommandSpec): Promise<Refusal | null> {
  if (policy === undefined) return null;
  const unusable = (why: string): Refusal =>
    refuse('runner.unusable', `the policy of the runner: ${why}`, { field: 'policy' });
  const own = ['execute', 'env'].find((name) => name in policy);
  if (own !== undefined) return unusable(`${own} is what the runner itself says: leave it out`);
  try {
    createGuard(policy);
  } catch (error) {
    return unusable((error as Error).message);
  }
  const { isThere, why } = await findSandbox();
  return isThere ? null : unusable(`${why}; install bubblewrap, or take the policy away`);
}

export function planCommand(
  { spec, cwd, scratch, hub, turn, decided }: TurnJob<CommandSpec>,
  policy: Policy,
  env: Readonly<Record<string, string>>,
): Promise<SpawnPlan> {
  const [program = '', ...args] = spec.command;
  const { hostname, port, protocol } = new URL(hub.url);
  const isTls = protocol === 'https:';
  const guard: Guard = createGuard(
    {
      ...policy,
      read: [...(policy.read ?? []), cwd, scratch],
      write: [...(policy.write ?? []), cwd],
      delete: [...(policy.delete ?? []), cwd],
      execute: [{ program, args }],
      connect: [
        ...(policy.connect ?? []),
        {
          ...{ scheme: isTls ? 'https' : 'http', host: hostname.replace(/^\[(.*)\]$/, '$1') },
          ...{ port: port === '' ? (isTls ? 443 : 80) : Number(port), methods: ['*'] },
        },
      ],
      env: Object.keys(env),
    },
    {
      ...{ name: turn.agent_id, cwd },
      record: (decision) => decided?.({ ...decision, as: turn.agent_id }),
    },
  );
  return guard.plan(program, args, { cwd, env, enforcement: 'os' });
}
