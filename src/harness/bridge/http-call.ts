/**
 * Calls to a hub for the bridge. A hub that cannot be reached yet is tried again for a bounded
 * time, because then nothing was sent; once a call has left, it is never sent twice [MC9]. A hub
 * that is down is a refusal that says so and how to start it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ask, openConnections, readAnswer } from '../../client/node/http.ts';
import type { Target } from '../../client/node/target.ts';
import { refuse } from '../../core/law/decider.ts';
import { readTraceparent } from '../../core/law/traceparent.ts';
import { type ErrorEnvelope, toEnvelope } from '../../wire/errors.ts';
import { type Fields, isFields, waitMsOf } from '../../wire/fields.ts';
import type { ToolAnswer } from '../../wire/mcp/result.ts';
import type { CallOptions } from '../../wire/mcp/server.ts';

/** Carries a call to the hub, by the operation's name. */
export type HubCall = (name: string, input: unknown, options: CallOptions) => Promise<ToolAnswer>;

/** Tells the hub something nobody waits for; false when it could not be reached. */
export type Mention = (name: string, input: unknown, signal: AbortSignal) => Promise<boolean>;

export interface HttpCallOptions {
  readonly target: Target;
  /** SOX_TRACE. */
  readonly wantsTrace?: boolean;
  /** How long an unreachable hub is tried. */
  readonly reachMs?: number;
  /** Asked when the hub is not there: where it is now, perhaps after starting it. */
  relocate?(): Promise<Target | null>;
}

export interface HttpCall {
  readonly call: HubCall;
  /** One attempt where the hub was found last: it looks for no other hub and starts none. */
  readonly mention: Mention;
  /** Where the hub was found last. */
  readonly target: Target;
  close(): void;
}

const REACH_MS = 5000;
const RETRY_FIRST_MS = 25;
const RETRY_MOST_MS = 500;
/** How much longer than its own waiting a call may take. */
const ANSWER_MS = 30_000;
/** Nothing listened there, so nothing was sent. */
const UNREACHED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'EHOSTUNREACH',
  'ENOTFOUND',
]);

export function createHttpCall(options: HttpCallOptions): HttpCall {
  const { relocate, reachMs = REACH_MS } = options;
  const connections = openConnections();
  let { target } = options;

  async function call(name: string, input: unknown, asked: CallOptions): Promise<ToolAnswer> {
    const deadline = performance.now() + reachMs;
    const answerMs = ANSWER_MS + waitMsOf(input);
    for (let retryMs = RETRY_FIRST_MS; ; retryMs = Math.min(2 * retryMs, RETRY_MOST_MS)) {
      const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(answerMs)]);
      try {
        return await post(name, input, { ...asked, signal });
      } catch (error) {
        if (asked.signal.aborted) return unavailable('the call was cancelled', target);
        if (signal.aborted) return unavailable(`the hub did not answer ${name} in time`, target);
        if (!UNREACHED.has((error as NodeJS.ErrnoException).code ?? '')) {
          return unavailable(
            `the connection to the hub broke during ${name}; it may have been carried out`,
            target,
          );
        }
        if (performance.now() + retryMs > deadline) return notRunning(target);
        await pause(retryMs);
        const found = await relocate?.();
        // Wherever the hub is now, we are who we were.
        if (found) target = { ...found, agent: target.agent };
      }
    }
  }

  async function post(name: string, input: unknown, asked: CallOptions): Promise<ToolAnswer> {
    const wantsTrace = asked.wantsTrace || options.wantsTrace === true;
    const response = await ask(target, {
      method: 'POST',
      path: `/v1/ops/${encodeURIComponent(name)}`,
      body: JSON.stringify(input),
      signal: asked.signal,
      connections,
      headers: {
        'x-sox-transport': 'stdio',
        ...(asked.clientVersion && { 'x-sox-client-version': asked.clientVersion }),
        ...(wantsTrace && { 'x-sox-trace': '1' }),
        ...traceHeader(asked.traceparent),
      },
    });
    const answer = await readAnswer(response);
    if (answer === null) {
      const what = `what answered is no hub: HTTP ${response.statusCode} without an envelope`;
      return { error: toEnvelope(refuse('store.unavailable', what)) };
    }
    return wantsTrace ? withTrace(answer) : answer;
  }

  return {
    call,
    mention: (name, input, signal) =>
      post(name, input, { clientVersion: null, wantsTrace: false, signal }).then(
        () => true,
        () => false,
      ),
    get target() {
      return target;
    },
    close: () => connections.close(),
  };
}

/** Whoever asked for a trace finds it beside the answer. */
function withTrace(answer: ToolAnswer): ToolAnswer {
  const { metadata, ...body } = ('ok' in answer ? answer.ok : answer.error) as Fields;
  if (!isFields(metadata)) return answer;
  return 'ok' in answer
    ? { ok: body, metadata }
    : { error: body as Fields & ErrorEnvelope, metadata };
}

function notRunning(target: Target): ToolAnswer {
  return unavailable(`no hub is running at ${placeOf(target)}; start it with: synod up`, target);
}

function unavailable(message: string, target: Target): ToolAnswer {
  return { error: toEnvelope(refuse('store.unavailable', message, { hub: placeOf(target) })) };
}

function placeOf({ url, socketPath }: Target): string {
  return socketPath ?? url.href.replace(/\/+$/, '');
}

/** What the client says; else the target's own, if the program was started in a trace. */
function traceHeader(traceparent: string | null | undefined): { traceparent?: string } {
  const read = readTraceparent(traceparent);
  return read === null ? {} : { traceparent: read };
}
