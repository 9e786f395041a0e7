/**
 * What is looked at before anything else, on every route and every upgrade: the
 * Host must be ours (a rebound name is not), and a web page's Origin must be
 * allowed by name [I6]. A request without an Origin is no browser's cross-site
 * request; it still needs its credential.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorEnvelope } from '../../wire/errors.ts';
import type { Introduction } from '../desk/caller.ts';

export interface OriginCheckOptions {
  /** Host names (without port) that are ours, besides loopback. */
  readonly allowedHosts: readonly string[];
  /** Origins of web pages that may call: exact, or with `*` for the port. */
  readonly corsOrigins: readonly string[];
  /** Our own pages come over TLS. */
  readonly isSecure?: boolean;
}

export interface TurnedAway {
  readonly status: number;
  readonly envelope: ErrorEnvelope;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

export interface OriginCheck {
  /** Null when the request may come in. */
  check(headers: IncomingHttpHeaders, isOwnerSocket: boolean): TurnedAway | null;
  isAllowedOrigin(origin: string, host: string | undefined): boolean;
}

export function createOriginCheck(options: OriginCheckOptions): OriginCheck {
  const hosts = new Set([...LOOPBACK, ...options.allowedHosts.map(hostName)]);
  const scheme = options.isSecure ? 'https' : 'http';
  const origins = options.corsOrigins.map((origin) => origin.toLowerCase());

  function isOurHost(host: string | undefined): boolean {
    return host !== undefined && hosts.has(host.toLowerCase().replace(/:\d+$/, ''));
  }

  function isAllowedOrigin(origin: string, host: string | undefined): boolean {
    const asked = origin.toLowerCase();
    // Our own pages: same scheme-host-port as the Host that was just found to be ours.
    if (host !== undefined && isOurHost(host) && asked === `${scheme}://${host.toLowerCase()}`)
      return true;
    return origins.some((allowed) =>
      allowed.endsWith(':*')
        ? asked.replace(/:\d+$/, '') === allowed.slice(0, -2)
        : asked === allowed,
    );
  }

  return {
    isAllowedOrigin,
    check(headers, isOwnerSocket) {
      const { host, origin } = headers;
      if (!isOwnerSocket && !isOurHost(host)) {
        return turned(
          421,
          'host.foreign',
          `the Host header names ${quote(host)}, which is not this hub; if the name is yours, start with --allow-host`,
        );
      }
      // An image or a link of a page names no origin, and browsers say that it is another site's.
      if (origin === undefined && /^(cross|same)-site$/.test(String(headers['sec-fetch-site']))) {
        const message = 'pages of other sites may not call this hub; allow the origin by name';
        return turned(403, 'origin.foreign', message);
      }
      if (origin !== undefined && !isAllowedOrigin(origin, host)) {
        return turned(
          403,
          'origin.foreign',
          `pages of ${quote(origin)} may not call this hub; allow the origin by name`,
        );
      }
      return null;
    },
  };
}

/** As a Host header spells it: in lower case, an IPv6 address in brackets. */
function hostName(host: string): string {
  const name = host.toLowerCase();
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
}

/** What the headers say about who is calling; believed by nobody until the desk has looked. */
export function introductionOf(
  headers: IncomingHttpHeaders,
  connectionId: string,
  isOwnerSocket: boolean,
): Introduction {
  const bearer = /^Bearer\s+(.+)$/i.exec(headers.authorization ?? '')?.[1]?.trim() ?? null;
  return {
    token: bearer,
    agent: one(headers['x-sox-agent-id']),
    space: one(headers['x-sox-namespace']),
    clientVersion: one(headers['x-sox-client-version']),
    isOwnerSocket,
    wantsOwner: headers['x-synod-owner'] === '1',
    isPerson: headers['x-synod-person'] === '1',
    transport: headers['x-sox-transport'] === 'stdio' ? 'stdio' : 'http',
    connectionId,
  };
}

function one(header: string | string[] | undefined): string | null {
  const value = Array.isArray(header) ? header[0] : header;
  return value === undefined || value === '' ? null : value;
}

function quote(text: string | undefined): string {
  return JSON.stringify((text ?? '').slice(0, 100));
}

function turned(status: number, reason: string, message: string): TurnedAway {
  return { status, envelope: { error_code: 'identity_failure', message, detail: { reason } } };
}
