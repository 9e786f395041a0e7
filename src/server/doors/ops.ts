/**
 * `POST /v1/ops/<operation>` and `/health`: JSON in, JSON out; a refusal is the SOX envelope with the status of the
 * error table. It speaks with Node's own request and response: making a `Request` and a `Response` of them,
 * as the other routes do, costs more than most operations. What is too large is not read.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRefusal, refuse } from '../../core/law/decider.ts';
import type { Signal } from '../../hub/watch.ts';
import { findOperation } from '../../wire/operations/table.ts';
import { type Answer, refusalAnswer } from '../desk/answer.ts';
import type { Desk } from '../desk/desk.ts';
import type { ReportFailure } from '../desk/failure.ts';
import { cors, type Reply, reply, replyTo } from './http-reply.ts';
import { introductionOf, type OriginCheck } from './origin-check.ts';
import { sessionOnly, withSession } from './page/cookie.ts';
import { parseJson, passBy, readBody } from './request-body.ts';
import { holdWhileUnread } from './unread-answers.ts';

const CORRELATION_CHARS_MAX = 128;

export interface OpsDoorOptions {
  readonly desk: Desk;
  readonly origins: OriginCheck;
  readonly report: ReportFailure;
  /** Only sessions of the page are let in. */
  readonly isForPages?: boolean;
}

export interface OpsArrival {
  readonly isOwnerSocket: boolean;
  /** Over TLS. */
  readonly isSecure: boolean;
}

export type OpsDoor = (
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
  arrival: OpsArrival,
) => void;

/** Which operation a request is for, or that it asks for health; null when it is another route's. */
export function operationOf({ method, url = '' }: IncomingMessage): string | null {
  if (url === HEALTH && (method === 'GET' || method === 'HEAD')) return HEALTH;
  if (method !== 'POST' || !url.startsWith(PREFIX)) return null;
  const query = url.indexOf('?');
  const name = url.slice(PREFIX.length, query < 0 ? url.length : query);
  if (name === '' || name.includes('/')) return null;
  if (!name.includes('%')) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const PREFIX = '/v1/ops/';
/** No operation has such a name. */
const HEALTH = '/health';

export function createOpsDoor(options: OpsDoorOptions): OpsDoor {
  const { desk, origins } = options;
  let connections = 0;

  async function carryOut(
    name: string,
    request: IncomingMessage,
    response: ServerResponse,
    { isOwnerSocket, isSecure }: OpsArrival,
  ): Promise<Answer> {
    const { headers } = request;
    const shown = introductionOf(headers, `http-${++connections}`, isOwnerSocket);
    const session = withSession(shown, headers, isSecure);
    const caller = await desk.authenticate(options.isForPages ? sessionOnly(session) : session);
    if (isRefusal(caller)) return refusalAnswer(caller);
    holdWhileUnread(response, () => desk.holdPages(caller));
    const operation = findOperation(name);
    if (operation === undefined) {
      const message = `there is no operation ${name.slice(0, 64)}; see /openapi.json`;
      return refusalAnswer(refuse('operation.unknown', message));
    }
    const body = parseJson(await readBody(request));
    if (isRefusal(body)) return refusalAnswer(body);
    const correlationId = correlationIdOf(request);
    const wantsTrace = headers['x-sox-trace'] === '1';
    const traceparent = headers.traceparent as string | undefined;
    const signal = departure(response);
    if (correlationId === undefined && !wantsTrace) {
      return new Promise((resolve) => {
        desk.callThen(caller, operation, body.value, resolve, { signal, traceparent });
      });
    }
    return desk.call(caller, operation, body.value, {
      ...{ signal, wantsTrace, traceparent },
      ...(correlationId !== undefined && { correlationId }),
    });
  }

  return (name, request, response, arrival) => {
    const turned = origins.check(request.headers, arrival.isOwnerSocket);
    if (turned !== null) {
      const said = reply(turned.status, JSON.stringify(turned.envelope));
      return write(request, response, said, undefined);
    }
    if (name === HEALTH) {
      const health = desk.health();
      const said = reply(health.store_ok ? 200 : 503, JSON.stringify(health));
      return write(request, response, said, request.headers.origin);
    }
    void carryOut(name, request, response, arrival)
      .catch((cause: unknown) => {
        const what = `POST ${PREFIX}${name.slice(0, 64)} failed`;
        return refusalAnswer(options.report(what, cause, correlationIdOf(request)));
      })
      .then((answer) => write(request, response, replyTo(answer), request.headers.origin));
  };
}

function write(
  request: IncomingMessage,
  response: ServerResponse,
  said: Reply,
  /** One that is allowed by name. */
  origin: string | undefined,
): void {
  // It went away; nobody is owed the answer.
  if (response.destroyed) return;
  const { headers, status, text } = said;
  if (origin !== undefined) for (const [name, value] of cors(origin)) headers[name] = value;
  headers['content-length'] = String(Buffer.byteLength(text));
  response.writeHead(status, headers).end(text);
  if (!request.complete) passBy(request);
}

/** What the caller wants to find this call by, if it said so. */
function correlationIdOf({ headers }: IncomingMessage): string | undefined {
  const said = headers['x-correlation-id'];
  return (Array.isArray(said) ? said[0] : said)?.slice(0, CORRELATION_CHARS_MAX) || undefined;
}

/** That the caller has gone, for what waits on its behalf; nothing is made before something waits. */
function departure(response: ServerResponse): Signal {
  const listeners = new Map<() => void, () => void>();
  return {
    get aborted() {
      return response.destroyed;
    },
    addEventListener(_, listener) {
      const onClose = (): void => {
        if (!response.writableFinished) listener();
      };
      listeners.set(listener, onClose);
      response.once('close', onClose);
    },
    removeEventListener(_, listener) {
      const onClose = listeners.get(listener);
      if (onClose !== undefined) response.off('close', onClose);
    },
  };
}
