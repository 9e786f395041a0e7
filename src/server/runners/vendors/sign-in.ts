/**
 * Which account a turn is billed to [RV6]. `subscription` takes every variable away with which that vendor
 * would use a key, another endpoint or another cloud instead, wherever it came from; `api` takes them away
 * too and then sets the one key it was told of. So a turn cannot be billed to the wrong one.
 */
import { type Refusal, refuse } from '../../../core/law/decider.ts';
import type { SpecOf } from '../../../wire/operations/runner-spec.ts';
import { checkSecret, readSecret } from '../read-secret.ts';

export type VendorKind = 'claude' | 'codex' | 'acp';
export type VendorSpec = SpecOf<VendorKind>;
export type SignIn = 'subscription' | 'api';

interface Variables {
  /** Credentials, and switches to another cloud: gone in both ways of signing in; `*` at the end is any. */
  readonly keys: readonly string[];
  /** Where the model is: gone with a subscription, a person's to set with a key. */
  readonly places: readonly string[];
  readonly secret: string;
}

const CLAUDE: Variables = {
  keys: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_USE_*'],
  places: ['ANTHROPIC_BASE_URL'],
  secret: 'ANTHROPIC_API_KEY',
};
const CODEX: Variables = {
  keys: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
  places: ['OPENAI_BASE_URL'],
  secret: 'OPENAI_API_KEY',
};
const GEMINI: Variables = {
  keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_*'],
  places: ['GOOGLE_GEMINI_BASE_URL', 'GOOGLE_VERTEX_BASE_URL'],
  secret: 'GEMINI_API_KEY',
};
/** Kimi is reached as Claude is, or by its own names. */
const KIMI: Variables = {
  keys: ['KIMI_API_KEY', 'MOONSHOT_API_KEY'],
  places: ['KIMI_BASE_URL'],
  secret: 'KIMI_API_KEY',
};
const ALL = [CLAUDE, CODEX, GEMINI, KIMI];

/** By the name of the program behind ACP; what we do not know is told with `secret_env`. */
const ACP_SECRETS: readonly (readonly [RegExp, string])[] = [
  [/gemini/, GEMINI.secret],
  [/claude/, CLAUDE.secret],
  [/codex/, CODEX.secret],
  [/kimi/, KIMI.secret],
];

export function signInOf({ sign_in }: VendorSpec): SignIn {
  return sign_in ?? 'subscription';
}

/** The variable that takes the key; null when nobody said which. */
export function secretVariable(spec: VendorSpec): string | null {
  if (spec.kind === 'claude') return CLAUDE.secret;
  if (spec.kind === 'codex') return CODEX.secret;
  const named = spec.options?.secret_env;
  if (typeof named === 'string') return named;
  const program = spec.command.join(' ');
  return ACP_SECRETS.find(([pattern]) => pattern.test(program))?.[1] ?? null;
}

export async function checkSignIn(spec: VendorSpec): Promise<Refusal | null> {
  const say = (field: string, message: string): Refusal =>
    refuse('runner.unusable', message, { field });
  if (signInOf(spec) === 'subscription') {
    return spec.secret === undefined
      ? null
      : say('secret', 'a secret is for sign_in "api"; a subscription uses none');
  }
  if (spec.secret === undefined) {
    return say(
      'secret',
      'sign_in "api" needs a secret: {"file": PATH} or {"command": [PROGRAM, …]}',
    );
  }
  if (secretVariable(spec) === null) {
    return say('options.secret_env', 'say which variable takes the key, in options.secret_env');
  }
  return checkSecret(spec.secret);
}

/** The environment of the turn, and the secret in it, which must not be shown. */
export async function signedIn(
  spec: VendorSpec,
  env: Readonly<Record<string, string>>,
  hubEnv: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly env: Record<string, string>; readonly secret: string | null } | Refusal> {
  const isApi = signInOf(spec) === 'api';
  const gone = ALL.flatMap(({ keys, places }) => (isApi ? keys : [...keys, ...places]));
  // A long-lived token of a subscription is that subscription, and no key.
  if (isApi) gone.push('CLAUDE_CODE_OAUTH_TOKEN');
  const kept = Object.entries(env).filter(([name]) => !gone.some((one) => isNamed(one, name)));
  const clean = Object.fromEntries(kept);
  const variable = secretVariable(spec);
  if (!isApi || spec.secret === undefined || variable === null) return { env: clean, secret: null };
  const secret = await readSecret(spec.secret, hubEnv);
  if (typeof secret !== 'string') return secret;
  return { env: { ...clean, [variable]: secret }, secret };
}

function isNamed(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

/** Whether a variable of that name decides which account or endpoint a vendor's program uses. */
export function isOfSignIn(name: string): boolean {
  return ALL.some(({ keys, places }) => [...keys, ...places].some((one) => isNamed(one, name)));
}

/** For `synod doctor`: which of the two a turn would bill, and as whom its program says it is signed in. */
export function billed(spec: VendorSpec, account: string | null): string {
  if (signInOf(spec) === 'subscription') {
    return `the subscription its program is signed in with${account === null ? '' : ` (${account})`}`;
  }
  const from = spec.secret !== undefined && 'file' in spec.secret ? 'a file' : 'a command';
  return `the API, with the key from ${from}`;
}
