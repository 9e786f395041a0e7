/**
 * The Synapse door: agents written for synapse-channel 0.43 connect as they are, and what they
 * do is done to the same claims, plan and channels as at every other door [SY1]. This file lets
 * sockets in and out; `binding.ts` gives them names, `dispatch.ts` carries their frames out and
 * `bulletin.ts` tells them what happened. No payload is logged and no secret kept.
 */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Hub } from '../../../hub/hub.ts';
import { toEnvelope } from '../../../wire/errors.ts';
import { heartbeat } from '../../../wire/operations/channels.ts';
import { claimUnwait } from '../../../wire/operations/claims.ts';
import type { Desk } from '../../desk/desk.ts';
import type { Guard } from '../guard.ts';
import type { HostLimit } from '../host-limit.ts';
import { createBinding, type NameBook } from './binding.ts';
import { openBulletin } from './bulletin.ts';
import { type Client, createClient } from './client.ts';
import { createDispatch } from './dispatch.ts';
import { parseFrame } from './frame.ts';
import { readMail } from './mail.ts';
import { createSocket } from './socket.ts';
import { createSpeech } from './speech.ts';

const CLIENTS_MAX = 1_024;
/** A larger frame closes the socket with 1009. */
const INPUT_BYTES_MAX: number = 1024 * 1024;
const PING_MS = 15_000;
const BEAT_TTL_S = 60;
const AUTH_TIMEOUT_MS = 10_000;
const TAKEOVER_COOLDOWN_MS = 2_000;
const FAREWELL_MS = 1_000;

export interface SynapseOptions {
  readonly desk: Desk;
  readonly guard: Guard;
  /** The space these agents work in. */
  readonly hub: Hub;
  /** Null: names are taken at their word. */
  readonly token: string | null;
  readonly hostLimit?: HostLimit;
  readonly clientsMax?: number;
  readonly unauthenticatedMax?: number;
  readonly authTimeoutMs?: number;
  readonly takeoverCooldownMs?: number;
  readonly pingMs?: number;
  readonly outputBytesMax?: number;
  onTrouble(what: string, cause: unknown): void;
}

export interface SynapseDoor {
  readonly size: number;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

export function createSynapseDoor(options: SynapseOptions): SynapseDoor {
  const { desk, guard, hub, token, onTrouble } = options;
  const clientsMax = options.clientsMax ?? CLIENTS_MAX;
  const unauthenticatedMax = options.unauthenticatedMax ?? clientsMax;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: INPUT_BYTES_MAX,
    perMessageDeflate: false,
    clientTracking: false,
  });
  const speech = createSpeech(() => Date.now());
  const clients = new Set<Client>();
  const names: NameBook = new Map();
  const bulletin = openBulletin({ hub, speech, clients, names, onTrouble });
  const dispatch = createDispatch({
    desk,
    hub,
    speech,
    roster: () => bulletin.roster(),
    clientCount: () => clients.size,
  });
  const bind = createBinding({
    desk,
    hub,
    names,
    speech,
    token,
    cooldownMs: options.takeoverCooldownMs ?? TAKEOVER_COOLDOWN_MS,
    welcome,
    onBound(client, isNew) {
      beat(client);
      bulletin.joined(client.name, isNew);
    },
  });
  let isClosing = false;

  function welcome(client: Client): void {
    client.isWelcome = true;
    const online_agents = bulletin.roster(client.name);
    const fields = { connected_clients: clients.size, online_agents };
    client.socket.send(speech.say('welcome', 'self', 'welcome', fields));
  }

  async function onFrame(client: Client, text: string, address?: string): Promise<void> {
    const limited = options.hostLimit?.check(address) ?? null;
    if (limited !== null) {
      const fields = { reason_code: limited.refused, retry_at: (limited.retryAt ?? 0) / 1000 };
      client.socket.send(speech.say('error', client.name, limited.message, fields));
      return;
    }
    try {
      const frame = parseFrame(text);
      if (frame === null) {
        const payload = 'the frame is no JSON object, or nests deeper than 64 levels';
        client.socket.send(speech.say('error', 'all', payload, { reason_code: 'input.not-json' }));
        if (token !== null && client.caller === null) client.socket.close(4010, 'auth required');
        return;
      }
      if (await bind(client, frame)) await dispatch(client, frame);
    } catch (cause) {
      onTrouble('a Synapse frame failed', cause);
      const fields = { reason_code: 'internal' };
      client.socket.send(speech.say('error', client.name, 'the hub failed at this', fields));
    }
  }

  function seat(ws: WebSocket, stream: Duplex, address?: string): void {
    if (clients.size >= clientsMax) return turnOut(ws, 4013, 'hub at capacity');
    const unauthenticated = [...clients].filter(({ caller }) => caller === null).length;
    if (token !== null && unauthenticated >= unauthenticatedMax) {
      return turnOut(ws, 4014, 'too many unauthenticated');
    }
    const client = createClient((of) =>
      createSocket(
        ws,
        stream,
        { onFrame: (text) => onFrame(of, text, address), onClose: () => onClose(of) },
        options.outputBytesMax,
      ),
    );
    clients.add(client);
    if (token === null) return welcome(client);
    const timer = setTimeout(() => {
      if (client.caller === null) client.socket.close(4012, 'auth timeout');
    }, options.authTimeoutMs ?? AUTH_TIMEOUT_MS);
    client.gone.signal.addEventListener('abort', () => clearTimeout(timer));
  }

  function onClose(client: Client): void {
    clients.delete(client);
    client.gone.abort();
    const { caller, name } = client;
    const isCurrent = names.get(name) === client;
    if (isCurrent) names.delete(name);
    if (caller === null) return;
    client.countOut();
    // One that was superseded left its name and its waits to its successor.
    if (isClosing || !isCurrent) return;
    for (const wait of client.waits) void desk.call(caller, claimUnwait, { wait });
    if (caller.activity.connections > 0) return;
    bulletin.left(name);
    void desk.call(caller, heartbeat, { status: 'offline' });
  }

  function beat({ caller }: Client): void {
    if (caller === null) return;
    const { reported } = caller.activity;
    const isBusy = reported?.state === 'busy' && reported.until > Date.now();
    void desk.call(caller, heartbeat, { status: isBusy ? 'busy' : 'online', ttl: BEAT_TTL_S });
  }

  const pings = setInterval(() => {
    for (const client of clients) {
      client.socket.ping();
      beat(client);
      void readMail(desk, speech, client);
    }
  }, options.pingMs ?? PING_MS);
  pings.unref();

  return {
    get size() {
      return clients.size;
    },
    upgrade(request, stream, head) {
      stream.on('error', () => stream.destroy());
      const turned = guard.check(request.headers, false);
      if (turned !== null) return turnAway(stream, turned.status, turned.envelope);
      const address = request.socket.remoteAddress;
      const limited = options.hostLimit?.check(address) ?? null;
      if (limited !== null) return turnAway(stream, 429, toEnvelope(limited));
      server.handleUpgrade(request, stream, head, (ws) => seat(ws, stream, address));
    },
    close() {
      isClosing = true;
      clearInterval(pings);
      bulletin.close();
      for (const client of [...clients]) client.socket.close(1001, 'shutting_down');
      server.close();
    },
  };
}

function turnOut(ws: WebSocket, code: number, reason: string): void {
  ws.on('error', () => ws.terminate());
  ws.close(code, reason);
  setTimeout(() => ws.terminate(), FAREWELL_MS).unref();
}

function turnAway(stream: Duplex, status: number, envelope: unknown): void {
  const body = JSON.stringify(envelope);
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => stream.destroy(),
  );
}
