/**
 * What is registered: a name and a version, schemas for both ways, what it may touch, and how it may be
 * called. All of it is checked before anything is called; what cannot be meant is refused [IG1].
 */
import { isName } from '../../core/law/text.ts';
import type { Guard } from '../../guard/guard.ts';
import type { Policy } from '../../guard/policy.ts';
import { IntegrationError } from './integration-error.ts';

export const INTEGRATIONS_MAX = 1_000;
export const NAME_CHARS_MAX = 100;
const SCHEMA_CHARS_MAX = 262_144;
const CONCURRENCY_MAX = 1_000;
const RETRIES_MAX = 10;
const TIMEOUT_MS_MAX = 86_400_000;

/**
 * A JSON Schema, as a plain value.
 *
 * @example
 * ```ts
 * const city: JsonSchema = {
 *   ...{ type: 'object', required: ['city'] },
 *   properties: { city: { type: 'string' } },
 * };
 * ```
 */
export type JsonSchema = Readonly<Record<string, unknown>> | boolean;

/**
 * What the function is handed beside its input.
 *
 * @example
 * ```ts
 * const run = async (input: { url: string }, { guard, signal }: IntegrationContext) =>
 *   (await guard.fetch(input.url, { signal })).text();
 * ```
 */
export interface IntegrationContext {
  /** What both the caller's guard and the integration's capabilities allow. */
  readonly guard: Guard;
  /** Aborted at the deadline, and when the caller gives up. */
  readonly signal: AbortSignal;
  /** The same for every attempt of one call: for whoever can tell a repetition by it. */
  readonly key: string;
  /** For whom. */
  readonly as: string;
  readonly attempt: number;
}

/**
 * @example
 * ```ts
 * const weather: Integration<{ city: string }, { celsius: number }> = {
 *   name: 'weather',
 *   version: '1.0.0',
 *   input: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } },
 *   output: { type: 'object', required: ['celsius'], properties: { celsius: { type: 'number' } } },
 *   capabilities: { connect: [{ scheme: 'https', host: 'api.weather.example' }] },
 *   idempotent: true,
 *   retries: 2,
 *   async run({ city }, { guard, signal }) {
 *     const url = `https://api.weather.example/now?city=${encodeURIComponent(city)}`;
 *     return (await (await guard.fetch(url, { signal })).json()) as { celsius: number };
 *   },
 * };
 * ```
 */
export interface Integration<I = unknown, O = unknown> {
  readonly name: string;
  readonly version: string;
  /** JSON Schema 2020-12. */
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  /** What it needs; whoever calls it must have all of it. Absent: nothing. */
  readonly capabilities?: Policy;
  /** For all attempts of one call together; 30 s unless it says. */
  readonly timeoutMs?: number;
  /** Calls at once; 8 unless it says. */
  readonly concurrency?: number;
  readonly rate?: { readonly limit: number; readonly perMs: number };
  /** Attempts beyond the first; only of what is idempotent. */
  readonly retries?: number;
  /** Done twice it is as if done once. */
  readonly idempotent?: boolean;
  /** After so many failures in a row it is left alone for so long; 5 and 30 s unless it says. */
  readonly breaker?: { readonly failures: number; readonly restMs: number };
  run(input: I, context: IntegrationContext): O | Promise<O>;
}

/** With everything said. */
export interface Defined {
  readonly name: string;
  readonly version: string;
  readonly input: string;
  readonly output: string;
  readonly capabilities: Policy;
  readonly timeoutMs: number;
  readonly concurrency: number;
  readonly rate: { readonly limit: number; readonly perMs: number } | null;
  readonly retries: number;
  readonly isIdempotent: boolean;
  readonly breaker: { readonly failures: number; readonly restMs: number };
  run(input: unknown, context: IntegrationContext): unknown;
}

export function parseIntegration(given: Integration<never, unknown>): Defined {
  const { name, version, rate, retries = 0, idempotent = false } = given;
  if (typeof name !== 'string' || !isName(name, NAME_CHARS_MAX)) {
    wrong(`a name has 1 to ${NAME_CHARS_MAX} characters and no blanks`);
  }
  if (typeof version !== 'string' || !isName(version, 64)) wrong(`${name} needs a version`);
  if (typeof given.run !== 'function') wrong(`${name} has nothing to run`);
  if (retries > 0 && !idempotent) {
    wrong(`${name} would be tried again: say that it is idempotent, or leave out retries`);
  }
  const { timeoutMs = 30_000, concurrency = 8 } = given;
  const { failures = 5, restMs = 30_000 } = given.breaker ?? {};
  whole(`timeoutMs of ${name}`, timeoutMs, 1, TIMEOUT_MS_MAX);
  whole(`concurrency of ${name}`, concurrency, 1, CONCURRENCY_MAX);
  whole(`retries of ${name}`, retries, 0, RETRIES_MAX);
  whole(`breaker.failures of ${name}`, failures, 1, 1_000_000);
  whole(`breaker.restMs of ${name}`, restMs, 1, TIMEOUT_MS_MAX);
  if (rate !== undefined) {
    whole(`rate.limit of ${name}`, rate.limit, 1, 1_000_000);
    whole(`rate.perMs of ${name}`, rate.perMs, 1, TIMEOUT_MS_MAX);
  }
  return {
    ...{ name, version, timeoutMs, concurrency, retries, rate: rate ?? null },
    input: schemaText(`input of ${name}`, given.input),
    output: schemaText(`output of ${name}`, given.output),
    capabilities: given.capabilities ?? {},
    isIdempotent: idempotent,
    breaker: { failures, restMs },
    run: (input, context) => given.run(input as never, context),
  };
}

function schemaText(what: string, schema: unknown): string {
  const isSchema =
    typeof schema === 'boolean' ||
    (typeof schema === 'object' && schema !== null && !Array.isArray(schema));
  if (!isSchema) wrong(`the schema for the ${what} is missing: true allows anything`);
  const text = JSON.stringify(schema);
  if (text.length > SCHEMA_CHARS_MAX) {
    wrong(`the schema for the ${what} is longer than ${SCHEMA_CHARS_MAX} characters`);
  }
  return text;
}

function whole(what: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max) {
    wrong(`${what} is a whole number from ${min} to ${max}`);
  }
}

function wrong(message: string): never {
  throw new IntegrationError(message, { code: 'integration.definition', isTerminal: true });
}
