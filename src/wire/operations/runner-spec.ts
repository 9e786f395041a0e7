/**
 * How an agent's turns are run, as it is configured: one shape for each kind of runner. The law keeps
 * it as it is and reads its `kind` alone. What it holds lands in the log, so it holds no secret: a
 * variable whose name looks like one is refused here, and a key is named by the file or the command
 * it comes from.
 */
import { z } from 'zod';
import { jsonObject } from '../schemas.ts';
import { shape } from '../shape.ts';

const VALUE_CHARS_MAX = 32 * 1024;
const ARGUMENTS_MAX = 256;
const VARIABLES_MAX = 100;
const RULES_MAX = 1_000;
const CALLS_MAX = 20;
const DAY_MS = 86_400_000;

const SECRET_NAME =
  /(^|_)(API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|KEY|TOKENS?|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(_|$)/i;

/** Whether a variable of that name is likely to hold a credential. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

const variableName = shape(() =>
  z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error: 'a variable is named with A-Z, 0-9 and _' }),
);
const noZero = (text: string): boolean => !text.includes('\0');
const text = shape(() =>
  z.string().max(VALUE_CHARS_MAX).refine(noZero, { error: 'it holds a zero byte' }),
);
const path = shape(() => text().min(1).max(4_096));
const argv = shape(() =>
  z
    .array(text())
    .min(1)
    .max(ARGUMENTS_MAX)
    .refine(([program]) => program !== '', { error: 'the program is not named' }),
);

/** A secret is read when a turn begins, from a file of mode 0600 or from what a command prints. */
const secret = shape(() =>
  z.union([
    z.strictObject({ file: path().describe('a file that only its owner can read') }),
    z.strictObject({ command: argv().describe('its first line on stdout is the secret') }),
  ]),
);

/** What every runner may be told. */
const common = shape(() => ({
  name: z.string().min(1).max(64).optional().describe('of the runner in the configuration file'),
  cwd: path().optional().describe('working directory, inside an allowed root'),
  env: z
    .record(variableName(), text())
    .refine((env) => Object.keys(env).length <= VARIABLES_MAX, {
      error: `at most ${VARIABLES_MAX} variables`,
    })
    .refine((env) => !Object.keys(env).some(isSecretName), {
      error:
        'a variable looks like a secret, and this is stored; name it in pass_env or use secret',
    })
    .optional()
    .describe('variables set for the turn; they are stored, so no secrets'),
  pass_env: z
    .array(variableName())
    .max(VARIABLES_MAX)
    .optional()
    .describe('names of variables taken from the environment of the hub'),
  timeout_ms: z.int().min(1_000).max(DAY_MS).optional().describe('then the turn is ended'),
}));

const policy = shape(() =>
  jsonObject()
    .optional()
    .describe('what its turns may read, write, delete and connect to; then they run in a sandbox'),
);

const vendor = shape(() => ({
  ...common(),
  policy: policy(),
  command: argv().optional().describe('the program and arguments before ours; else as installed'),
  sign_in: z.enum(['subscription', 'api']).optional(),
  secret: secret().optional().describe('with sign_in api'),
  model: z.string().min(1).max(256).optional(),
  options: z
    .record(z.string().min(1).max(64), z.union([z.string().max(4_096), z.number(), z.boolean()]))
    .optional()
    .describe('options of the program, by name'),
}));

const commandSpec = shape(() =>
  z.strictObject({
    kind: z.literal('command'),
    ...common(),
    command: argv(),
    policy: policy(),
  }),
);

const ruleSpec = shape(() =>
  z.strictObject({
    kind: z.literal('rule'),
    ...common(),
    rules: z
      .array(
        z.strictObject({
          pattern: z.string().min(1).max(1_024),
          flags: z.string().max(8).optional(),
          answer: z.string().max(VALUE_CHARS_MAX).describe('may take groups over: $1, $<name>'),
          channel: z.string().min(1).max(256).optional().describe('else where it was asked'),
          wants_reply: z.boolean().optional(),
          outcome: z.enum(['done', 'gave_up', 'nothing']).optional(),
          ask: z
            .strictObject({
              action: z.string().min(1).max(256),
              subject: z.string().min(1).max(4_096),
            })
            .optional()
            .describe('a gate: what follows is done only when a person approves'),
          calls: z
            .array(z.strictObject({ operation: z.string().min(1).max(64), input: jsonObject() }))
            .max(CALLS_MAX)
            .optional()
            .describe('operations of the hub, as the agent, before the answer'),
        }),
      )
      .max(RULES_MAX),
    otherwise: z.string().max(VALUE_CHARS_MAX).optional().describe('when no rule matches'),
  }),
);

const modelSpec = shape(() =>
  z.strictObject({
    kind: z.literal('model'),
    ...common(),
    base_url: z.url({ protocol: /^https?$/ }),
    model: z.string().min(1).max(256),
    system_prompt: text().optional(),
    max_tokens: z.int().min(1).max(10_000_000).optional(),
    temperature: z.number().min(0).max(10).optional(),
    secret: secret().optional(),
  }),
);

const poolSpec = shape(() =>
  z.strictObject({
    kind: z.literal('pool'),
    ...common(),
    pool: z.string().min(1).max(256).describe('a pool of the bus of this hub'),
    method: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('asked with the turn, answers its result; without it the pool is asked over ACP'),
  }),
);

const claudeSpec = shape(() => z.strictObject({ kind: z.literal('claude'), ...vendor() }));
const codexSpec = shape(() => z.strictObject({ kind: z.literal('codex'), ...vendor() }));
const acpSpec = shape(() =>
  z.strictObject({ kind: z.literal('acp'), ...vendor(), command: argv() }),
);
const outsideSpec = shape(() => z.strictObject({ kind: z.literal('outside') }));

export const runnerSpec = shape(() =>
  z.discriminatedUnion('kind', [
    commandSpec(),
    ruleSpec(),
    modelSpec(),
    poolSpec(),
    claudeSpec(),
    codexSpec(),
    acpSpec(),
    outsideSpec(),
  ]),
);

export const RUNNER_KINDS: readonly string[] = runnerSpec().options.map(
  ({ shape }) => shape.kind.value,
);

export function isRunnerKind(kind: unknown): boolean {
  return RUNNER_KINDS.some((one) => one === kind);
}

export type RunnerSpec = z.output<ReturnType<typeof runnerSpec>>;
export type RunnerKind = RunnerSpec['kind'];
export type SpecOf<K extends RunnerKind> = Extract<RunnerSpec, { kind: K }>;

/** As it may be asked for: a spec, or the name of one in the configuration file. */
export const runnerChoice = shape(() => z.union([z.string().min(1).max(64), runnerSpec()]));
