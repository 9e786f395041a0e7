/**
 * The door for a phone: the page, on one address of this machine that is named, over TLS with the hub's own
 * certificate, for sessions of the page alone [WD8]. It stands while somebody asks for it again and again, and
 * closes by itself a minute after the last time: a command that was killed leaves nothing open.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import type { Desk } from '../desk/desk.ts';
import type { ReportFailure } from '../desk/failure.ts';
import type { OpenPhone, PhoneDoor, PhoneWish } from '../desk/platform.ts';
import type { CutOff } from '../doors/cut-off.ts';
import type { FanOut } from '../doors/fan-out.ts';
import type { HostLimit } from '../doors/host-limit.ts';
import { createHttpDoor } from '../doors/http.ts';
import { createOpsDoor } from '../doors/ops.ts';
import { createOriginCheck } from '../doors/origin-check.ts';
import type { PageDoor } from '../doors/page/door.ts';
import { createWebSocketDoor, type WebSocketDoor } from '../doors/websocket.ts';
import { ensureCertificate } from './certificate.ts';
import { createDoorServer } from './door-server.ts';
import { listen, shut } from './listen.ts';

export const PHONE_MS = 60_000;

export interface PhoneOptions {
  readonly desk: Desk;
  readonly page: PageDoor;
  readonly dir: string;
  readonly version: string;
  readonly hostLimit: HostLimit;
  readonly report: ReportFailure;
  readonly onCutOff: CutOff;
  readonly fanOut: FanOut;
  /** That of the hub, which is free on the other addresses and easy to remember. */
  port(): number;
  /** How long it stands unasked for, for tests. */
  readonly phoneMs?: number | undefined;
}

interface Standing {
  readonly address: string;
  readonly at: Omit<OpenPhone, 'until'>;
  readonly server: Server;
  readonly websocket: WebSocketDoor;
}

export function createPhone(options: PhoneOptions): PhoneDoor {
  const { desk, page, version, hostLimit, report, onCutOff, fanOut } = options;
  const { phoneMs = PHONE_MS } = options;
  let standing: Standing | null = null;
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  /** One after the other: two that open at once would leave one open for good. */
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const mine = turn.then(run);
    turn = mine.catch(() => {});
    return mine;
  }

  async function begin(address: string, port: number | null): Promise<Standing | Refusal> {
    const own = await ensureCertificate(options.dir, address);
    const origins = createOriginCheck({ allowedHosts: [address], corsOrigins: [], isSecure: true });
    const parts = { desk, origins, report, isForPages: true };
    const http = createHttpDoor({ ...parts, version, mcp: null, page });
    const ops = createOpsDoor(parts);
    const websocket = createWebSocketDoor({ ...parts, onCutOff, fanOut, hostLimit });
    const server = createDoorServer({ http, ops, websocket, hostLimit }, false, own);
    try {
      await listen(server, { host: address, port: port ?? options.port() });
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (port !== null || code !== 'EADDRINUSE') {
        websocket.close();
        return noPort(address, port ?? options.port(), `${code}`);
      }
      await listen(server, { host: address, port: 0 });
    }
    const shown = address.includes(':') ? `[${address}]` : address;
    const url = `https://${shown}:${(server.address() as AddressInfo).port}`;
    return { address, at: { url, fingerprint: own.fingerprint }, server, websocket };
  }

  async function end(): Promise<boolean> {
    clearTimeout(timer);
    const was = standing;
    standing = null;
    was?.websocket.close();
    if (was !== null) await shut(was.server);
    return was !== null;
  }

  async function open({ host, port }: PhoneWish): Promise<OpenPhone | Refusal> {
    const address = host === null && standing !== null ? standing.address : chooseAddress(host);
    if (isRefusal(address)) return address;
    const isHere = standing?.address === address && (port === null || isAt(standing, port));
    if (!isHere) {
      await end();
      const begun = await begin(address, port);
      if (isRefusal(begun)) return begun;
      standing = begun;
    }
    clearTimeout(timer);
    timer = setTimeout(() => void inTurn(end), phoneMs).unref();
    return { ...(standing as Standing).at, until: Date.now() + phoneMs };
  }

  return { open: (wish) => inTurn(() => open(wish)), close: () => inTurn(end) };
}

function isAt({ server }: Standing, port: number): boolean {
  return (server.address() as AddressInfo).port === port;
}

/** One that is named must be this machine's; unnamed, it must be clear which is meant. */
function chooseAddress(host: string | null): string | Refusal {
  const all = Object.entries(networkInterfaces()).flatMap(([name, found = []]) =>
    found.map(({ address, internal, family }) => ({ name, address, internal, family })),
  );
  const near = all.filter(({ internal, family }) => !internal && family === 'IPv4');
  if (host !== null) {
    if (all.some(({ address }) => address === host)) return host;
    return noAddress(`${host.slice(0, 64)} is no address of this machine`, near);
  }
  const [only, another] = near;
  if (only !== undefined && another === undefined) return only.address;
  const why = only === undefined ? 'this machine is on no network' : 'several networks are near';
  return noAddress(why, near);
}

function noAddress(
  why: string,
  known: readonly { readonly name: string; readonly address: string }[],
): Refusal {
  const choice = known.map(({ name, address }) => `${address} (${name})`).join(', ');
  const message = `${why}; say which address a phone can reach with --host: ${choice || 'none'}`;
  return refuse('input.invalid', message, { violations: [{ field: 'host', issue: why }] });
}

function noPort(address: string, port: number, code: string): Refusal {
  const message = `port ${port} of ${address} cannot be opened (${code}); name another with --port`;
  return refuse('input.invalid', message, { violations: [{ field: 'port', issue: code }] });
}
