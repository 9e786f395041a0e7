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

type GuardedSpec = SpecOf<'command' | 'claude' | 'codex' | 'acp'>;

/** What is started for a turn, in the sandbox where the runner has a policy. */
export interface TurnPlan {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** When the program has ended. */
  close(): Promise<void>;
}

/** Asked when the runner is configured: a policy that cannot be held is found then, not when mail comes. */
export async function checkPolicy({
  policy,
}: Pick<GuardedSpec, 'policy'>): Promise<Refusal | null> {
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

export async function planTurn(
  job: TurnJob<GuardedSpec>,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<TurnPlan | Refusal> {
  const { policy } = job.spec;
  if (policy === undefined) return { argv, cwd: job.cwd, env, close: async () => {} };
  try {
    const plan = await planGuarded(job, policy, argv, env);
    for (const gap of plan.decision.gaps ?? []) job.transcript.append(`sandbox: ${gap}`, 'note');
    return { argv: plan.command, cwd: plan.cwd, env: plan.env, close: () => plan.close() };
  } catch (error) {
    const why = `its policy does not let it run: ${(error as Error).message}`;
    return refuse('runner.unusable', why, { field: 'policy' });
  }
}

function planGuarded(
  { cwd, scratch, hub, turn, decided }: TurnJob<GuardedSpec>,
  policy: Policy,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<SpawnPlan> {
  const [program = '', ...args] = argv;
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
