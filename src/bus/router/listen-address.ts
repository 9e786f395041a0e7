/**
 * Addresses: `HOST:PORT` as a person writes it, whether it can be reached from other machines, and
 * listening there. A name is looked up once and the address found is the one used, so that it
 * cannot change in between.
 */
import { BlockList, isIP, type Server } from 'node:net';

const PORT_MAX = 65_535;

export type ListenCode =
  /** The address cannot be understood. */
  | 'bus.address'
  /** Another program is there. */
  | 'bus.address-taken'
  /** The operating system does not allow it. */
  | 'bus.address-unusable'
  /** Reachable from other machines, and for this one alone. */
  | 'bus.open-not-loopback'
  /** TCP, and there is no token to ask for. */
  | 'bus.no-token';

/** Why a bus cannot be reached where it was asked to be: a code, and a sentence with what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly code: ListenCode;

  constructor(code: ListenCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface TcpAddress {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

export function parseTcpAddress(text: string, flag: string): TcpAddress {
  const [, bracketed, plain, digits = ''] =
    /^(?:\[([^\]]+)\]|([^:[\]]+)):([^:]*)$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined) {
    throw new ListenError(
      'bus.address',
      `${flag} must be HOST:PORT, such as 127.0.0.1:9000 or [::1]:9000; found ${text}`,
    );
  }
  if (!/^\d{1,5}$/.test(digits) || Number(digits) > PORT_MAX) {
    throw new ListenError(
      'bus.address',
      `the port of ${flag} must be from 0 to ${PORT_MAX}, 0 for any free one; found ${digits || 'none'}`,
    );
  }
  return { host, port: Number(digits) };
}

export interface ResolvedAddress {
  readonly address: string;
  readonly isLoopback: boolean;
}

/** The address behind a host; of several the first of the older kind, which every client reaches. */
export async function resolveHost(host: string): Promise<ResolvedAddress> {
  const { lookup } = await import('node:dns/promises');
  const found = await lookup(host, { all: true }).catch((cause) => {
    throw new ListenError('bus.address-unusable', `there is no host ${host} to listen on`, {
      cause,
    });
  });
  const [first] = found.toSorted((a, b) => a.family - b.family);
  if (first === undefined) {
    throw new ListenError('bus.address-unusable', `the host ${host} has no address`);
  }
  return { address: first.address, isLoopback: isLoopbackAddress(first.address) };
}

export function isLoopbackAddress(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  const family = isIP(mapped);
  return family !== 0 && loopback.check(mapped, family === 4 ? 'ipv4' : 'ipv6');
}

export function addressText(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Begins to listen, and ends when it does. `explain` makes the message, given the system's code. */
export async function untilListening(
  server: Server,
  begin: (onListening: () => void) => void,
  explain: (code: string | undefined) => string,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  begin(resolve);
  await promise.catch((cause: NodeJS.ErrnoException) => {
    const isTaken = cause.code === 'EADDRINUSE';
    const code = isTaken ? 'bus.address-taken' : 'bus.address-unusable';
    throw new ListenError(code, explain(cause.code), { cause });
  });
  server.off('error', reject);
}

/** The port a server got that asked for any. */
export function portOf(server: Server): number {
  const bound = server.address();
  return typeof bound === 'object' && bound !== null ? bound.port : 0;
}
