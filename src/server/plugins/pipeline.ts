/**
 * A call's way through the chain, in and out.
 *
 * Units ahead of the store run in order, each around the next, and the reply unwinds through them
 * in reverse. Units behind the store (audit_log, post-hooks) then see the reply, whatever it is:
 * a refusal is as much worth recording as a success. The store is asked at most once [P8].
 */

import { strict as assert } from 'node:assert';
import type { CallContext } from './context.ts';
import { runHook } from './hook.ts';
import { runInterceptor } from './interceptor.ts';
import { isInScope } from './manifest.ts';
import { failUnit, type Next, type Passage, type PluginUnit, type Rules } from './passage.ts';
import type { Reply } from './reply.ts';
import type { Slot } from './slots.ts';
import { finishEntry, startEntry, type TraceEntry } from './trace.ts';
import { runTransformer } from './transformer.ts';

/** A slot's work as the hub itself does it; trusted, so it is given the call itself. */
export interface Builtin {
  readonly capability: Exclude<Slot, 'store_dispatch'>;
  /** In `audit_log`, `next` gives the reply and what is returned is ignored. */
  run(call: CallContext, next: Next): Promise<Reply>;
}

/** One link of the chain; where the plugin is out of scope the built-in does the work. */
export interface Link {
  readonly plugin: PluginUnit | null;
  readonly builtin: Builtin | null;
  readonly isStore: boolean;
}

export type Dispatch = (call: CallContext) => Promise<Reply>;

export async function runPipeline(
  links: readonly Link[],
  rules: Rules,
  call: CallContext,
  dispatch: Dispatch,
): Promise<{ readonly reply: Reply; readonly trace: readonly TraceEntry[] }> {
  const passage: Passage = {
    call,
    rules,
    trace: [],
    isDispatched: false,
    isCarriedOut: false,
    response: null,
  };
  const storeAt = links.findIndex((link) => link.isStore);
  assert(storeAt >= 0, 'the chain has a store');

  const step = (at: number): Promise<Reply> => {
    const link = links[at] as Link;
    if (at < storeAt) return runLink(passage, link, () => step(at + 1));
    const plugin = inScope(link, call);
    const ask = (): Promise<Reply> => askStore(passage, dispatch);
    return plugin === null ? ask() : runStorePlugin(passage, plugin, ask);
  };

  let reply = await step(0);
  for (const link of links.slice(storeAt + 1)) {
    passage.response = reply;
    const given = reply;
    const answer = await runLink(passage, link, async () => given);
    // The audit watches; even a built-in one has no say.
    reply = link.builtin !== null && inScope(link, call) === null ? given : answer;
  }
  call.metadata.pipeline_trace = passage.trace;
  return { reply, trace: passage.trace };
}

function inScope(link: Link, call: CallContext): PluginUnit | null {
  const { plugin } = link;
  return plugin !== null && isInScope(plugin.manifest, call.operation, call.transport)
    ? plugin
    : null;
}

async function runLink(passage: Passage, link: Link, next: Next): Promise<Reply> {
  const plugin = inScope(link, passage.call);
  if (plugin === null) {
    return link.builtin === null ? next() : runBuiltin(passage, link.builtin, next);
  }
  const proceed = plugin.slot === 'auth' ? () => requireAgent(passage, next) : next;
  if (plugin.manifest.kind === 'interceptor') return runInterceptor(passage, plugin, proceed);
  const runKind = plugin.manifest.kind === 'hook' ? runHook : runTransformer;
  return (await runKind(passage, plugin)) ?? proceed();
}

/** Nothing goes past auth without an agent, however the plugin in its slot was written [P4]. */
async function requireAgent(passage: Passage, next: Next): Promise<Reply> {
  if (passage.call.agentId !== null) return next();
  return { error: { error_code: 'identity_failure', message: 'the caller is not authenticated' } };
}

async function runBuiltin(passage: Passage, builtin: Builtin, next: Next): Promise<Reply> {
  const entry = startEntry(builtin.capability, 'builtin', passage.call.correlationId);
  passage.trace.push(entry);
  let inner: Promise<Reply> | null = null;
  try {
    const reply = await builtin.run(passage.call, () => {
      inner ??= next();
      return inner;
    });
    finishEntry(entry, inner === null ? 'short_circuit' : 'continue');
    return reply;
  } catch (cause) {
    return failUnit(passage, entry, cause);
  }
}

async function runStorePlugin(passage: Passage, plugin: PluginUnit, ask: Next): Promise<Reply> {
  const reply = await runInterceptor(passage, plugin, ask);
  passage.isCarriedOut ||= 'ok' in reply;
  return reply;
}

async function askStore(passage: Passage, dispatch: Dispatch): Promise<Reply> {
  assert(!passage.isDispatched, 'the store is asked once per call');
  passage.isDispatched = true;
  const entry = startEntry('store_dispatch', 'builtin', passage.call.correlationId);
  passage.trace.push(entry);
  try {
    const reply = await dispatch(passage.call);
    passage.isCarriedOut = 'ok' in reply;
    if ('ok' in reply) finishEntry(entry, 'continue');
    else finishEntry(entry, 'error', reply.error.error_code);
    return reply;
  } catch (cause) {
    return failUnit(passage, entry, cause);
  }
}
