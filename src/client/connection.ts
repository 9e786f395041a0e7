/**
 * A line to the hub: one WebSocket after another, so that whoever speaks through it
 * sees only "up" and "down". It comes back by itself after back-off [K5], notices a
 * connection that died without saying so [K6], and gives up only when the hub
 * refuses the credential [K7] or when it is closed.
 */

import { readJson } from '../wire/json.ts';
import type { Address } from './address.ts';
import type { Backoff } from './backoff.ts';
import { askWhyRefused, CLOSED_BY_CREDENTIAL, credentialError, refusalInWords } from './door.ts';
import { SynodError } from './error.ts';
import type { OpenSocket, Socket } from './socket.ts';

/** `waiting`: for the next attempt, or on purpose. `closed` is for ever. */
export type ConnectionState = 'connecting' | 'open' | 'waiting' | 'closed';

export interface ConnectionOptions {
  readonly address: Address;
  readonly openSocket: OpenSocket;
  /** Whether the hub may be asked over HTTP why it refused: not when only `openSocket` knows the way to it. */
  readonly doesAskWhy: boolean;
  readonly backoff: Backoff;
  /** Silence after which the hub is asked for a sign of life. */
  readonly livenessMs: number;
}

export interface ConnectionEvents {
  up(): void;
  frame(frame: unknown, chars: number): void;
  /** The connection broke, or an attempt failed; another attempt follows. */
  down(error: SynodError): void;
  /** It will not come back: closed by us (null), or by a hub that refuses us. */
  gone(error: SynodError | null): void;
  state?(state: ConnectionState, error: SynodError | null): void;
}

export interface Connection {
  readonly state: ConnectionState;
  /** False when the line is down. */
  send(text: string): boolean;
  /** Gives up this connection and tries again after back-off. */
  drop(error: SynodError): void;
  /** Hangs up until `resume`. */
  pause(): void;
  resume(): void;
  close(error?: SynodError): void;
}

const OPEN_TIMEOUT_MS = 10_000;
const SIGN_OF_LIFE = '{"jsonrpc":"2.0","id":"alive","method":"hub.whoami","params":{}}';

export function openConnection(options: ConnectionOptions, events: ConnectionEvents): Connection {
  const { address, backoff, livenessMs } = options;
  const place = address.http;
  const stopped = new AbortController();
  let state: ConnectionState = 'connecting';
  let socket: Socket | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function setState(next: ConnectionState, error: SynodError | null = null): void {
    if (state === next) return;
    state = next;
    events.state?.(next, error);
  }

  function attempt(): void {
    setState('connecting');
    let mine: Socket;
    try {
      mine = options.openSocket(address.socket, address.protocols);
    } catch (cause) {
      fail(
        new SynodError('connection.refused', `no socket could be opened to ${place}`, { cause }),
      );
      return;
    }
    socket = mine;
    let words = '';
    const isMine = (): boolean => socket === mine;
    timer = setTimeout(() => fail(unanswered(place)), OPEN_TIMEOUT_MS);
    mine.addEventListener('open', () => isMine() && opened());
    mine.addEventListener('message', (event) => isMine() && received(event.data));
    mine.addEventListener('error', (event) => {
      words = typeof event.message === 'string' ? event.message : words;
    });
    mine.addEventListener('close', (event) => {
      if (isMine()) ended(event.code, event.reason, words);
    });
  }

  function opened(): void {
    clearTimeout(timer);
    listen();
    setState('open');
    events.up();
  }

  /** A dead peer sends nothing, so silence is answered with a question, and more silence with hanging up. */
  function listen(wasAsked = false): void {
    timer = setTimeout(() => {
      if (wasAsked) {
        fail(new SynodError('connection.lost', `the hub at ${place} has gone silent`));
        return;
      }
      socket?.send(SIGN_OF_LIFE);
      listen(true);
    }, livenessMs);
  }

  function received(text: unknown): void {
    let frame: unknown;
    try {
      frame = typeof text === 'string' ? readJson(text) : undefined;
    } catch {
      frame = undefined;
    }
    if (typeof frame !== 'object' || frame === null) {
      fail(
        new SynodError('connection.lost', `${place} does not speak JSON-RPC; is it a Synod hub?`),
      );
      return;
    }
    clearTimeout(timer);
    listen();
    // Only now has the connection proved to be worth something: a door that opens and slams is no success.
    backoff.reset();
    const frames: unknown[] = Array.isArray(frame) ? frame : [frame];
    const chars = Math.ceil((text as string).length / frames.length);
    for (const one of frames) events.frame(one, chars);
  }

  function ended(code: number, reason: string, words: string): void {
    const wasOpen = state === 'open';
    const because = reason || words || `code ${code}`;
    const refusal =
      code === CLOSED_BY_CREDENTIAL
        ? credentialError(`the hub closed the connection (${because})`)
        : wasOpen
          ? null
          : refusalInWords(words);
    if (refusal !== null) {
      close(refusal);
    } else if (wasOpen) {
      fail(new SynodError('connection.lost', `the connection to ${place} broke (${because})`));
    } else if (options.doesAskWhy) {
      void askAndFail(because);
    } else {
      fail(unreachable(place, because));
    }
  }

  async function askAndFail(because: string): Promise<void> {
    hangUp();
    const refusal = await askWhyRefused(address, stopped.signal);
    if (state !== 'connecting' || socket !== null) return;
    if (refusal !== null) close(refusal);
    else fail(unreachable(place, because));
  }

  function hangUp(): void {
    clearTimeout(timer);
    const mine = socket;
    // From here on its events are nobody's: a half-dead socket may take minutes to say goodbye.
    socket = null;
    try {
      mine?.close();
    } catch {
      // It never opened, or is closed already: both are what we want.
    }
  }

  function fail(error: SynodError): void {
    if (state === 'closed') return;
    hangUp();
    setState('waiting', error);
    timer = setTimeout(attempt, backoff.next());
    events.down(error);
  }

  function close(error: SynodError | null): void {
    if (state === 'closed') return;
    hangUp();
    stopped.abort();
    setState('closed', error);
    events.gone(error);
  }

  // A turn later, so that whoever opened the line holds it before its first event.
  queueMicrotask(() => {
    if (state === 'connecting' && socket === null) attempt();
  });
  return {
    get state() {
      return state;
    },
    send(text) {
      if (state !== 'open' || socket === null) return false;
      socket.send(text);
      return true;
    },
    drop: fail,
    pause() {
      if (state === 'closed') return;
      hangUp();
      setState('waiting');
    },
    resume() {
      if (state === 'waiting' && socket === null) {
        clearTimeout(timer);
        attempt();
      }
    },
    close: (error) => close(error ?? null),
  };
}

function unreachable(place: string, because: string): SynodError {
  return new SynodError(
    'connection.refused',
    `no hub answers at ${place} (${because}); start one with \`synod up\` or check the address`,
  );
}

function unanswered(place: string): SynodError {
  return unreachable(place, `nothing within ${OPEN_TIMEOUT_MS / 1000} s`);
}
