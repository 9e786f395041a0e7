/**
 * Which bus session a message travels in. A bus session is a place at one worker, so a client that
 * put everything in one would use one worker: `auto` takes a fresh one for each call, unless the call
 * speaks of an agent's session that was opened, or first used, in a bus session we remember.
 */
import { isObject } from '../process/json-object.ts';
import { agentSessionOf, type Params } from './message.ts';

/** `auto`: a session a call; `object`: one for this object; anything else: that very session. */
export type SessionMode = 'auto' | 'object' | (string & {});

export interface SessionChoice {
  readonly sessionId?: string | undefined;
  readonly session?: SessionMode | undefined;
  readonly pool?: string | undefined;
  readonly agentId?: string | undefined;
}

/** Above it the one used longest ago is forgotten: its next call goes to any worker. */
export const REMEMBERED_SESSIONS_MAX = 16_384;

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const SUFFIX_CHARS = 6;

/** `client-<unix ms>-<6 letters or digits>` */
export function createClientSessionId(nowMs: number = Date.now()): string {
  const chosen = crypto.getRandomValues(new Uint32Array(SUFFIX_CHARS));
  const suffix = Array.from(chosen, (value) => ALPHABET[value % ALPHABET.length]).join('');
  return `client-${nowMs}-${suffix}`;
}

export class SessionBook {
  readonly clientSessionId: string = createClientSessionId();
  private readonly mode: SessionMode;
  private opened = 0;
  /** Agent session, with its pool and agent, to bus session; the one used last is last. */
  private readonly homes = new Map<string, string>();
  /** The other way round: who lives in a bus session. */
  private readonly residents = new Map<string, Set<string>>();
  /** Bus sessions that will be used again, and must be attached again after a break. */
  private readonly kept = new Set<string>();

  constructor(mode: SessionMode) {
    this.mode = mode;
  }

  /** Unique by its number within this client, and between clients by their name. */
  fresh(): string {
    this.opened++;
    return `${this.clientSessionId}-${this.opened.toString(36)}`;
  }

  choose(params: Params | undefined, choice: SessionChoice): string {
    const agentSession = agentSessionOf(params);
    const mode = choice.sessionId ?? choice.session ?? this.mode;
    if (choice.sessionId !== undefined || mode !== 'auto') {
      const chosen =
        choice.sessionId ?? (mode === 'object' ? this.clientSessionId : (mode as string));
      this.keep(chosen);
      return chosen;
    }
    if (agentSession === null) return this.fresh();
    const key = keyOf(agentSession, choice);
    const sessionId = this.homes.get(key) ?? this.fresh();
    this.remember(key, sessionId);
    return sessionId;
  }

  /** The answer to a `session/…` request may name an agent session that now lives in this one. */
  learn(method: string, result: unknown, sessionId: string, choice: SessionChoice): void {
    if (!method.startsWith('session/') || !isObject(result)) return;
    const agentSession = agentSessionOf(result);
    if (agentSession !== null) this.remember(keyOf(agentSession, choice), sessionId);
  }

  keep(sessionId: string): void {
    this.kept.delete(sessionId);
    this.kept.add(sessionId);
    if (this.kept.size > REMEMBERED_SESSIONS_MAX) this.kept.delete(oldestOf(this.kept));
  }

  /** It will be used again. A session that served one call is not remembered. */
  isKnown(sessionId: string): boolean {
    return this.kept.has(sessionId) || this.residents.has(sessionId);
  }

  /** The session is over, or its worker is gone: nothing of it lives anywhere. */
  forget(sessionId: string): void {
    this.kept.delete(sessionId);
    for (const key of this.residents.get(sessionId) ?? []) this.homes.delete(key);
    this.residents.delete(sessionId);
  }

  knownSessions(): readonly string[] {
    return [...new Set([...this.kept, ...this.residents.keys()])];
  }

  private remember(key: string, sessionId: string): void {
    this.moveOut(key);
    this.homes.set(key, sessionId);
    const residents = this.residents.get(sessionId);
    if (residents === undefined) this.residents.set(sessionId, new Set([key]));
    else residents.add(key);
    if (this.homes.size > REMEMBERED_SESSIONS_MAX) this.moveOut(oldestOf(this.homes.keys()));
  }

  private moveOut(key: string): void {
    const sessionId = this.homes.get(key);
    if (sessionId === undefined) return;
    this.homes.delete(key);
    const residents = this.residents.get(sessionId);
    residents?.delete(key);
    if (residents?.size === 0) this.residents.delete(sessionId);
  }
}

/** Sets and maps keep the order of insertion. */
function oldestOf(all: Iterable<string>): string {
  for (const first of all) return first;
  return '';
}

/** Two agents may well give their sessions the same name. */
function keyOf(agentSession: string, choice: SessionChoice): string {
  return JSON.stringify([agentSession, choice.pool ?? null, choice.agentId ?? null]);
}
