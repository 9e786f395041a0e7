/**
 * Integrations: what is outside, called in one way. A call is for somebody, passes that one's guard and the
 * schemas of both ways, has a deadline, a place among others and a breaker, and ends on the record [IG2].
 * Nothing runs before all of that has said yes; a dry run stops there.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBackoff } from '../../client/backoff.ts';
import { isRefusal } from '../../core/law/decider.ts';
import { readJson } from '../../core/law/json.ts';
import { isName } from '../../core/law/text.ts';
import { type GuardDecision, GuardRefused } from '../../guard/decision.ts';
import type { Recordable } from '../../guard/decision-queue.ts';
import { createGuard, type Guard } from '../../guard/guard.ts';
import { createSchemaCheck } from '../../server/run/schema-check.ts';
import { withSpan } from '../../telemetry/scope.ts';
import { TerminalError } from '../workflow/terminal-error.ts';
import {
  type Defined,
  INTEGRATIONS_MAX,
  type Integration,
  NAME_CHARS_MAX,
  parseIntegration,
} from './definition.ts';
import { IntegrationError } from './integration-error.ts';
import { needsOf } from './needs.ts';
import { type BreakerState, createTurnstile, type Turnstile } from './turnstile.ts';

const RETRY_MS_MIN = 200;
const RETRY_MS_MAX = 10_000;
const OUTPUT_CHARS_MAX = 16 * 1024 * 1024;

/**
 * What callers may do, and who is told how calls ended.
 *
 * @example
 * ```ts
 * const ada = createGuard({ connect: [{ scheme: 'https', host: 'api.example.com' }] });
 * const options: IntegrationsOptions = { guardOf: (as) => (as === 'ada' ? ada : null) };
 * ```
 */
export interface IntegrationsOptions {
  /** What each caller may do; null: it is nobody here. */
  readonly guardOf: (as: string) => Guard | null;
  /** Told how every call ended; what it throws changes nothing. */
  readonly record?: (entry: Recordable) => void;
}

/**
 * For whom an integration is invoked, and for how long.
 *
 * @example
 * ```ts
 * const once: InvokeOptions = { as: 'ada', timeoutMs: 2_000, key: 'mail-17' };
 * ```
 */
export interface InvokeOptions {
  /** For whom: an agent's name. */
  readonly as: string;
  readonly signal?: AbortSignal;
  /** Shorter than the integration's own. */
  readonly timeoutMs?: number;
  /** Names the call for whoever can tell a repetition by it; a new one unless it says. */
  readonly key?: string;
}

/**
 * What would be done, by which leave.
 *
 * @example
 * ```ts
 * const isAllowed = ({ decisions }: DryRun): boolean => decisions.every(({ allowed }) => allowed);
 * ```
 */
export interface DryRun {
  readonly name: string;
  readonly version: string;
  readonly as: string;
  readonly decisions: readonly GuardDecision[];
  readonly breaker: BreakerState;
}

/**
 * An integration as `list` shows it.
 *
 * @example
 * ```ts
 * const isLeftAlone = ({ breaker }: IntegrationInfo): boolean => breaker === 'open';
 * ```
 */
export interface IntegrationInfo {
  readonly name: string;
  readonly version: string;
  readonly idempotent: boolean;
  readonly breaker: BreakerState;
  readonly running: number;
}

/**
 * Integrations by name, each invoked for somebody and within what that one may do.
 *
 * @example
 * ```ts
 * const weather = (tools: Integrations): Promise<{ degrees: number }> =>
 *   tools.invoke('weather', { city: 'Oslo' }, { as: 'ada' });
 * ```
 */
export interface Integrations {
  register<I, O>(integration: Integration<I, O>): void;
  /** False when there was none. */
  unregister(name: string): boolean;
  list(): IntegrationInfo[];
  invoke<O = unknown>(name: string, args: unknown, options: InvokeOptions): Promise<O>;
  /** Everything but the call itself. */
  dryRun(name: string, args: unknown, options: Pick<InvokeOptions, 'as'>): Promise<DryRun>;
}

/**
 * @example
 * ```ts
 * const integrations = createIntegrations({ guardOf: (as) => guards.get(as) ?? null });
 * integrations.register(weather);
 * const now = await integrations.invoke('weather', { city: 'Oslo' }, { as: 'ada' });
 * ```
 */
export function createIntegrations({ guardOf, record }: IntegrationsOptions): Integrations {
  const known = new Map<string, { readonly defined: Defined; readonly turnstile: Turnstile }>();
  const schemas = createSchemaCheck();

  function find(name: string): { readonly defined: Defined; readonly turnstile: Turnstile } {
    const found = known.get(name);
    if (found !== undefined) return found;
    throw new IntegrationError(`no integration ${JSON.stringify(String(name))} is registered`, {
      ...{ code: 'integration.unknown', isTerminal: true },
    });
  }

  /** A copy that JSON can say and the schema allows; what the other side holds on to changes nothing. */
  function checked(defined: Defined, which: 'input' | 'output', value: unknown): unknown {
    const bad = (why: string, cause?: unknown): never => {
      throw new IntegrationError(`the ${which} of ${defined.name}: ${why}`, {
        ...{ code: `integration.${which}`, cause, isTerminal: which === 'input' },
      });
    };
    let text: string;
    try {
      text = JSON.stringify(value ?? null);
    } catch (cause) {
      return bad('JSON cannot say it', cause);
    }
    if (text.length > OUTPUT_CHARS_MAX) return bad(`over ${OUTPUT_CHARS_MAX} characters`);
    const copy: unknown = readJson(text);
    const said = schemas.check(defined[which], copy, { whose: defined.name, isTrusted: true });
    if (isRefusal(said)) return bad(said.message);
    const [first] = said.violations;
    if (first !== undefined) {
      const more = said.count > 1 ? ` (and ${said.count - 1} more)` : '';
      return bad(`${first.field.replace(/^body/, which)} ${first.issue}${more}`);
    }
    return copy;
  }

  function guardFor(as: unknown, { name }: Defined): Guard {
    if (typeof as !== 'string' || !isName(as, NAME_CHARS_MAX)) {
      throw new IntegrationError('say for whom, with `as`: an agent’s name', {
        ...{ code: 'integration.no-identity', isTerminal: true },
      });
    }
    const guard = guardOf(as);
    if (guard !== null) return guard;
    throw new IntegrationError(`${as} has no guard here, and so calls no ${name}`, {
      ...{ code: 'integration.refused', isTerminal: true },
    });
  }

  /** What the integration says that it needs, asked of the caller's guard. */
  async function decide(guard: Guard, { name, capabilities }: Defined): Promise<GuardDecision[]> {
    const decisions: GuardDecision[] = [];
    for (const need of needsOf(capabilities)) {
      const decision = await guard.check(need);
      decisions.push(decision);
      if (decision.allowed) continue;
      const { kind, what, why } = decision;
      throw new IntegrationError(`${name} would ${kind} ${what}, and its caller may not: ${why}`, {
        ...{ code: 'integration.refused', isTerminal: true },
        cause: new GuardRefused(decision),
      });
    }
    return decisions;
  }

  async function attempts(
    { defined, turnstile }: { defined: Defined; turnstile: Turnstile },
    guard: Guard,
    input: unknown,
    { as, key = randomUUID(), signal: caller }: InvokeOptions,
    signal: AbortSignal,
  ): Promise<unknown> {
    const backoff = createBackoff({ minMs: RETRY_MS_MIN, maxMs: RETRY_MS_MAX });
    const own = guard.child(defined.capabilities, { name: `${guard.name}/${defined.name}` });
    for (let attempt = 1; ; attempt++) {
      const leave = await turnstile.enter(signal);
      const work = own.pass(defined.name, input, async () =>
        checked(
          defined,
          'output',
          await defined.run(input, { guard: own, signal, key, as, attempt }),
        ),
      );
      // The place is given back when the work is over, not when we stop waiting for it.
      work.then(leave, leave);
      try {
        const output = await orAborted(work, signal);
        turnstile.succeeded();
        return output;
      } catch (error) {
        const isFailure = doesCount(error) && caller?.aborted !== true;
        if (isFailure) turnstile.failed();
        if (attempt > defined.retries || signal.aborted || !isFailure) throw error;
        const asked = error instanceof IntegrationError ? error.retryAfterMs : null;
        await sleep(asked ?? backoff.next(), undefined, { signal }).catch(() => {
          throw error;
        });
      }
    }
  }

  async function invoke(name: string, args: unknown, options: InvokeOptions): Promise<unknown> {
    const { defined, turnstile } = find(name);
    const guard = guardFor(options?.as, defined);
    const input = checked(defined, 'input', args);
    await decide(guard, defined);
    const timeoutMs = Math.min(defined.timeoutMs, options.timeoutMs ?? Infinity);
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
    try {
      return await attempts({ defined, turnstile }, guard, input, options, signal);
    } catch (error) {
      throw toError(error, defined, { deadline, caller: options.signal, timeoutMs });
    }
  }

  function told(name: string, as: unknown, error: unknown): void {
    const version = known.get(name)?.defined.version;
    const failure = error instanceof IntegrationError ? error : null;
    try {
      record?.({
        ...{ guard: 'integrations', kind: 'invoke', enforcement: 'advisory' },
        what: version === undefined ? String(name) : `${name}@${version}`,
        allowed: error === null,
        code: error === null ? 'integration.done' : (failure?.code ?? 'integration.failed'),
        why: error === null ? 'it was called and answered' : String((error as Error).message),
        ...(typeof as === 'string' && isName(as, NAME_CHARS_MAX) && { as }),
      });
    } catch {
      // Who keeps the record has no say in what is called.
    }
  }

  return {
    register(integration) {
      const defined = parseIntegration(integration as unknown as Integration<never, unknown>);
      const wrong = (message: string): never => {
        throw new IntegrationError(message, { code: 'integration.definition', isTerminal: true });
      };
      if (known.has(defined.name)) wrong(`${defined.name} is registered already: unregister it`);
      if (known.size >= INTEGRATIONS_MAX) wrong(`${INTEGRATIONS_MAX} integrations are the most`);
      // What its capabilities cannot mean is thrown now.
      createGuard(defined.capabilities);
      for (const which of ['input', 'output'] as const) {
        const problem = schemas.problem(defined[which], defined.name);
        if (problem === null) continue;
        const why = typeof problem === 'string' ? problem : problem.message;
        wrong(`the schema for the ${which} of ${defined.name} cannot be used: ${why}`);
      }
      known.set(defined.name, { defined, turnstile: createTurnstile(defined) });
    },
    unregister: (name) => known.delete(name),
    list: () =>
      [...known.values()].map(({ defined: { name, version, isIdempotent }, turnstile }) => ({
        ...{ name, version, idempotent: isIdempotent },
        ...{ breaker: turnstile.state, running: turnstile.running },
      })),
    async invoke<O>(name: string, args: unknown, options: InvokeOptions): Promise<O> {
      return withSpan('integration.invoke', { 'integration.name': name }, async () => {
        try {
          const output = await invoke(name, args, options);
          told(name, options.as, null);
          return output as O;
        } catch (error) {
          told(name, options?.as, error);
          throw error;
        }
      });
    },
    async dryRun(name, args, options) {
      const { defined, turnstile } = find(name);
      const guard = guardFor(options?.as, defined);
      checked(defined, 'input', args);
      const decisions = await decide(guard, defined);
      turnstile.look();
      const { version } = defined;
      return { name, version, as: options.as, decisions, breaker: turnstile.state };
    },
  };
}

/** Whether it says that the other side is not well: what we refused, or what cannot be mended, does not. */
function doesCount(error: unknown): boolean {
  if (error instanceof GuardRefused || error instanceof TerminalError) return false;
  if (!(error instanceof IntegrationError)) return true;
  return !error.isTerminal && ['integration.failed', 'integration.output'].includes(error.code);
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

interface Ended {
  readonly deadline: AbortSignal;
  readonly caller: AbortSignal | undefined;
  readonly timeoutMs: number;
}

function toError(cause: unknown, { name }: Defined, ended: Ended): unknown {
  if (cause instanceof IntegrationError) return cause;
  if (cause instanceof GuardRefused) {
    return new IntegrationError(`${name}: ${cause.message}`, {
      ...{ code: 'integration.refused', cause, isTerminal: true },
    });
  }
  if (ended.caller?.aborted === true) {
    return new IntegrationError(`${name} was given up`, { code: 'integration.cancelled', cause });
  }
  if (ended.deadline.aborted) {
    const message = `${name} gave no answer within ${ended.timeoutMs} ms; it may have happened`;
    return new IntegrationError(message, { code: 'integration.timeout', cause });
  }
  const said = cause instanceof Error ? cause.message : String(cause);
  const isTerminal = cause instanceof TerminalError;
  const message = `${name} failed: ${said}`;
  return new IntegrationError(message, { code: 'integration.failed', cause, isTerminal });
}
