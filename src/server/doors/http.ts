/**
 * The HTTP door for all but operations, and health, which have a door of their own (`ops.ts`):
 * `/openapi.json`, hooks, and `/mcp` and the page when it is given a handler for them.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Hono } from 'hono';
import { isRefusal, refuse } from '../../core/law/decider.ts';
import { NONCE_PATTERN, PROOF_PATH, proofText } from '../../wire/proof.ts';
import type { Answer } from '../desk/answer.ts';
import { refusalAnswer } from '../desk/answer.ts';
import type { Caller } from '../desk/caller.ts';
import type { Desk } from '../desk/desk.ts';
import type { ReportFailure } from '../desk/failure.ts';
import type { HookHandler } from '../hooks/door.ts';
import { cors, reply, replyTo } from './http-reply.ts';
import { openApi } from './openapi.ts';
import { introductionOf, type OriginCheck } from './origin-check.ts';
import type { PageDoor } from './page/door.ts';
import { parseJson, type ReadBody } from './request-body.ts';

export type McpHandler = (
  request: Request,
  caller: Caller | Answer,
  toolset: string | null,
  readBody: () => Promise<ReadBody>,
) => Promise<Response>;

export interface HttpDoorOptions {
  readonly desk: Desk;
  readonly origins: OriginCheck;
  readonly report: ReportFailure;
  readonly version: string;
  readonly mcp: McpHandler | null;
  readonly metrics?: MetricsRoute | null;
  /** What answers the hooks of coding agents. */
  readonly hooks?: HookHandler | null;
  /** The page for people. */
  readonly page?: PageDoor | null;
  /** The owner's credential, to prove to its clients that this is their hub. */
  readonly credential?: string;
}

export interface MetricsRoute {
  /** Null asks for the normal credential. */
  readonly token: string | null;
  read(): Promise<{ readonly contentType: string; readonly text: string }>;
}

export type HttpDoor = (request: Request, arrival: Arrival) => Promise<Response>;

/** What a request does not say of itself, and its headers as they came: making others of them costs more than most calls. */
export interface Arrival {
  readonly isOwnerSocket: boolean;
  /** Over TLS. */
  readonly isSecure?: boolean;
  readonly headers: IncomingHttpHeaders;
  /** Once, and before anything is read of the request itself. */
  readBody(): Promise<ReadBody>;
  /** Whose answer it will be, as `holdWhileUnread` has it. */
  owedTo(hold: () => () => void): void;
}

export function createHttpDoor(options: HttpDoorOptions): HttpDoor {
  const { desk, origins } = options;
  let connections = 0;
  const app = new Hono<{ Bindings: Arrival }>();

  app.use('*', async (c, next) => {
    const headers = c.env.headers;
    const turned = origins.check(headers, c.env.isOwnerSocket);
    if (turned !== null) return json(turned.status, turned.envelope);
    const origin = c.req.header('origin');
    // Preflight comes before authentication; an origin that got this far is allowed by name.
    if (c.req.method === 'OPTIONS') return preflight(origin);
    await next();
    if (origin !== undefined)
      for (const [name, value] of cors(origin)) c.res.headers.set(name, value);
    return undefined;
  });

  // For clients that will show the credential only to who knows it; a signature tells nobody the key.
  app.get(PROOF_PATH, (c) => {
    const nonce = c.req.query('nonce') ?? '';
    if (options.credential === undefined || !NONCE_PATTERN.test(nonce)) return notFound();
    const proof = createHmac('sha256', options.credential).update(proofText(nonce)).digest('hex');
    return json(200, { proof });
  });

  app.get('/openapi.json', () => json(200, openApi(options.version)));

  app.all('/mcp', async (c) => {
    if (options.mcp === null) return notFound();
    const introduction = introductionOf(c.env.headers, `mcp-${++connections}`, c.env.isOwnerSocket);
    const caller = await desk.authenticate(introduction);
    // Where names are taken at their word an unknown one may shake hands; each tool call then says no.
    if (isRefusal(caller) && !desk.isOpenMode) return answered(refusalAnswer(caller));
    if (!isRefusal(caller)) c.env.owedTo(() => desk.holdPages(caller));
    return options.mcp(
      c.req.raw,
      isRefusal(caller) ? refusalAnswer(caller) : caller,
      c.req.query('tools') ?? null,
      () => c.env.readBody(),
    );
  });

  app.on(['GET', 'POST'], '/v1/hooks/:vendor/:what?', async (c) => {
    if (options.hooks == null) return notFound();
    const request = c.req.raw;
    const headers = c.env.headers;
    const connection = `hooks-${++connections}`;
    const introduction = introductionOf(headers, connection, c.env.isOwnerSocket);
    const caller = await desk.authenticate(introduction);
    if (isRefusal(caller)) return answered(refusalAnswer(caller));
    const read = request.method === 'POST' ? parseJson(await c.env.readBody()) : { value: {} };
    // A hook that sent no JSON is met with silence; what is too large was not read.
    if (isRefusal(read) && read.refused !== 'input.not-json') return answered(refusalAnswer(read));
    const { vendor, what = '' } = c.req.param();
    const body = isRefusal(read) ? undefined : read.value;
    const answer = await options.hooks({ caller, request, vendor, what, body });
    if (answer === null) return notFound();
    return isRefusal(answer) ? answered(refusalAnswer(answer)) : answer;
  });

  for (const path of ['/', '/assets/*']) {
    app.get(
      path,
      async (c) => (await options.page?.serve(c.req.path, c.env.headers)) ?? notFound(),
    );
  }

  app.on('GET', '/in/:secret', async (c) => {
    // To look at the head of an answer must not spend the link.
    if (options.page == null || c.req.method !== 'GET') return notFound();
    return options.page.enter(c.req.param('secret'), c.env.headers, c.env.isSecure ?? false);
  });

  app.get('/metrics', async (c) => {
    const { metrics } = options;
    if (metrics == null) return notFound();
    const headers = c.env.headers;
    const introduction = introductionOf(headers, `metrics-${++connections}`, c.env.isOwnerSocket);
    if (metrics.token === null) {
      const caller = await desk.authenticate(introduction);
      if (isRefusal(caller)) return answered(refusalAnswer(caller));
    } else if (!isSameText(metrics.token, introduction.token ?? '')) {
      return answered(
        refusalAnswer(refuse('access.unknown', 'metrics are shown for their own token alone')),
      );
    }
    const { contentType, text } = await metrics.read();
    return new Response(text, {
      headers: { 'content-type': contentType, 'cache-control': 'no-store' },
    });
  });

  app.notFound(() => notFound());
  app.onError((cause, c) => {
    const what = `${c.req.method} ${c.req.path} failed`;
    return answered(refusalAnswer(options.report(what, cause, correlationIdOf(c.req.raw))));
  });

  return async (request, arrival) => app.fetch(request, arrival);
}

/** What the caller wants to find this call by, if it said so. */
function correlationIdOf(request: Request): string | undefined {
  return request.headers.get('x-correlation-id')?.slice(0, 128) || undefined;
}

/** In the same time whatever differs. */
function isSameText(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

function answered(answer: Answer): Response {
  const { status, headers, text } = replyTo(answer);
  return new Response(text, { status, headers });
}

function notFound(): Response {
  return answered(
    refusalAnswer(
      refuse('operation.unknown', 'no such route; see /openapi.json for those there are'),
    ),
  );
}

function json(status: number, value: unknown): Response {
  const { headers, text } = reply(status, JSON.stringify(value));
  return new Response(text, { status, headers });
}

function preflight(origin: string | undefined): Response {
  if (origin === undefined) return new Response(null, { status: 204 });
  return new Response(null, {
    status: 204,
    headers: [
      ...cors(origin),
      ['access-control-allow-methods', 'GET, POST, DELETE, OPTIONS'],
      [
        'access-control-allow-headers',
        'authorization, content-type, last-event-id, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, x-sox-agent-id, x-sox-namespace, x-sox-client-version, x-sox-trace, x-correlation-id, traceparent',
      ],
      ['access-control-max-age', '600'],
    ],
  });
}
