/**
 * Which bus session a message travels in. A bus session is a place at one worker, so a client that
 * put everything in one would use one worker: `auto` takes a fresh one for each call, unless the call
 * speaks of an agent's session that was opened, or first used, in a bus session we remember. Pool and
 * agent are remembered with it, so they need not be said again [SD8].
 */
import { isObject } from '../process/json-object.ts';
import { InvalidArgumentError } from './errors.ts';
import { agentSessionOf, type BusNotification, type Params } from './message.ts';

/** `auto`: a session a call; `object`: one for this object; anything else: that very session. */
export type SessionMode = 'auto' | 'object' | (string & {});

export interface SessionChoice {
  readonly sessionId?: string | undefined;
  readonly session?: SessionMode | undefined;
  readonly pool?: string | undefined;
  readonly agentId?: string | undefined;
}

/** Above it the one used longest ago is forgotten, and told to be lost: its next call goes to any worker. */
export const REMEMBERED_SESSIONS_MAX = 16_384;

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const SUFFIX_CHARS = 6;

/** `client-<unix ms>-<6 letters or digits>` */
export function createClientSessionId(nowMs: number = Date.now()): string {
  const chosen = crypto.getRandomValues(new Uint32Array(SUFFIX_CHARS));
  const suffix = Array.from(chosen, (value) => ALPHABET[value % ALPHABET.length]).join('');
  return `client-${nowMs}-${suffix}`;
}

/** Where an agent's session lives, and how it was asked for there. */
interface Home {
  readonly agentSession: string;
  readonly sessionId: string;
  readonly pool: string | undefined;
  readonly agentId: string | undefined;
}

export class SessionBook {
  readonly clientSessionId: string = createClientSessionId();
  private readonly mode: SessionMode;
  private readonly onForgotten: (sessionId: string, reason: string) => void;
  private opened = 0;
  /** By agent session, pool and agent; the one used last is last. */
  private readonly homes = new Map<string, Home>();
  private readonly homesOfAgent = new Map<string, Set<Home>>();
  /** The other way round: who lives in a bus session. */
  private readonly residents = new Map<string, Set<Home>>();
  /** Bus sessions that will be used again, and must be attached again after a break; true once used. */
  private readonly kept = new Map<string, boolean>();
  /** The last notification heard of a session; of the one first heard of longest ago first. */
  private readonly heard = new Map<string, number>();

  constructor(mode: SessionMode, onForgotten: (sessionId: string, reason: string) => void) {
    this.mode = mode;
    this.onForgotten = onForgotten;
  }

  /** Unique by its number within this client, and between clients by their name. */
  fresh(): string {
    this.opened++;
    return `${this.clientSessionId}-${this.opened.toString(36)}`;
  }

  /** The call's choice, completed: its session, and what is known of where that lives. */
  choose<Choice extends SessionChoice>(
    params: Params | undefined,
    choice: Choice,
  ): Choice & { readonly sessionId: string } {
    const agentSession = agentSessionOf(params);
    const named = this.namedBy(choice);
    if (named !== undefined) this.keep(named, true);
    if (agentSession === null) return { ...choice, sessionId: named ?? this.fresh() };
    const home = this.homeOf(agentSession, choice, named);
    const sessionId = named ?? home?.sessionId ?? this.fresh();
    const { pool = home?.pool, agentId = home?.agentId } = choice;
    const isWorthKeeping = named === undefined || pool !== undefined || agentId !== undefined;
    if (isWorthKeeping) this.remember({ agentSession, sessionId, pool, agentId });
    return { ...choice, sessionId, pool, agentId };
  }

  /** The answer to a `session/…` request may name an agent session that now lives in this one. */
  learn(method: string, result: unknown, sessionId: string, choice: SessionChoice): void {
    if (!method.startsWith('session/') || !isObject(result)) return;
    const agentSession = agentSessionOf(result);
    if (agentSession === null) return;
    this.remember({ agentSession, sessionId, pool: choice.pool, agentId: choice.agentId });
  }

  /** Attach it again after a break. What was never used cannot be lost, only not found. */
  keep(sessionId: string, isUsed: boolean): void {
    const wasUsed = this.kept.get(sessionId) ?? false;
    this.kept.delete(sessionId);
    this.kept.set(sessionId, isUsed || wasUsed);
    if (this.kept.size > REMEMBERED_SESSIONS_MAX) this.kept.delete(oldestOf(this.kept.keys()));
  }

  /** It will be used again. A session that served one call is not remembered. */
  isKnown(sessionId: string): boolean {
    return this.kept.has(sessionId) || this.residents.has(sessionId);
  }

  isUsed(sessionId: string): boolean {
    return this.kept.get(sessionId) === true || this.residents.has(sessionId);
  }

  /** How far a session was heard, by the bus's own numbers. */
  hear({ sessionId, _ext }: BusNotification): void {
    const seq = isObject(_ext) ? _ext.seq : undefined;
    if (typeof sessionId !== 'string' || typeof seq !== 'number') return;
    if (!this.heard.has(sessionId) && this.heard.size >= REMEMBERED_SESSIONS_MAX) {
      this.heard.delete(oldestOf(this.heard.keys()));
    }
    this.heard.set(sessionId, seq);
  }

  /** The number of the last notification; 0 for none. */
  heardOf(sessionId: string): number {
    return this.heard.get(sessionId) ?? 0;
  }

  /** The session is over, or its worker is gone: nothing of it lives anywhere. */
  forget(sessionId: string): void {
    this.kept.delete(sessionId);
    this.heard.delete(sessionId);
    for (const home of [...(this.residents.get(sessionId) ?? [])]) this.moveOut(home);
  }

  knownSessions(): readonly string[] {
    return [...new Set([...this.kept.keys(), ...this.residents.keys()])];
  }

  private namedBy(choice: SessionChoice): string | undefined {
    if (choice.sessionId !== undefined) return choice.sessionId;
    const mode = choice.session ?? this.mode;
    if (mode === 'auto') return undefined;
    return mode === 'object' ? this.clientSessionId : mode;
  }

  /** The one home the choice can mean: the very one it names, else the only one it does not exclude. */
  private homeOf(
    agentSession: string,
    { pool, agentId }: SessionChoice,
    named: string | undefined,
  ): Home | undefined {
    const all = this.homesOfAgent.get(agentSession);
    if (all === undefined) return undefined;
    const meant: Home[] = [];
    for (const home of all) {
      if (named !== undefined && home.sessionId !== named) continue;
      if (home.pool === pool && home.agentId === agentId) return home;
      if (agrees(home.pool, pool) && agrees(home.agentId, agentId)) meant.push(home);
    }
    if (meant.length <= 1) return meant[0];
    const places = meant.map((home) => placeOf(home)).join('; ');
    throw new InvalidArgumentError(
      `session ${JSON.stringify(agentSession)} is open in several places (${places}); say pool, agentId or sessionId`,
    );
  }

  private remember(home: Home): void {
    const key = keyOf(home);
    const before = this.homes.get(key);
    if (before !== undefined) this.moveOut(before);
    this.homes.set(key, home);
    addTo(this.homesOfAgent, home.agentSession, home);
    addTo(this.residents, home.sessionId, home);
    if (this.homes.size <= REMEMBERED_SESSIONS_MAX) return;
    const [oldest] = this.homes.values();
    if (oldest === undefined) return;
    this.moveOut(oldest);
    if (this.isKnown(oldest.sessionId)) return;
    this.onForgotten(
      oldest.sessionId,
      `this client remembers ${REMEMBERED_SESSIONS_MAX} agents' sessions`,
    );
  }

  private moveOut(home: Home): void {
    this.homes.delete(keyOf(home));
    removeFrom(this.homesOfAgent, home.agentSession, home);
    removeFrom(this.residents, home.sessionId, home);
  }
}

/** One of them was not said, or both say the same. */
function agrees(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}

function placeOf({ pool, agentId, sessionId }: Home): string {
  return [pool && `pool ${pool}`, agentId && `agent ${agentId}`, `session ${sessionId}`]
    .filter(Boolean)
    .join(', ');
}

function addTo(index: Map<string, Set<Home>>, name: string, home: Home): void {
  const same = index.get(name);
  if (same === undefined) index.set(name, new Set([home]));
  else same.add(home);
}

function removeFrom(index: Map<string, Set<Home>>, name: string, home: Home): void {
  const same = index.get(name);
  same?.delete(home);
  if (same?.size === 0) index.delete(name);
}

/** Sets and maps keep the order of insertion. */
function oldestOf(all: Iterable<string>): string {
  for (const first of all) return first;
  return '';
}

/** Two agents may well give their sessions the same name. */
function keyOf({ agentSession, pool, agentId }: Omit<Home, 'sessionId'>): string {
  return JSON.stringify([agentSession, pool ?? null, agentId ?? null]);
}
