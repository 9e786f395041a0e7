/**
 * Runs one interceptor: `(ctx, next) → reply`, with `next` called never or once.
 *
 * A second `next`, or one after the unit has answered, reaches nothing and is a failure even if
 * the plugin swallows the exception. The time limit covers the unit's own code; waiting in `next`
 * stops the clock. An observe_only unit cannot change the outcome: before the store its own
 * answer is a violation, after it the store's answer stands.
 */

import { isDeepStrictEqual } from 'node:util';
import { ContractViolation, type View } from './context.ts';
import { DeadlineError } from './limits.ts';
import {
  enter,
  failUnit,
  isNamed,
  logFailure,
  type Next,
  type Passage,
  type PluginUnit,
} from './passage.ts';
import { parseReply, type Reply } from './reply.ts';
import { finishEntry } from './trace.ts';

export async function runInterceptor(
  passage: Passage,
  unit: PluginUnit,
  proceed: Next,
): Promise<Reply> {
  const { view, entry } = enter(passage, unit);
  const gate = openGate(view, proceed, passage.rules.unitTimeoutMs, unit.manifest.id);
  const result = await gate.run(() => unit.run(view.context, gate.next));
  const inner = await gate.inner();
  const { isObserveOnly, mayShortCircuit } = unit.manifest;

  if (gate.violation !== null) return failUnit(passage, entry, gate.violation);
  if ('thrown' in result && !isNamed(result.thrown, 'ShortCircuitResponse')) {
    return failUnit(passage, entry, result.thrown);
  }
  const answer =
    'thrown' in result ? (result.thrown as { response?: unknown }).response : result.value;
  if (inner === null && (isObserveOnly || !mayShortCircuit)) {
    const rule = isObserveOnly ? 'observe_only' : 'may_short_circuit: false';
    return failUnit(passage, entry, new ContractViolation(`${rule}, yet it answered by itself`));
  }
  const isUnchanged = isDeepStrictEqual(answer, inner);
  if (inner !== null && (isUnchanged || isObserveOnly)) {
    if (isUnchanged || answer === undefined) {
      finishEntry(entry, 'continue');
    } else {
      finishEntry(entry, 'error', 'internal_error');
      logFailure(passage, entry.plugin_id, new ContractViolation('observe_only, yet it answered'));
    }
    return inner;
  }
  const known = inner !== null && 'error' in inner ? inner.error.error_code : null;
  const reply = parse(answer, known);
  if (reply === null) {
    return failUnit(passage, entry, new ContractViolation('it returned no reply'));
  }
  // Whoever holds the store's slot is meant to answer: that is no short circuit.
  const isShort = (inner === null && unit.slot !== 'store_dispatch') || 'thrown' in result;
  finishEntry(entry, isShort ? 'short_circuit' : 'continue');
  return reply;
}

function parse(answer: unknown, known: string | null): Reply | null {
  try {
    return parseReply(answer, known);
  } catch {
    // What JSON cannot carry is no reply.
    return null;
  }
}

type Result = { readonly value: unknown } | { readonly thrown: unknown };

interface Gate {
  readonly violation: Error | null;
  readonly next: Next;
  run(work: () => unknown): Promise<Result>;
  /** The reply from further in, waited for even when the unit did not; null when never asked. */
  inner(): Promise<Reply | null>;
}

function openGate(view: View, proceed: Next, timeoutMs: number, id: string): Gate {
  let violation: Error | null = null;
  let inner: Promise<Reply> | null = null;
  let isSettled = false;
  let expire: (error: Error) => void = () => {};
  const expiry = new Promise<never>((_resolve, reject) => {
    expire = reject;
  });
  const clock = openStopwatch(timeoutMs, () =>
    expire(new DeadlineError(`${id} took longer than ${timeoutMs} ms`)),
  );

  async function advance(): Promise<Reply> {
    try {
      if (isSettled) throw new ContractViolation('next was called after the unit had answered');
      if (inner !== null) throw new ContractViolation('next was called twice');
      view.commit();
    } catch (error) {
      violation ??= error as Error;
      throw error;
    }
    clock.pause();
    inner = proceed();
    const reply = await inner;
    if (!isSettled) clock.resume();
    return structuredClone(reply);
  }

  return {
    get violation() {
      return violation;
    },
    next() {
      const reply = advance();
      // A plugin that drops this promise must not bring the process down with it.
      reply.catch(() => {});
      return reply;
    },
    async run(work) {
      clock.resume();
      try {
        return { value: await Promise.race([Promise.resolve().then(work), expiry]) };
      } catch (thrown) {
        return { thrown };
      } finally {
        isSettled = true;
        clock.pause();
      }
    },
    inner: async () => inner,
  };
}

/** Counts down only while it runs. */
function openStopwatch(limitMs: number, onExpiry: () => void): { pause(): void; resume(): void } {
  let leftMs = limitMs;
  let startedAt = 0;
  let timer: NodeJS.Timeout | null = null;
  return {
    pause() {
      if (timer === null) return;
      clearTimeout(timer);
      timer = null;
      leftMs -= performance.now() - startedAt;
    },
    resume() {
      if (timer !== null) return;
      startedAt = performance.now();
      timer = setTimeout(onExpiry, Math.max(0, leftMs));
    },
  };
}
