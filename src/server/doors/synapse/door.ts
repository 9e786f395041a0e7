/**
 * The Synapse door: agents written for synapse-channel 0.43 connect as they are, and what they
 * do is done to the same claims, plan and channels as at every other door [SY1]. This file lets
 * sockets in and out; `binding.ts` gives them names, `dispatch.ts` carries their frames out and
 * `bulletin.ts` tells them what happened. No payload is logged and no secret kept.
 */
import type { WebSocket } from 'ws';
import type { Hub } from '../../../hub/hub.ts';
import { heartbeat } from '../../../wire/operations/channels.ts';
import { claimUnwait } from '../../../wire/operations/claims.ts';
import type { Desk } from '../../desk/desk.ts';
import type { ReportFailure } from '../../desk/failure.ts';
import type { CutOff } from '../cut-off.ts';
import type { FanOut } from '../fan-out.ts';
import type { HostLimit } from '../host-limit.ts';
import type { OriginCheck } from '../origin-check.ts';
import { FAREWELL_MS, Peer, type PeerOptions } from '../peer.ts';
import { type Arrival, addressOf, createUpgrades } from '../upgrade.ts';
import { createBinding, type NameBook } from './binding.ts';
import { openBulletin } from './bulletin.ts';
import { createClient, type SynapseClient } from './client.ts';
import { createDispatch } from './dispatch.ts';
import { parseFrame } from './frame.ts';
import { readMail } from './mail.ts';
import { createSeats } from './seats.ts';
import { createSpeech } from './speech.ts';

const CLIENTS_MAX = 1_024;
/** A larger frame closes the socket with 1009. */
const INPUT_BYTES_MAX: number = 1024 * 1024;
const PING_MS = 15_000;
const BEAT_TTL_S = 60;
const AUTH_TIMEOUT_MS = 10_000;
const TAKEOVER_COOLDOWN_MS = 2_000;
const WRONG_TOKEN_MS = 1_000;
/** Bytes that may wait for a peer that does not read. */
const OUTPUT_BYTES_MAX: number = 8 * 1024 * 1024;
/** Frames read and not yet carried out; past it, reading pauses. */
const INPUT_FRAMES_MAX = 64;

export interface SynapseOptions {
  readonly desk: Desk;
  readonly origins: OriginCheck;
  readonly report: ReportFailure;
  /** The space these agents work in. */
  readonly hub: Hub;
  /** Null: names are taken at their word. */
  readonly token: string | null;
  readonly fanOut: FanOut;
  readonly hostLimit?: HostLimit;
  readonly clientsMax?: number | undefined;
  readonly unauthenticatedMax?: number | undefined;
  readonly authTimeoutMs?: number | undefined;
  readonly takeoverCooldownMs?: number | undefined;
  readonly wrongTokenMs?: number;
  readonly pingMs?: number;
  readonly outputBytesMax?: number;
  readonly slowFarewellMs?: number;
  /** Says who was cut off. */
  readonly onCutOff?: CutOff;
}

export interface SynapseDoor {
  readonly size: number;
  upgrade(arrival: Arrival): void;
  close(): void;
}

export function createSynapseDoor(options: SynapseOptions): SynapseDoor {
  const { desk, hub, token, report, fanOut } = options;
  const clientsMax = options.clientsMax ?? CLIENTS_MAX;
  const speech = createSpeech(() => Date.now());
  const clients = new Set<SynapseClient>();
  const names: NameBook = new Map();
  const seats = createSeats({
    ...{ whispers: hub.whispers, clients, clientsMax },
    strangersMax: token === null ? null : (options.unauthenticatedMax ?? clientsMax),
  });
  const bulletin = openBulletin({ hub, speech, clients, names, report, fanOut });
  const dispatch = createDispatch({
    desk,
    hub,
    speech,
    roster: () => bulletin.roster(),
    clientCount: () => seats.taken,
    callerOf: (name) => binding.callerOf(name),
  });
  const binding = createBinding({
    desk,
    hub,
    names,
    speech,
    token,
    cooldownMs: options.takeoverCooldownMs ?? TAKEOVER_COOLDOWN_MS,
    wrongTokenMs: options.wrongTokenMs ?? WRONG_TOKEN_MS,
    welcome,
    onBound(client, isNew) {
      seats.changed();
      beat(client);
      bulletin.joined(client.name, isNew);
    },
  });
  const peerOptions: PeerOptions = {
    fanOut,
    outputBytesMax: options.outputBytesMax ?? OUTPUT_BYTES_MAX,
    underWayMax: INPUT_FRAMES_MAX,
    slowFarewellMs: options.slowFarewellMs,
  };
  let isClosing = false;

  function welcome(client: SynapseClient): void {
    client.isWelcome = true;
    const online_agents = bulletin.roster(client.name);
    const fields = { connected_clients: seats.taken, online_agents };
    client.peer.send(speech.say('welcome', 'self', 'welcome', fields));
  }

  /** Undefined when it has been carried out already; never rejects. */
  function onFrame(
    client: SynapseClient,
    text: string,
    address: string | undefined,
  ): Promise<void> | undefined {
    const { peer } = client;
    if (client.isEnded) return undefined;
    try {
      const limited = options.hostLimit?.check(address) ?? null;
      if (limited !== null) {
        const fields = { reason_code: limited.refused, retry_at: (limited.retryAt ?? 0) / 1000 };
        peer.send(speech.say('error', client.name, limited.message, fields));
        return undefined;
      }
      const frame = parseFrame(text);
      if (frame === null) {
        const payload = 'the frame is no JSON object, or nests deeper than 64 levels';
        peer.send(speech.say('error', 'all', payload, { reason_code: 'input.not-json' }));
        if (token !== null && client.caller === null) peer.close(4010, 'auth required');
        return undefined;
      }
      const carryOut = (isBound: boolean) =>
        isBound ? dispatch(client, frame, text.length) : undefined;
      const bound = binding.bind(client, frame);
      const done = typeof bound === 'boolean' ? carryOut(bound) : bound.then(carryOut);
      return done?.catch((cause) => tellFailure(client, cause));
    } catch (cause) {
      tellFailure(client, cause);
      return undefined;
    }
  }

  function tellFailure({ peer, name }: SynapseClient, cause: unknown): void {
    const { refused, message, detail } = report('a Synapse frame failed', cause);
    peer.send(speech.say('error', name, message, { reason_code: refused, ...detail }));
  }

  function seat(ws: WebSocket, arrival: Arrival): Peer | null {
    const no = seats.whyNot();
    if (no !== null) return turnOut(ws, ...no);
    // What is called at every frame would hold the arrival, and with it the request [W10].
    const { stream } = arrival;
    const address = addressOf(arrival);
    // Frames of one client are carried out one after the other; null when none is under way.
    let last: Promise<void> | null = null;
    const inTurn = (run: () => Promise<void> | undefined): void => {
      const done = last === null ? run() : last.then(run);
      if (done === undefined) return;
      last = done;
      void done.then(() => {
        if (last === done) last = null;
      });
    };
    const client = createClient(
      (of) =>
        new Peer(ws, stream, peerOptions, {
          onText(text) {
            of.peer.begin();
            inTurn(() => {
              const done = onFrame(of, text, address)?.then(() => of.peer.done());
              if (done === undefined) of.peer.done();
              return done;
            });
          },
          onClose(isOurs) {
            if (isOurs) onClose(of);
            else inTurn(async () => onClose(of));
          },
          onSlowReader(bytes) {
            if (of.caller !== null) options.onCutOff?.(of.caller, bytes, 'Synapse');
          },
        }),
    );
    clients.add(client);
    seats.changed();
    if (token === null) welcome(client);
    else {
      const timer = setTimeout(() => {
        if (client.caller === null) client.peer.close(4012, 'auth timeout');
      }, options.authTimeoutMs ?? AUTH_TIMEOUT_MS);
      client.gone.signal.addEventListener('abort', () => clearTimeout(timer));
    }
    return client.peer;
  }

  function onClose(client: SynapseClient): void {
    client.isEnded = true;
    clients.delete(client);
    seats.changed();
    client.gone.abort();
    const { caller, name } = client;
    const isCurrent = names.get(name) === client;
    if (isCurrent) binding.leave(name);
    if (caller === null) return;
    client.countOut();
    // One that was superseded left its name and its waits to its successor.
    if (isClosing || !isCurrent) return;
    endWaits(client);
    const elsewhere = hub.whispers?.others.seen(name) ?? [];
    if ([caller.activity, ...elsewhere].some(({ connections }) => connections > 0)) return;
    bulletin.left(name, desk.call(caller, heartbeat, { status: 'offline' }));
  }

  function endWaits({ caller, waits }: SynapseClient): void {
    if (caller === null) return;
    for (const wait of waits) void desk.call(caller, claimUnwait, { wait });
    waits.clear();
  }

  function beat({ caller }: SynapseClient): void {
    if (caller === null) return;
    const { reported } = caller.activity;
    const isBusy = reported?.state === 'busy' && reported.until > Date.now();
    void desk.call(caller, heartbeat, { status: isBusy ? 'busy' : 'online', ttl: BEAT_TTL_S });
  }

  const upgrades = createUpgrades({
    ...options,
    frameBytesMax: INPUT_BYTES_MAX,
    pingMs: options.pingMs ?? PING_MS,
    async admit(arrival) {
      await seats.looked();
      return (ws) => seat(ws, arrival);
    },
    onPing() {
      for (const client of clients) {
        beat(client);
        void readMail(desk, speech, client);
      }
    },
  });

  return {
    get size() {
      return clients.size;
    },
    upgrade: (arrival) => upgrades.receive(arrival),
    close() {
      isClosing = true;
      bulletin.close();
      binding.close();
      upgrades.close();
    },
  };
}

function turnOut(ws: WebSocket, code: number, reason: string): null {
  ws.on('error', () => ws.terminate());
  ws.close(code, reason);
  setTimeout(() => ws.terminate(), FAREWELL_MS).unref();
  return null;
}
