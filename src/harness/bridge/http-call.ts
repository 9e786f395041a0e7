/**
 * Calls to a hub over HTTP or its Unix socket, for the bridge. A hub that cannot be
 * reached yet is tried again for a bounded time, because then nothing was sent; once
 * a call has left, it is never sent twice [MC9]. A hub that is down is a refusal that
 * says so and how to start it.
 */
import { Agent, type IncomingMessage, request } from 'node:http';
import { request as requestSecurely, Agent as SecureAgent } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { refuse } from '../../core/law/decider.ts';
import { type ErrorEnvelope, toEnvelope } from '../../wire/errors.ts';
import { parseJson, waitMsOf } from '../../wire/mcp/messages.ts';
import type { ToolAnswer } from '../../wire/mcp/result.ts';
import type { CallOptions } from '../../wire/mcp/server.ts';
import { findOperation } from '../../wire/operations/table.ts';
import type { HubCall } from './stdio.ts';

export interface HubAddress {
  /** What messages call it, and where it is unless there is a socket. May have a path. */
  readonly url: string;
  readonly socketPath?: string | undefined;
  readonly token?: string | undefined;
}

export interface HttpCallOptions extends HubAddress {
  readonly agent?: string | undefined;
  readonly space?: string | undefined;
  /** SOX_CLIENT_VERSION; a request's own wins. */
  readonly clientVersion?: string | undefined;
  /** SOX_TRACE. */
  readonly wantsTrace?: boolean | undefined;
  /** As plugins see it. */
  readonly transportHint?: 'stdio' | undefined;
  /** How long an unreachable hub is tried. */
  readonly reachMs?: number | undefined;
  /** Asked when the hub is not there: where it is now, perhaps after starting it. */
  relocate?(): Promise<HubAddress | null>;
}

export interface HttpCall {
  readonly call: HubCall;
  /**
   * One attempt where the hub was found last, for what nobody waits for: it looks for no other
   * hub and starts none. False when no answer came; a refusal is an answer.
   */
  mention(name: string, input: unknown, signal: AbortSignal): Promise<boolean>;
  /** Where the hub was found last. */
  readonly address: HubAddress;
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
  const plain = new Agent({ keepAlive: true, maxFreeSockets: 4 });
  const secure = new SecureAgent({ keepAlive: true, maxFreeSockets: 4 });
  let address: HubAddress = options;

  async function call(name: string, input: unknown, asked: CallOptions): Promise<ToolAnswer> {
    const deadline = performance.now() + reachMs;
    const deadlineMs = ANSWER_MS + waitMsOf({ name: findOperation(name)?.name ?? name }, input);
    for (let retryMs = RETRY_FIRST_MS; ; retryMs = Math.min(2 * retryMs, RETRY_MOST_MS)) {
      const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(deadlineMs)]);
      try {
        return await post(name, input, { ...asked, signal });
      } catch (error) {
        if (asked.signal.aborted) return unavailable('the call was cancelled', address);
        if (signal.aborted) return unavailable(`the hub did not answer ${name} in time`, address);
        if (!UNREACHED.has((error as NodeJS.ErrnoException).code ?? '')) {
          return unavailable(
            `the connection to the hub broke during ${name}; it may have been carried out`,
            address,
          );
        }
        if (performance.now() + retryMs > deadline) return notRunning(address);
        await pause(retryMs);
        address = (await relocate?.()) ?? address;
      }
    }
  }

  function post(name: string, input: unknown, asked: CallOptions): Promise<ToolAnswer> {
    const wantsTrace = asked.wantsTrace || options.wantsTrace === true;
    const clientVersion = asked.clientVersion ?? options.clientVersion;
    const body = Buffer.from(JSON.stringify(input));
    const { socketPath } = address;
    const { url, isSecure } = routeOf(address, `v1/ops/${encodeURIComponent(name)}`);
    const ask = isSecure ? requestSecurely : request;
    return new Promise((resolve, reject) => {
      ask(
        url,
        {
          method: 'POST',
          agent: isSecure ? secure : plain,
          signal: asked.signal,
          ...(socketPath !== undefined && { socketPath }),
          headers: {
            'Content-Type': 'application/json',
            'Content-Length': body.length,
            ...hubHeaders(options, address),
            ...(clientVersion !== undefined && { 'X-SOX-Client-Version': clientVersion }),
            ...(wantsTrace && { 'X-SOX-Trace': '1' }),
          },
        },
        (response) => {
          readAnswer(response, wantsTrace).then(resolve, reject);
        },
      )
        .once('error', reject)
        .end(body);
    });
  }

  return {
    call,
    mention: (name, input, signal) =>
      post(name, input, { clientVersion: null, wantsTrace: false, signal }).then(
        () => true,
        () => false,
      ),
    get address() {
      return address;
    },
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}

/** Who is calling, as the hub's doors read it. */
export function hubHeaders(
  { agent, space, transportHint }: HttpCallOptions,
  { token }: HubAddress,
): Record<string, string> {
  return {
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(agent !== undefined && { 'X-SOX-Agent-ID': agent }),
    ...(space !== undefined && { 'X-SOX-Namespace': space }),
    ...(transportHint !== undefined && { 'X-SOX-Transport': transportHint }),
  };
}

export function routeOf(address: HubAddress, path: string): { url: URL; isSecure: boolean } {
  const url = new URL(address.url);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  const isSecure = url.protocol === 'https:' && address.socketPath === undefined;
  if (!isSecure) url.protocol = 'http:';
  return { url, isSecure };
}

async function readAnswer(response: IncomingMessage, wantsTrace: boolean): Promise<ToolAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const value = parseJson(Buffer.concat(chunks).toString('utf8'));
  const isOk = response.statusCode === 200;
  if (!isObject(value) || isOk === 'error_code' in value) {
    const what = `what answered is no hub: HTTP ${response.statusCode} without an envelope`;
    return { error: toEnvelope(refuse('store.unavailable', what)) };
  }
  const { metadata, ...rest } = value;
  const split = wantsTrace && isObject(metadata) ? { body: rest, metadata } : { body: value };
  const { body, ...about } = split;
  return isOk ? { ok: body, ...about } : { error: body as unknown as ErrorEnvelope, ...about };
}

function notRunning(address: HubAddress): ToolAnswer {
  return unavailable(`no hub is running at ${placeOf(address)}; start it with: synod up`, address);
}

function unavailable(message: string, address: HubAddress): ToolAnswer {
  return { error: toEnvelope(refuse('store.unavailable', message, { hub: placeOf(address) })) };
}

function placeOf({ url, socketPath }: HubAddress): string {
  return socketPath ?? url.replace(/\/+$/, '');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
