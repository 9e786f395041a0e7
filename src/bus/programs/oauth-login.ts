/**
 * One login over OAuth 2.1: a page in the browser, a callback on this machine, PKCE and state, so that
 * a code that somebody else caught or sent is worth nothing. It waits five minutes and shows no token.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { textAt } from '../process/json-object.ts';
import { fetchJson, type OauthProvider } from './oauth-provider.ts';
import { ProgramConfigError, quoted } from './program-error.ts';

export interface OauthTokens {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  /** Unix milliseconds; null when the provider does not say. */
  readonly expiresAt: number | null;
  readonly scope: string;
}

type TokenEndpoint = Pick<OauthProvider, 'tokenUrl' | 'clientId' | 'clientSecret'>;

const LOGIN_MS = 300_000;

export async function login(
  provider: OauthProvider,
  /** Shows the page to the person. */
  open: (url: string) => void,
  timeoutMs: number = LOGIN_MS,
): Promise<OauthTokens> {
  const verifier = randomBytes(48).toString('base64url');
  const state = randomBytes(24).toString('base64url');
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const redirectUri = `http://127.0.0.1:${port}/callback`;
    const url = new URL(provider.authorizeUrl);
    const asked = {
      ...{ response_type: 'code', client_id: provider.clientId, redirect_uri: redirectUri },
      ...{ scope: provider.scope, state, code_challenge_method: 'S256' },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      ...provider.extra,
    };
    for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
    const called = codeOf(server, state, timeoutMs);
    open(url.href);
    const code = await called;
    return await requestTokens(provider, {
      ...{ grant_type: 'authorization_code', code, code_verifier: verifier },
      redirect_uri: redirectUri,
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** The code of the one callback that knows the state; any other is refused, and waited past. */
function codeOf(server: Server, state: string, timeoutMs: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  promise.catch(() => {});
  const timer = setTimeout(() => {
    reject(new ProgramConfigError(`nobody logged in within ${timeoutMs / 1_000} s; try again`));
  }, timeoutMs);
  const { port } = server.address() as AddressInfo;
  server.on('request', (request, response) => {
    const query = queryOf(request, port);
    const isOurs = query !== null && isSame(query.get('state') ?? '', state);
    response.writeHead(isOurs ? 200 : 400, {
      ...{ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
      connection: 'close',
    });
    response.end(
      isOurs ? 'You can close this window.\n' : 'This is not the login that was begun.\n',
    );
    if (!isOurs) return;
    const code = query.get('code');
    const error = query.get('error');
    // After the page is written: closing the server would cut it off.
    response.once('close', () => {
      clearTimeout(timer);
      if (code !== null && error === null) resolve(code);
      else reject(new ProgramConfigError(`the login was refused: ${quoted(error ?? 'no code')}`));
    });
  });
  return promise.finally(() => clearTimeout(timer));
}

function queryOf(
  { method, url = '', headers }: IncomingMessage,
  port: number,
): URLSearchParams | null {
  const { pathname, searchParams } = new URL(url, `http://127.0.0.1:${port}`);
  const isCallback = method === 'GET' && pathname === '/callback';
  return isCallback && headers.host === `127.0.0.1:${port}` ? searchParams : null;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export function refresh(provider: TokenEndpoint, refreshToken: string): Promise<OauthTokens> {
  return requestTokens(provider, { grant_type: 'refresh_token', refresh_token: refreshToken });
}

async function requestTokens(
  { tokenUrl, clientId, clientSecret }: TokenEndpoint,
  grant: Readonly<Record<string, string>>,
): Promise<OauthTokens> {
  const body = new URLSearchParams({
    ...grant,
    client_id: clientId,
    ...(clientSecret !== null && { client_secret: clientSecret }),
  });
  const answer = await fetchJson(tokenUrl, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body,
  });
  const accessToken = textAt(answer, 'access_token');
  // A control character would end a header.
  if (accessToken === undefined || !/^[\x21-\x7e]+$/.test(accessToken)) {
    const why = textAt(answer, 'error_description') ?? textAt(answer, 'error') ?? 'no access_token';
    throw new ProgramConfigError(`${new URL(tokenUrl).host} gave no token: ${quoted(why)}`);
  }
  const { expires_in: seconds } = answer as { expires_in?: unknown };
  return {
    accessToken,
    refreshToken: textAt(answer, 'refresh_token') ?? null,
    expiresAt: typeof seconds === 'number' && seconds > 0 ? Date.now() + seconds * 1_000 : null,
    scope: textAt(answer, 'scope') ?? '',
  };
}
