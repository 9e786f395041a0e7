/**
 * What a configuration may say, field by field, whoever says it. SOX's names are
 * kept, at the top level or under `server_config`. Unknown names are refused, so
 * that a misspelt setting is never silently a default.
 */
import { z } from 'zod';
import { AGENT_NAME_RULE, isAgentName } from '../../core/law/principal.ts';
import { checkLimits } from '../../core/turns/agent-limits.ts';
import { CLAIMS_PER_AGENT_SET_MAX, OFFERS_PER_AGENT_SET_MAX } from '../../wire/operations/admin.ts';
import { type RunnerSpec, runnerSpec } from '../../wire/operations/runner-spec.ts';
import { agentsManage } from '../../wire/operations/turns.ts';
import { whole } from '../../wire/policy.ts';
import { parseStoreUrl, STORE_FORMS, storeTrouble, storeUrl } from './store-url.ts';

/** An agent that may come, and the space it is at home in; null is whichever it asks for. */
export interface Agent {
  readonly id: string;
  readonly namespace: string | null;
  /** How its turns are run, when the hub runs them. */
  readonly managed?: Managed;
}

/** As `agents.manage` takes it, and what the agent is subscribed to. */
export type Managed = Omit<z.output<typeof agentsManage.input>, 'agent_id'> & {
  readonly subscribe: readonly string[];
};

export type ManagedAgent = Agent & { readonly managed: Managed };

export type FaultCode = 'store_unavailable' | 'internal_error' | 'rate_limited';

interface SpaceFields {
  readonly backpressure_mode?: 'advisory' | 'enforced' | undefined;
  readonly queue_limit?: number | undefined;
  readonly claims_per_agent?: number | undefined;
  readonly offers_per_agent?: number | undefined;
  readonly idempotency_ttl_ms?: number | undefined;
  readonly typed_channels?: Record<string, Record<string, unknown>> | undefined;
  readonly rate_limit?: number | undefined;
  readonly heartbeat_ttl?: number | undefined;
  readonly fault_inject?: FaultCode | undefined;
}

export interface ConfigFile extends SpaceFields {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly dir?: string | undefined;
  readonly store?: string | undefined;
  readonly server_name?: string | undefined;
  readonly close_unused_after?: number | undefined;
  readonly record_key?: string | undefined;
  readonly auth?: 'local' | 'open' | undefined;
  readonly cors_origins?: readonly string[] | undefined;
  readonly allowed_hosts?: readonly string[] | undefined;
  readonly agents?: readonly Agent[] | undefined;
  readonly server_config?: SpaceFields | undefined;
  readonly allow_plugins?: readonly string[] | undefined;
  readonly discovery?: boolean | string | undefined;
  readonly skip_mismatched_plugins?: boolean | undefined;
  readonly log_level?: LogLevel | undefined;
  readonly socket?: boolean | undefined;
  readonly synapse_port?: number | undefined;
  readonly synapse_token?: string | undefined;
  readonly relay?: string | undefined;
  readonly relay_lines?: number | undefined;
  readonly synapse_relay?: string | undefined;
  readonly mirror?: string | undefined;
  readonly synapse_clients?: number | undefined;
  readonly synapse_unauthenticated?: number | undefined;
  readonly synapse_auth_timeout_ms?: number | undefined;
  readonly synapse_takeover_cooldown_ms?: number | undefined;
  readonly bus?: string | undefined;
  /** True: with the normal credential; a text: with that token. */
  readonly metrics?: boolean | string | undefined;
  readonly host_rate_limit?: number | undefined;
  readonly notices?: readonly NoticeSetting[] | undefined;
  /** Seconds; 0: never again. */
  readonly remind_after?: number | undefined;
  /** By name. */
  readonly runners?: Readonly<Record<string, RunnerSpec>> | undefined;
  readonly turns_roots?: readonly string[] | undefined;
  readonly turns_parallel_max?: number | undefined;
  readonly otlp?: string | undefined;
  readonly otlp_headers?: Readonly<Record<string, string>> | undefined;
  readonly telemetry_file?: string | undefined;
  readonly telemetry_sample?: number | undefined;
  readonly telemetry_content?: boolean | undefined;
  readonly telemetry_service?: string | undefined;
}

export type NoticeSetting =
  | { readonly kind: 'desktop' }
  | { readonly kind: 'webhook'; readonly url: string; readonly secret_file: string }
  | { readonly kind: 'command'; readonly command: readonly string[] };

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const QUEUE_LIMIT_MAX = 10_000_000;
const IDEMPOTENCY_TTL_MS_MAX = 30 * 86_400_000;
const CALLS_PER_SECOND_MAX = 1_000_000;
const HEARTBEAT_TTL_S_MAX = 86_400;
const RELAY_LINES_MAX = 1_000_000;
const SYNAPSE_CLIENTS_MAX = 65_536;
const SYNAPSE_PAUSE_MS_MAX = 600_000;
const REMIND_AFTER_S_MAX = 30 * 86_400;
const CLOSE_UNUSED_AFTER_S_MAX = 30 * 86_400;
const NOTICES_MAX = 8;
const TURNS_PARALLEL_MAX = 1_000;
const OTLP = 'must be the http or https address of a collector, such as http://127.0.0.1:4318';
const OTLP_SECRET =
  'must hold no name and no password; put what the collector wants into otlp_headers';
const SAMPLE = 'must be a number from 0 to 1';
const METRICS = 'must be true, false or a token of 8 to 256 visible characters';

/** A whole number in a range, with one sentence for everything that is not one. */
function oneOf<const Values extends readonly [string, ...string[]]>(
  ...values: Values
): z.ZodEnum<{ [V in Values[number]]: V }> {
  return z.enum(values, { error: `must be ${values.join(', ').replace(/, ([^,]*)$/, ' or $1')}` });
}

function text(what: string): z.ZodString {
  return z.string({ error: `must be ${what}` }).min(1, { error: `must be ${what}` });
}

const host = text('an address or a host name').regex(/^[^\s/@]+$/, {
  error: 'must be an address or a host name, such as 127.0.0.1',
});

const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const SERVER_NAME_RULE = 'must be 1 to 64 letters, digits or any of . _ -';

const store = text(STORE_FORMS).transform((value, context) => {
  const parsed = parseStoreUrl(value);
  if (parsed !== null) return storeUrl(parsed);
  context.addIssue({ code: 'custom', message: storeTrouble(value), input: value });
  return z.NEVER;
});

const ORIGIN = 'must be an origin such as https://example.org or http://localhost:*; never *';
const origin = text('an origin').regex(/^https?:\/\/[^/\s*@]+(:\*)?$/, { error: ORIGIN });

const NAMESPACE = 'must be 1 to 64 of a-z, 0-9, _ and -';
const AGENT = `must be an agent name: ${AGENT_NAME_RULE}`;
const PATTERNS = 'must be a list of channels or globs';
const managed = agentsManage.input.omit({ agent_id: true });
const agent = z
  .strictObject({
    id: z.string({ error: AGENT }).refine(isAgentName, { error: AGENT }),
    namespace: z
      .string({ error: NAMESPACE })
      .regex(/^[a-z0-9_-]{1,64}$/, { error: NAMESPACE })
      .optional(),
    ...managed.partial().shape,
    // Without its default: an agent that says nothing of turns has none.
    session: z.enum(['resume', 'fresh']).optional(),
    subscribe: z.array(z.string().min(1).max(256), { error: PATTERNS }).max(100).optional(),
  })
  .transform(({ id, namespace = null, subscribe = [], runner, ...rest }, context): Agent => {
    if (runner === undefined) {
      const [field] = Object.entries({ ...rest, ...(subscribe.length > 0 && { subscribe }) })
        .filter(([, value]) => value !== undefined)
        .map(([name]) => name);
      if (field === undefined) return { id, namespace };
      const message = 'is for an agent with a runner, which says how its turns are run';
      context.addIssue({ code: 'custom', message, path: [field] });
      return z.NEVER;
    }
    const refused = checkLimits(rest.limits ?? {});
    if (refused !== null) {
      context.addIssue({ code: 'custom', message: refused.message, path: ['limits'] });
      return z.NEVER;
    }
    return { id, namespace, managed: { ...managed.parse({ ...rest, runner }), subscribe } };
  });

const runners = z.record(
  z
    .string()
    .regex(/^[\w.-]{1,64}$/, { error: 'must be named with 1 to 64 of a-z, 0-9, _, - and .' }),
  runnerSpec(),
  { error: 'must be an object of name to runner' },
);

/** How SOX, like Python, names two of them. */
const LEVEL_NAMES: Readonly<Record<string, string>> = { warning: 'warn', critical: 'fatal' };
const logLevel = z.preprocess(
  (value) => {
    const name = String(value).toLowerCase();
    return LEVEL_NAMES[name] ?? name;
  },
  oneOf(...LOG_LEVELS),
);

const schemas = z.record(
  z.string(),
  z.record(z.string(), z.unknown(), { error: 'must be a JSON Schema object' }),
  { error: 'must be an object of channel name to JSON Schema' },
);

/** Shorter ones can be guessed. */
const SECRET_CHARS_MIN = 8;
const SECRET = `must be a secret of at least ${SECRET_CHARS_MIN} characters, or none`;
const yesNo = z.boolean({ error: 'must be true or false' });
const names = z.array(text('a name'), { error: 'must be a list of names' });

const NOTICE =
  'must be {kind: desktop}, {kind: webhook, url, secret_file} or {kind: command, command: [program, …]}';
const notice = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('desktop') }),
    z.strictObject({
      kind: z.literal('webhook'),
      url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
      secret_file: text('a file that holds the secret'),
    }),
    z.strictObject({
      kind: z.literal('command'),
      command: z.array(text('a word of the command')).min(1, { error: 'must name a program' }),
    }),
  ],
  { error: NOTICE },
);

const spaceFields = {
  backpressure_mode: oneOf('advisory', 'enforced').optional(),
  queue_limit: whole(1, QUEUE_LIMIT_MAX).optional(),
  claims_per_agent: whole(1, CLAIMS_PER_AGENT_SET_MAX).optional(),
  offers_per_agent: whole(1, OFFERS_PER_AGENT_SET_MAX).optional(),
  idempotency_ttl_ms: whole(1, IDEMPOTENCY_TTL_MS_MAX).optional(),
  typed_channels: schemas.optional(),
  rate_limit: whole(1, CALLS_PER_SECOND_MAX).optional(),
  heartbeat_ttl: whole(1, HEARTBEAT_TTL_S_MAX).optional(),
  fault_inject: oneOf('store_unavailable', 'internal_error', 'rate_limited').optional(),
};

const fields = {
  host: host.optional(),
  port: whole(0, 65_535).optional(),
  dir: text('a directory').optional(),
  store: store.optional(),
  server_name: z.string().regex(SERVER_NAME, SERVER_NAME_RULE).optional(),
  close_unused_after: whole(0, CLOSE_UNUSED_AFTER_S_MAX).optional(),
  auth: oneOf('local', 'open').optional(),
  cors_origins: z.array(origin, { error: 'must be a list of origins' }).optional(),
  allowed_hosts: z.array(host, { error: 'must be a list of host names' }).optional(),
  agents: z.array(agent, { error: 'must be a list of {id, namespace}' }).optional(),
  ...spaceFields,
  server_config: z.strictObject(spaceFields, { error: notAnObject }).optional(),
  allow_plugins: names.optional(),
  discovery: z
    .union([z.boolean(), z.string().min(1)], { error: 'must be true, false or a folder' })
    .optional(),
  skip_mismatched_plugins: yesNo.optional(),
  log_level: logLevel.optional(),
  socket: yesNo.optional(),
  synapse_port: whole(0, 65_535).optional(),
  synapse_token: z
    .string({ error: SECRET })
    .refine((token) => token === 'none' || token.length >= SECRET_CHARS_MIN, { error: SECRET })
    .optional(),
  relay: text('a file').optional(),
  relay_lines: whole(1, RELAY_LINES_MAX).optional(),
  synapse_relay: text('a file').optional(),
  mirror: text('a folder').optional(),
  synapse_clients: whole(1, SYNAPSE_CLIENTS_MAX).optional(),
  synapse_unauthenticated: whole(1, SYNAPSE_CLIENTS_MAX).optional(),
  synapse_auth_timeout_ms: whole(100, SYNAPSE_PAUSE_MS_MAX).optional(),
  synapse_takeover_cooldown_ms: whole(0, SYNAPSE_PAUSE_MS_MAX).optional(),
  bus: text('a file').optional(),
  metrics: z
    .union([z.boolean(), z.string().regex(/^[\x21-\x7e]{8,256}$/)], { error: METRICS })
    .optional(),
  host_rate_limit: whole(1, CALLS_PER_SECOND_MAX).optional(),
  notices: z
    .array(notice, { error: 'must be a list of ways to tell people' })
    .max(NOTICES_MAX, { error: `must be at most ${NOTICES_MAX} ways` })
    .optional(),
  remind_after: whole(0, REMIND_AFTER_S_MAX).optional(),
  runners: runners.optional(),
  record_key: text('a file').optional(),
  turns_roots: z.array(text('a directory'), { error: 'must be a list of directories' }).optional(),
  turns_parallel_max: whole(1, TURNS_PARALLEL_MAX).optional(),
  otlp: z
    .url({ protocol: /^https?$/, error: OTLP })
    // Programs that show the address would show it too, and a request with it is refused.
    .refine((url) => !/^https?:\/\/[^/]*@/i.test(url), { error: OTLP_SECRET })
    .optional(),
  otlp_headers: z
    .record(
      z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/),
      z.string().regex(/^[ -~]{0,4096}$/),
      {
        error: 'must be an object of header name to text',
      },
    )
    .optional(),
  telemetry_file: text('a file').optional(),
  telemetry_sample: z
    .number({ error: SAMPLE })
    .min(0, { error: SAMPLE })
    .max(1, { error: SAMPLE })
    .optional(),
  telemetry_content: yesNo.optional(),
  telemetry_service: text('a name').max(128, { error: 'must be a name' }).optional(),
};

export const KNOWN_NAMES: readonly string[] = Object.keys(fields);
export const configFile: z.ZodType<ConfigFile> = z.strictObject(fields, { error: notAnObject });

function notAnObject(issue: { readonly code?: string }): string | undefined {
  return issue.code === 'invalid_type' ? 'must be a JSON object' : undefined;
}
