/**
 * How a program is started here: as it was asked for, or, where there is a guard, as that one lets it: in the
 * sandbox where there is one, with the variables of the policy, and not at all when it is refused [PO16].
 */
import type { Guard } from '../../guard/guard.ts';

export interface ProgramPlan {
  readonly command: readonly string[];
  readonly cwd: string;
  /** All of it. */
  readonly env: Readonly<Record<string, string>>;
  /** To be called when the process is over. */
  close(): Promise<void>;
}

/**
 * Throws when the guard refuses, or keeps back a variable of `needed`: a program without it might do what it was set
 * to prevent. Nothing was started then.
 */
export async function planProgram(
  guard: Guard | undefined,
  command: readonly string[],
  cwd: string | undefined,
  env: Readonly<Record<string, string>>,
  needed: readonly string[] = [],
): Promise<ProgramPlan> {
  if (guard === undefined) {
    return { command, env, cwd: cwd ?? process.cwd(), close: async () => {} };
  }
  const [program = '', ...args] = command;
  const plan = await guard.plan(program, args, { env, ...(cwd !== undefined && { cwd }) });
  const kept = needed.find((name) => !Object.hasOwn(plan.env, name));
  if (kept === undefined) return plan;
  await plan.close();
  throw new Error(
    `the policy does not let ${program} have the variable ${kept}: add it to \`env\``,
  );
}
