/**
 * Where one logs in over OAuth: the reference's five providers, with its variables. The id of an OAuth
 * app comes from whoever runs this; there is none of our own. Addresses are https, or on this machine.
 */
import { isObject, parseJson, textAt } from '../process/json-object.ts';
import { ProgramConfigError, readBounded } from './program-error.ts';

export interface OauthProvider {
  readonly id: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly scope: string;
  /** Beside what OAuth itself asks for. */
  readonly extra: Readonly<Record<string, string>>;
  readonly clientId: string;
  readonly clientSecret: string | null;
}

/** Agents of the public registry that take the provider's token; others are named at the login. */
export const PROVIDERS: Readonly<Record<string, readonly string[]>> = {
  github: ['github-copilot-cli'],
  google: ['gemini'],
  azure: [],
  cognito: [],
  oidc: [],
};

const ANSWER_BYTES_MAX = 262_144;
const ANSWER_MS = 30_000;
const LABEL = /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/;

type Environment = Readonly<Record<string, string | undefined>>;
type Addresses = Pick<OauthProvider, 'authorizeUrl' | 'tokenUrl' | 'scope' | 'extra'>;

export async function readProvider(id: string, env: Environment): Promise<OauthProvider> {
  if (!Object.hasOwn(PROVIDERS, id)) {
    const known = Object.keys(PROVIDERS).join(', ');
    throw new ProgramConfigError(`there is no provider ${JSON.stringify(id)}; there are ${known}`);
  }
  const prefix = `OAUTH_${id.toUpperCase()}`;
  const isOidc = id === 'oidc';
  const clientId = env[`${prefix}_CLIENT_ID`] || (isOidc && env.OIDC_CLIENT_ID) || '';
  if (clientId === '') {
    throw new ProgramConfigError(
      `${prefix}_CLIENT_ID is not set: make an OAuth app at ${id} with the callback ` +
        'http://127.0.0.1/callback, and put its client id there',
    );
  }
  const secret = env[`${prefix}_CLIENT_SECRET`] || (isOidc && env.OIDC_CLIENT_SECRET) || null;
  const addresses = await addressesOf(id, env);
  for (const url of [addresses.authorizeUrl, addresses.tokenUrl]) checkUrl(url);
  return { id, clientId, clientSecret: secret, ...addresses };
}

async function addressesOf(id: string, env: Environment): Promise<Addresses> {
  switch (id) {
    case 'github':
      return {
        authorizeUrl: 'https://github.com/login/oauth/authorize',
        tokenUrl: 'https://github.com/login/oauth/access_token',
        ...{ scope: 'read:user', extra: {} },
      };
    case 'google':
      return {
        authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
        tokenUrl: 'https://oauth2.googleapis.com/token',
        scope: 'openid profile email',
        // Without these there is no refresh token.
        extra: { access_type: 'offline', prompt: 'consent' },
      };
    case 'azure': {
      const tenant = label('AZURE_TENANT_ID', env.AZURE_TENANT_ID || 'common');
      const base = `https://login.microsoftonline.com/${tenant}/oauth2/v2.0`;
      const scope = 'openid profile offline_access';
      return { authorizeUrl: `${base}/authorize`, tokenUrl: `${base}/token`, scope, extra: {} };
    }
    case 'cognito': {
      const domain = label('COGNITO_USER_POOL_DOMAIN', env.COGNITO_USER_POOL_DOMAIN ?? '');
      const region = label('COGNITO_REGION', env.COGNITO_REGION || 'us-east-1');
      const base = `https://${domain}.auth.${region}.amazoncognito.com/oauth2`;
      const scope = 'openid profile';
      return { authorizeUrl: `${base}/authorize`, tokenUrl: `${base}/token`, scope, extra: {} };
    }
    default:
      return discover(env);
  }
}

function label(name: string, value: string): string {
  if (LABEL.test(value)) return value;
  throw new ProgramConfigError(`${name} must be set to letters, digits, dots and hyphens`);
}

async function discover(env: Environment): Promise<Addresses> {
  const more = { scope: 'openid profile offline_access', extra: {} };
  const { OIDC_ISSUER: issuer = '' } = env;
  const { OIDC_AUTHORIZATION_ENDPOINT: authorize, OIDC_TOKEN_ENDPOINT: token } = env;
  if (authorize && token) return { authorizeUrl: authorize, tokenUrl: token, ...more };
  if (issuer === '')
    throw new ProgramConfigError('OIDC_ISSUER is not set: it is the URL to log in at');
  checkUrl(issuer);
  const url = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  const found = await fetchJson(url, {});
  const [authorizeUrl, tokenUrl] = [
    textAt(found, 'authorization_endpoint'),
    textAt(found, 'token_endpoint'),
  ];
  if (textAt(found, 'issuer') !== issuer || authorizeUrl === undefined || tokenUrl === undefined) {
    throw new ProgramConfigError(`${url} does not describe ${issuer}`);
  }
  return { authorizeUrl, tokenUrl, ...more };
}

function checkUrl(url: string): void {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
  const isHere = protocol === 'http:' && /^(127\.0\.0\.1|localhost|\[::1\])$/.test(hostname);
  if (protocol === 'https:' || isHere) return;
  throw new ProgramConfigError(
    `${JSON.stringify(url)} is no https URL, and no login is sent elsewhere`,
  );
}

/** Not redirected, bounded in time and size; what comes back is not shown, since it may be a token. */
export async function fetchJson(url: string, init: RequestInit): Promise<unknown> {
  const host = new URL(url).host;
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const response = await fetch(url, { ...init, redirect: 'error', signal });
    const tooLong = (): Error => new Error(`it sent more than ${ANSWER_BYTES_MAX} bytes`);
    const value = parseJson(await readBounded(response.body ?? [], ANSWER_BYTES_MAX, tooLong));
    if (!isObject(value)) throw new Error(`it answered ${response.status} without a JSON object`);
    return value;
  } catch (cause) {
    const why = cause instanceof Error ? ((cause.cause as Error)?.message ?? cause.message) : '';
    throw new ProgramConfigError(`${host} could not be asked: ${why}`, { cause });
  }
}
