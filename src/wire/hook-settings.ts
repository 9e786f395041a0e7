/**
 * What a person may set about hooks: the enforcer's policy, and the tables `[guard]` and `[wake]` of
 * the same `policy.toml`. Pure: text and environment in, settings or every problem out [HD7].
 */
import { parse } from 'smol-toml';
import { z } from 'zod';
import { DEFAULT_POLICY, isPolicy, type Policy, parsePolicy } from './policy.ts';
import { shape } from './shape.ts';

export interface GuardSettings {
  /** `refuse`: what another holds; `claim`: that, and take what nobody holds; `off`: nothing. */
  readonly mode: 'refuse' | 'claim' | 'off';
}

/** `on`: every message; `named`: what names the agent, answers it, or asks; `off`: nothing. */
export type WakeMode = 'on' | 'named' | 'off';

export interface WakeSettings {
  readonly mode: WakeMode;
  /** By name or glob; between an agent's and a channel's the quieter one holds. */
  readonly agents: Readonly<Record<string, WakeMode>>;
  readonly channels: Readonly<Record<string, WakeMode>>;
}

export interface DoorSettings {
  readonly policy: Policy;
  readonly guard: GuardSettings;
  readonly wake: WakeSettings;
}

export const DEFAULT_DOOR_SETTINGS: DoorSettings = {
  policy: DEFAULT_POLICY,
  guard: { mode: 'refuse' },
  wake: { mode: 'named', agents: {}, channels: {} },
};

/** How long a permission prompt waits for people before the harness asks at its own terminal. */
export const PROMPT_WAIT_SECONDS = { least: 1, usual: 120, most: 3_600 } as const;

export type Environment = Readonly<Record<string, string | undefined>>;

const MODES_MAX = 1_000;

const guard = shape(() =>
  z.strictObject({
    mode: z
      .enum(['refuse', 'claim', 'off'], { error: 'must be refuse, claim or off' })
      .default('refuse'),
  }),
);
const wakeMode = shape(() => z.enum(['on', 'named', 'off'], { error: 'must be on, named or off' }));
const wakeModes = shape(() =>
  z
    .record(z.string(), wakeMode(), { error: 'must be a table of names and modes' })
    .refine((table) => Object.keys(table).length <= MODES_MAX, {
      error: `must have at most ${MODES_MAX} names`,
    })
    .default({}),
);
/** Turns start agents, and nothing else does [WA6]. */
const MOVED =
  'is gone: an agent is started by its turns. Take it out, and run: synod agents manage NAME --claude, or --codex, or -- COMMAND';
const wake = shape(() =>
  z.strictObject({
    mode: wakeMode().default('named'),
    agents: wakeModes(),
    channels: wakeModes(),
    headless: z.literal(false, { error: MOVED }).optional(),
    command: z.tuple([], { error: MOVED }).optional(),
  }),
);

/** All that is said, or every problem as a sentence. */
export function parseDoorSettings(
  toml: string | null,
  env: Environment,
): DoorSettings | readonly string[] {
  const policy = parsePolicy({ toml, env });
  if (!isPolicy(policy)) {
    return policy.map(({ field, message }) => `${field}: ${message}`);
  }
  const table = parse(toml ?? '');
  const problems: string[] = [];
  const read = <T>(name: string, schema: z.ZodType<T>): T | undefined => {
    const judged = schema.safeParse(table[name] ?? {});
    if (judged.success) return judged.data;
    for (const { path, message } of judged.error.issues) {
      problems.push(`${[name, ...path].join('.')}: ${message}`);
    }
    return undefined;
  };
  const [guarding, waking] = [read('guard', guard()), read('wake', wake())];
  if (guarding === undefined || waking === undefined) return problems;
  return { policy, guard: guarding, wake: waking };
}

export function isSettings(parsed: DoorSettings | readonly string[]): parsed is DoorSettings {
  return !Array.isArray(parsed);
}
