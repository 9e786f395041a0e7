/**
 * A provider of our own to log in at: OpenID discovery, an authorize page that sends the browser back, and
 * tokens for codes whose PKCE verifier fits. Its lifetime, and whether its person agrees, can be changed.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OauthServer {
  readonly issuer: string;
  readonly env: Readonly<Record<string, string>>;
  /** What the token endpoint was asked. */
  readonly asked: URLSearchParams[];
  /** How often the page was shown. */
  pages: number;
  lifetime: number;
  isAgreed: boolean;
  /** Whose challenge a code was made with. */
  readonly challenges: Map<string, string>;
  close(): void;
}

export async function openOauthServer(): Promise<OauthServer> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { pathname, searchParams: shown } = new URL(request.url ?? '', issuer);
    const answer = (value: object): void => void response.end(JSON.stringify(value));
    if (pathname === '/.well-known/openid-configuration') {
      const [authorize, token] = [`${issuer}/authorize`, `${issuer}/token`];
      return answer({ issuer, authorization_endpoint: authorize, token_endpoint: token });
    }
    if (pathname === '/authorize') {
      state.pages += 1;
      const code = `code-${state.pages}`;
      state.challenges.set(code, shown.get('code_challenge') ?? '');
      const back = new URL(shown.get('redirect_uri') ?? '');
      const query = state.isAgreed ? { code } : { error: 'access_denied' };
      for (const [name, value] of Object.entries({ ...query, state: shown.get('state') ?? '' })) {
        back.searchParams.set(name, value);
      }
      response.writeHead(302, { location: back.href }).end();
      return;
    }
    const form = new URLSearchParams(body);
    state.asked.push(form);
    const verifier = form.get('code_verifier') ?? '';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const isKnown =
      form.get('grant_type') === 'refresh_token'
        ? form.get('refresh_token') === 'refresh-1'
        : state.challenges.get(form.get('code') ?? '') === challenge;
    if (!isKnown) return answer({ error: 'invalid_grant' });
    answer({
      access_token: `token-${state.asked.length}`,
      refresh_token: 'refresh-1',
      expires_in: state.lifetime,
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state: OauthServer = {
    issuer,
    env: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'my-app' },
    ...{ asked: [], pages: 0, lifetime: 3_600, isAgreed: true, challenges: new Map() },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return state;
}
