/**
 * HTTP and sockets by way of the guard: the connection goes to the addresses of the decision, whatever the
 * name says by then [PO7]. Every redirection is asked about anew; what is secret stays with the origin it
 * was meant for.
 */
import type { IncomingMessage, RequestOptions } from 'node:http';
import { isIP, type LookupFunction, connect as netConnect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { GuardCode, GuardDecision } from './decision.ts';

const REDIRECTS_MAX = 5;
const REDIRECTING = [301, 302, 303, 307, 308];
/** Meant for one origin. */
const SECRETS = ['authorization', 'cookie', 'proxy-authorization'];
/** What the connection says about itself. */
const HOP_BY_HOP = ['connection', 'host', 'transfer-encoding', 'upgrade', 'content-length'];

/**
 * How a guarded request is made.
 *
 * @example
 * ```ts
 * const options: FetchOptions = { method: 'POST', body: '{}', redirect: 'error' };
 * ```
 */
export interface FetchOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** `follow` unless it says, at most five times. */
  readonly redirect?: 'follow' | 'manual' | 'error';
  /** Besides those that the machine trusts. */
  readonly ca?: string;
}

/** Asks, and throws unless it is allowed. */
export type AskConnect = (url: string, method: string) => Promise<GuardDecision>;
export type Refuse = (code: GuardCode, what: string, why: string) => never;

export async function fetchGuarded(
  ask: AskConnect,
  refuse: Refuse,
  url: string,
  options: FetchOptions,
): Promise<Response> {
  let at = new URL(url);
  let method = (options.method ?? 'GET').toUpperCase();
  let body = options.body;
  let headers = cleaned(options.headers ?? {});
  for (let hops = 0; ; hops++) {
    const decision = await ask(at.href, method);
    const answer = await send(at, { ...options, method, headers }, body, decision);
    const status = answer.statusCode ?? 0;
    const { location } = answer.headers;
    const isLeading = REDIRECTING.includes(status) && location !== undefined;
    if (!isLeading || options.redirect === 'manual') return responseOf(answer, at);
    answer.destroy();
    const next = URL.parse(location, at.href);
    if (next === null || !/^https?:$/.test(next.protocol)) {
      refuse('guard.redirect', at.href, 'it redirects to what is no address of HTTP');
    }
    if (options.redirect === 'error' || hops >= REDIRECTS_MAX) {
      refuse('guard.redirect', at.href, `it redirects${hops === 0 ? '' : ` ${hops + 1} times`}`);
    }
    if (status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST') {
      [method, body] = ['GET', undefined];
      headers = without(headers, ['content-type']);
    }
    if (next.origin !== at.origin) headers = without(headers, SECRETS);
    at = next;
  }
}

function cleaned(headers: Readonly<Record<string, string>>): Record<string, string> {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return without(Object.fromEntries(lower), HOP_BY_HOP);
}

function without(
  headers: Record<string, string>,
  names: readonly string[],
): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

function send(
  url: URL,
  { method, headers, signal, ca }: FetchOptions,
  body: string | Uint8Array | undefined,
  { addresses = [] }: GuardDecision,
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    ...(method !== undefined && { method }),
    headers: {
      ...{ accept: '*/*', 'accept-encoding': 'identity', ...headers },
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    },
    ...(signal !== undefined && { signal }),
    ...(ca !== undefined && { ca }),
    lookup: pinnedTo(addresses),
    // A connection that was kept open was opened for another decision.
    agent: false,
  };
  return new Promise((resolve, reject) => {
    // Brought when it is used: TLS is a tenth of the start of whoever only might.
    const kind = url.protocol === 'https:' ? 'node:https' : 'node:http';
    const request = process.getBuiltinModule(kind).request(url, options, resolve);
    request.once('error', reject);
    request.end(body);
  });
}

/** Answers any name with the addresses of the decision. */
export function pinnedTo(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, done) => {
    const [first] = all;
    if (first === undefined) return done(new Error('the decision names no address'), '', 0);
    return options.all === true ? done(null, all) : done(null, first.address, first.family);
  };
}

function responseOf(answer: IncomingMessage, url: URL): Response {
  const headers = new Headers();
  for (let at = 0; at + 1 < answer.rawHeaders.length; at += 2) {
    headers.append(answer.rawHeaders[at] ?? '', answer.rawHeaders[at + 1] ?? '');
  }
  const status = answer.statusCode ?? 500;
  const isEmpty = [204, 205, 304].includes(status) || answer.method === 'HEAD';
  if (isEmpty) answer.resume();
  const body = isEmpty ? null : (Readable.toWeb(answer) as unknown as ReadableStream);
  const response = new Response(body, { status, headers });
  Object.defineProperty(response, 'url', { value: url.href });
  return response;
}

/**
 * Where a guarded connection goes, and how.
 *
 * @example
 * ```ts
 * const database: ConnectOptions = { host: 'db.example.com', port: 5432, tls: true };
 * ```
 */
export interface ConnectOptions {
  readonly host: string;
  readonly port: number;
  readonly tls?: boolean;
  readonly signal?: AbortSignal;
  readonly ca?: string;
}

/** A socket that is connected. */
export function connectPinned(options: ConnectOptions, decision: GuardDecision): Promise<Socket> {
  const { host, port, tls = false, signal, ca } = options;
  const lookup = pinnedTo(decision.addresses ?? []);
  return new Promise((resolve, reject) => {
    const socket: Socket = tls
      ? process.getBuiltinModule('node:tls').connect({
          host,
          port,
          lookup,
          ...(isIP(host) === 0 && { servername: host }),
          ...(ca !== undefined && { ca }),
        })
      : netConnect({ host, port, lookup });
    const stop = (): void => void socket.destroy(new Error('given up'));
    signal?.addEventListener('abort', stop, { once: true });
    socket.once('error', reject);
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      signal?.removeEventListener('abort', stop);
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
