/**
 * What a team file says, field by field. The shapes of runners, wake rules, tasks and definitions are those of
 * the operations they become, so that nothing is allowed here that the hub would refuse for its shape.
 */
import { z } from 'zod';
import { AGENT_NAME_RULE, isAgentName } from '../core/law/principal.ts';
import { PROCESS_LIMITS, type ProcessLimit } from '../core/processes/process-limits.ts';
import { planDeclare } from '../wire/operations/plan.ts';
import { agentsDefine } from '../wire/operations/processes.ts';
import { agentsManage } from '../wire/operations/turns.ts';
import { channelName, roles } from '../wire/schemas.ts';

export interface TeamFile {
  readonly team: string;
  readonly about?: string | undefined;
  /** What each is for. */
  readonly channels: Readonly<Record<string, string | null>>;
  readonly agents: Readonly<Record<string, TeamAgent>>;
  readonly plan: readonly TeamTask[];
}

type Managing = z.output<typeof agentsManage.input>;

export interface TeamAgent {
  readonly wake?: Managing['wake'];
  readonly tools?: Managing['tools'];
  readonly session?: Managing['session'] | undefined;
  readonly role?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  /** What it is told before all else. */
  readonly about?: string | undefined;
  readonly follows: readonly string[];
  readonly runner?: string | { readonly kind: string } | undefined;
  readonly process?: TeamProcess | undefined;
  readonly limits?: Readonly<Record<string, number | null>> | undefined;
}

/** A program that stays: hosted by whoever started the team. */
export interface TeamProcess {
  readonly command: readonly string[];
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly pass_env?: readonly string[] | undefined;
  readonly ready?: string | undefined;
  readonly restart?: 'always' | 'on-failure' | 'never' | undefined;
  readonly limits?: Readonly<Partial<Record<ProcessLimit, number | undefined>>> | undefined;
  readonly can?: readonly string[] | undefined;
  readonly singleton?: boolean | undefined;
}

export interface TeamTask {
  readonly id: string;
  readonly title: string;
  readonly description?: string | undefined;
  readonly needs: readonly string[];
  readonly owner?: string | undefined;
}

const AGENTS_MAX = 100;
const CHANNELS_MAX = 200;
const TASKS_MAX = 1_000;
const ABOUT_CHARS_MAX = 32 * 1024;
const WORDS_MAX = 256;

const text = z.string().refine((one) => !one.includes('\0'), { error: 'it holds a zero byte' });
const role = z.string().min(1).max(64);
const limits = z.partialRecord(
  z.enum(Object.keys(PROCESS_LIMITS) as [ProcessLimit, ...ProcessLimit[]]),
  z.number(),
);

const processSpec = z.strictObject({
  command: z.array(text.max(ABOUT_CHARS_MAX)).min(1).max(WORDS_MAX),
  cwd: text.min(1).max(4_096).optional(),
  env: z.record(z.string(), text).optional(),
  pass_env: z.array(z.string().min(1).max(128)).max(WORDS_MAX).optional(),
  ready: text
    .min(1)
    .max(1_024)
    .refine(isPattern, { error: 'it is no regular expression' })
    .optional(),
  restart: z.enum(['always', 'on-failure', 'never']).optional(),
  limits: limits.optional(),
  can: agentsDefine.input.shape.capabilities.optional(),
  singleton: z.boolean().optional(),
});

const { wake, tools, session } = agentsManage.input.shape;

const agent = z
  .strictObject({
    role: role.optional(),
    roles: roles().optional(),
    about: text.min(1).max(ABOUT_CHARS_MAX).optional(),
    follows: z.array(channelName()).max(WORDS_MAX).default([]),
    /** Looked at by its own kind; see `team-file.ts`. */
    runner: z.union([z.string().min(1).max(64), z.looseObject({ kind: z.string() })]).optional(),
    process: processSpec.optional(),
    wake,
    tools,
    session: session.optional(),
    limits: z.record(z.string(), z.number().nullable()).optional(),
  })
  .refine(({ runner, process: program }) => (runner === undefined) !== (program === undefined), {
    error: 'say how it is run: with runner (turns) or with process (a program that stays)',
  })
  .refine(({ runner, follows }) => runner === undefined || follows.length > 0, {
    error: 'it follows at least one channel, or the hub would not know it',
    path: ['follows'],
  })
  .refine(({ role: one, roles: many }) => one === undefined || many === undefined, {
    error: 'say role or roles, not both',
  });

const { task_id: taskId, title, description } = planDeclare.input.shape;

const task = z.strictObject({
  id: taskId,
  title,
  description: description.optional(),
  needs: z.array(taskId).max(WORDS_MAX).default([]),
  owner: z.string().min(1).max(128).optional(),
});

export const teamSchema: z.ZodType<TeamFile> = z.strictObject({
  team: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, {
    error: 'it is a word of letters, digits, - and _, at most 64',
  }),
  about: text.max(ABOUT_CHARS_MAX).optional(),
  channels: z
    .record(channelName(), z.union([text.max(1_024), z.null()]))
    .refine((all) => Object.keys(all).length <= CHANNELS_MAX, {
      error: `at most ${CHANNELS_MAX}`,
    })
    .default({}),
  agents: z
    .record(z.string().refine(isAgentName, { error: AGENT_NAME_RULE }), agent)
    .refine((all) => Object.keys(all).length > 0, { error: 'a team has at least one agent' })
    .refine((all) => Object.keys(all).length <= AGENTS_MAX, { error: `at most ${AGENTS_MAX}` }),
  plan: z.array(task).max(TASKS_MAX).default([]),
});

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') !== null;
  } catch {
    return false;
  }
}
