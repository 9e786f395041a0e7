/**
 * The cookie half of a browser's session. It counts at `/ws` and `/v1/ops` alone, for the hub's own page
 * alone, and where nothing else is shown [WD4]: a browser sends it with whatever a page of another port
 * of this machine asks for. Cookies ignore ports, so that its name carries one.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Introduction } from '../../desk/caller.ts';
import { PAGE_HALF } from '../../desk/identity.ts';
import { type OpenedSession, webSessionToken } from '../../desk/web-sessions.ts';

/** The introduction with the session's token in it, where the page and its cookie make one. */
export function withSession(
  introduction: Introduction,
  headers: IncomingHttpHeaders,
  isSecure: boolean,
): Introduction {
  const { token, agent, isOwnerSocket } = introduction;
  if (isOwnerSocket || agent !== null || !token?.startsWith(PAGE_HALF)) return introduction;
  if (!isOwnPage(headers, isSecure)) return introduction;
  const cookie = readCookie(headers.cookie ?? '', cookieName(headers.host, isSecure));
  const whole = cookie === null ? null : webSessionToken(cookie, token);
  return whole === null ? introduction : { ...introduction, token: whole, isSession: true };
}

/** At a door for pages nothing else is looked at: no token, no name, whatever the hub takes elsewhere [WD8]. */
export function sessionOnly(introduction: Introduction): Introduction {
  if (introduction.isSession) return introduction;
  return { ...introduction, token: PAGE_HALF, agent: null };
}

/** Said by the browser of a page that this very door served; a request that names no origin is none. */
function isOwnPage(headers: IncomingHttpHeaders, isSecure: boolean): boolean {
  const { host, origin } = headers;
  const site = headers['sec-fetch-site'];
  if (host === undefined || (site !== undefined && site !== 'same-origin')) return false;
  return origin === `${isSecure ? 'https' : 'http'}://${host.toLowerCase()}`;
}

/** Host-only, gone from scripts, and not sent for other sites. */
export function cookieHeader(
  session: OpenedSession,
  host: string | undefined,
  isSecure: boolean,
): string {
  const age = Math.floor(session.maxAgeMs / 1000);
  const parts = [`${cookieName(host, isSecure)}=${session.cookie}`, 'Path=/', `Max-Age=${age}`];
  return [...parts, 'HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])].join('; ');
}

function cookieName(host: string | undefined, isSecure: boolean): string {
  const port = /:(\d+)$/.exec(host ?? '')?.[1] ?? '';
  return `${isSecure ? '__Host-' : ''}synod-${port}`;
}

/** One that is there twice is nobody's: another program of this machine may have set the second. */
function readCookie(header: string, name: string): string | null {
  const found = header.split(';').flatMap((one) => {
    const [key, ...value] = one.trim().split('=');
    return key === name ? [value.join('=')] : [];
  });
  return found.length === 1 ? (found[0] as string) : null;
}
