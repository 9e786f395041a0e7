/** Which JetStream a log lies in, and what is asked of it. */

export interface NatsPlace {
  /** `host:port`, one or more of one cluster. */
  readonly servers: readonly string[];
  /** Before every stream and subject, so that two hubs share a cluster without meeting. */
  readonly prefix: string;
  readonly replicas: number;
  /** `strict`: refuse to open what may lose an acknowledged write with one machine. */
  readonly durability: 'strict' | 'relaxed';
  /** Where a server tells its settings (`http://host:8222`): the one way to see when it writes to its disk. */
  readonly monitor: string | null;
  readonly user: string | null;
  readonly password: string | null;
  readonly token: string | null;
  /** A credentials file, as `nsc` writes it. */
  readonly credentials: string | null;
  /** A file with the private half of a key that NATS knows (`SU…`). */
  readonly nkey: string | null;
  readonly tls: { readonly ca: string | null } | null;
}

const PREFIX = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/;
const REPLICAS = /^[1-5]$/;
const DEFAULT_REPLICAS = 3;
const PORT = 4222;
const OPTIONS: ReadonlySet<string> = new Set([
  ...['replicas', 'durability', 'monitor', 'token', 'creds', 'nkey', 'tls', 'ca'],
]);

/** Null when the text is no such URL; what it says must all be understood. */
export function parseNatsUrl(text: string): NatsPlace | null {
  const [, who, hosts = '', prefix = '', query = ''] =
    /^nats:\/\/(?:([^@/\s]*)@)?([^/?#\s]+)\/([^/?#\s]+)(?:\?([^#\s]*))?$/.exec(text) ?? [];
  const servers = hosts.split(',').map(serverOf);
  if (!PREFIX.test(prefix) || servers.includes(null)) return null;
  const options = new URLSearchParams(query);
  for (const name of options.keys()) {
    if (!OPTIONS.has(name) || options.getAll(name).length > 1) return null;
  }
  const replicas = options.get('replicas') ?? String(DEFAULT_REPLICAS);
  const durability = options.get('durability') ?? 'strict';
  if (!REPLICAS.test(replicas) || (durability !== 'strict' && durability !== 'relaxed'))
    return null;
  const [user = null, password = null] = who === undefined ? [] : who.split(':').map(decoded);
  const hasTls = options.has('ca') || options.has('tls');
  return {
    ...{ servers: servers as string[], prefix, replicas: Number(replicas), durability },
    ...{ monitor: options.get('monitor'), user, password, token: options.get('token') },
    ...{ credentials: options.get('creds'), nkey: options.get('nkey') },
    ...{ tls: hasTls ? { ca: options.get('ca') } : null },
  };
}

/** An option that no such URL has, which is how a misspelt one shows; null where all are known. */
export function unknownOption(text: string): string | null {
  const query = /^nats:[^?#]*\?([^#\s]*)/.exec(text)?.[1] ?? '';
  return [...new URLSearchParams(query).keys()].find((name) => !OPTIONS.has(name)) ?? null;
}

export const NATS_OPTIONS: string = [...OPTIONS].join(', ');

/** What a person is shown: neither passwords nor tokens. */
export function shownPlace({ servers, prefix }: NatsPlace): string {
  return `nats://${servers.join(',')}/${prefix}`;
}

/** As another machine may use it: nobody's credentials, and no file of this one. */
export function formatNatsUrl(
  { servers, prefix, replicas, durability, monitor, tls }: NatsPlace,
  own: { readonly nkey?: string; readonly ca?: string } = {},
): string {
  const options = new URLSearchParams();
  if (replicas !== DEFAULT_REPLICAS) options.set('replicas', String(replicas));
  if (durability !== 'strict') options.set('durability', durability);
  if (monitor !== null) options.set('monitor', monitor);
  if (tls !== null) options.set('tls', 'on');
  for (const [name, value] of Object.entries(own)) options.set(name, value);
  const query = options.toString();
  return `nats://${servers.join(',')}/${prefix}${query && `?${query}`}`;
}

function serverOf(text: string): string | null {
  const [, host, port = String(PORT)] =
    /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  return host === undefined || Number(port) > 65_535 ? null : `${host}:${port}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
