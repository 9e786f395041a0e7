/**
 * Whether an address of the network may be reached: by scheme, host, port and method, and then by what the
 * host stands for [PO5] [PO6]. The name is asked for once, and only when a rule covers it; whoever connects
 * uses the addresses of the decision and asks no more, so that a name cannot mean two things [PO7].
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { classOf, type Named, parseNamed } from './addresses.ts';
import { allow, deny, type Ruling } from './decision.ts';
import { type ConnectRule, PolicyError, SCHEMES, type Scheme } from './policy.ts';

/**
 * What a name stands for; all of it.
 *
 * @example
 * ```ts
 * const fixed: Lookup = async () => ['203.0.113.7'];
 * ```
 */
export type Lookup = (host: string) => Promise<readonly string[]>;

export const systemLookup: Lookup = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

const DEFAULT_PORTS: Readonly<Record<Scheme, number>> = {
  ...{ https: 443, http: 80, wss: 443, ws: 80 },
  ...{ tcp: 0, tls: 0 },
};
const METHODS_DEFAULT = ['GET', 'HEAD'];
const LOOKUP_MS_MAX = 10_000;
const ADDRESSES_MAX = 64;

/** What was asked for, as everybody would write it. */
export interface Target {
  readonly scheme: Scheme;
  /** Lower case, without a last dot; an address in its one spelling, without brackets. */
  readonly host: string;
  readonly port: number;
  /** Null for what is not HTTP. */
  readonly method: string | null;
}

export interface NetRule {
  readonly said: string;
  readonly rule: ConnectRule;
  readonly host: string;
  readonly named: Named | null;
}

export function parseNetRule(rule: ConnectRule): NetRule {
  const isBelow = rule.host.startsWith('*.');
  const host = rule.host === '*' ? '*' : readHost(isBelow ? rule.host.slice(2) : rule.host);
  if (host === null || (isBelow && isIP(host) !== 0)) {
    throw new PolicyError(`${JSON.stringify(rule.host)} is no host`);
  }
  const port = rule.port ?? DEFAULT_PORTS[rule.scheme];
  const said = `connect ${rule.scheme}://${rule.host}:${port}`;
  try {
    return { said, rule, host: isBelow ? `*.${host}` : host, named: namedBy(rule, host) };
  } catch (cause) {
    throw new PolicyError((cause as Error).message, { cause });
  }
}

/** Who writes an address, or `localhost`, has named it. */
function namedBy({ addresses }: ConnectRule, host: string): Named | null {
  if (addresses !== undefined) return parseNamed(addresses);
  if (isIP(host) !== 0) return parseNamed([host]);
  return host === 'localhost' ? parseNamed(['127.0.0.0/8', '::1']) : null;
}

export function readTarget(url: string, method: string | undefined): Target | Ruling {
  const bad = (why: string): Ruling => deny('connect', String(url), 'guard.invalid', why);
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/(.*)$/is.exec(String(url)) ?? [];
  const known = SCHEMES.find((one) => one === scheme.toLowerCase());
  if (known === undefined) return bad(`name a scheme: ${SCHEMES.join(', ')}`);
  // Only of the schemes that it knows does the parser read 0177.0.0.1 and 0x7f.1 as what they are.
  const parsed = URL.parse(`${known === 'https' || known === 'wss' ? 'https' : 'http'}://${rest}`);
  const host = parsed === null ? null : readHost(parsed.hostname);
  if (parsed === null || host === null) return bad('the host cannot be read');
  if (parsed.username !== '' || parsed.password !== '') {
    return bad('a name or a password in an address is for headers: leave it out');
  }
  const port = parsed.port === '' ? DEFAULT_PORTS[known] : Number(parsed.port);
  const isRaw = known === 'tcp' || known === 'tls';
  // The parser leaves out 80 and 443 as a matter of course; of tcp they were written.
  const written = isRaw && port === 0 ? Number(/:(\d+)\/?$/.exec(rest)?.[1] ?? 0) : port;
  if (written < 1) return bad('name a port');
  const isHttp = known === 'http' || known === 'https';
  const verb = (method ?? 'GET').toUpperCase();
  if (!/^[A-Z]{1,32}$/.test(verb)) return bad('the method cannot be read');
  return { scheme: known, host, port: written, method: isHttp ? verb : null };
}

/** One spelling of a host; null when it is none. */
function readHost(host: string): string | null {
  const isBare6 = isIP(host) === 6;
  const parsed = URL.parse(`http://${isBare6 ? `[${host}]` : host}/`);
  if (parsed === null || parsed.port !== '' || parsed.pathname !== '/') return null;
  if (parsed.username !== '' || parsed.search !== '' || parsed.hash !== '') return null;
  const name = parsed.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return name === '' || name.includes('*') ? null : name;
}

export function shownTarget({ scheme, host, port, method }: Target): string {
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  return `${method === null ? '' : `${method} `}${scheme}://${authority}`;
}

/** The rules that cover a target, whatever its name stands for. */
export function coveringRules(target: Target, rules: readonly NetRule[]): NetRule[] {
  return rules.filter(
    ({ rule, host }) =>
      rule.scheme === target.scheme &&
      (rule.port ?? DEFAULT_PORTS[rule.scheme]) === target.port &&
      coversHost(host, target.host) &&
      coversMethod(rule.methods ?? METHODS_DEFAULT, target.method),
  );
}

function coversHost(host: string, asked: string): boolean {
  if (host === '*') return true;
  if (!host.startsWith('*.')) return host === asked;
  return isIP(asked) === 0 && asked.endsWith(host.slice(1)) && asked.length > host.length - 1;
}

function coversMethod(methods: readonly string[], method: string | null): boolean {
  return method === null || methods.some((one) => one === '*' || one.toUpperCase() === method);
}

export async function addressesOf(
  target: Target,
  ask: Lookup,
): Promise<readonly string[] | Ruling> {
  const { host } = target;
  if (isIP(host) !== 0) return [host];
  // What a file or a server says of this name has no say.
  if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1'];
  const none = (why: string): Ruling =>
    deny('connect', shownTarget(target), 'guard.unresolved', `${host} ${why}`);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the lookup takes too long')), LOOKUP_MS_MAX);
  });
  try {
    const found = await Promise.race([ask(host), late]);
    const addresses = found.filter((address) => isIP(address) !== 0).slice(0, ADDRESSES_MAX);
    return addresses.length === 0 ? none('stands for no address') : addresses;
  } catch (error) {
    return none(`cannot be looked up (${(error as NodeJS.ErrnoException).code ?? 'no answer'})`);
  } finally {
    clearTimeout(timer);
  }
}

/** Every address must pass: a name that stands for a public and a private one is a trick. */
export function judgeTarget(
  target: Target,
  addresses: readonly string[],
  covering: readonly NetRule[],
  isAnyRule: boolean,
): Ruling {
  const what = shownTarget(target);
  if (covering.length === 0) {
    const why = isAnyRule
      ? 'no rule covers this scheme, host, port and method together'
      : 'the policy allows no connection';
    return deny('connect', what, 'guard.no-rule', `${why}: add one to \`connect\``);
  }
  const passes = ({ named }: NetRule): boolean =>
    addresses.every((one) => (named === null ? classOf(one) === 'public' : named.has(one)));
  const rule = covering.find(passes);
  if (rule !== undefined) return allow('connect', what, rule.said, { addresses });
  const bad = addresses.find((one) => covering.every(({ named }) => !(named?.has(one) ?? false)));
  const kind = classOf(bad ?? addresses[0] ?? '');
  const why = `${target.host} stands for ${bad ?? addresses.join(', ')} (${kind}): name it in \`addresses\` if it is meant`;
  return deny('connect', what, 'guard.address', why);
}
