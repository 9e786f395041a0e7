/**
 * Requests without an answer, and whose text a chunk is. A chunk belongs to the request it names
 * (`_ext.requestId`), else to the only request of its session; when that is not certain it belongs
 * to none, and is a notification like any other: text never leaks between requests [SD9].
 */

import { isObject } from '../process/json-object.ts';
import type { StdioBusError } from './errors.ts';
import { agentSessionOf, type BusNotification } from './message.ts';
import type { SessionChoice } from './session-book.ts';

/** All requests of one client together; more are refused before they are sent. */
export const PENDING_MAX = 262_144;
/** The text gathered for one request. */
export const TEXT_CHARS_MAX = 67_108_864;

export interface PendingCall {
  readonly id: string;
  readonly method: string;
  readonly sessionId: string | undefined;
  /** The agent's session the request speaks of. */
  readonly agentSession: string | null;
  readonly choice: SessionChoice;
  /** The joined text of its chunks. */
  text: string;
  /** Was given to the backend: a worker may have seen it. */
  wasSent: boolean;
  onChunk(text: string): void;
  /** Once only; clears the call's timer and listeners. */
  onResult(result: unknown): void;
  onError(error: StdioBusError): void;
}

export class PendingCalls {
  private readonly byId = new Map<string, PendingCall>();
  private readonly bySession = new Map<string, Set<PendingCall>>();

  get size(): number {
    return this.byId.size;
  }

  add(call: PendingCall): void {
    this.byId.set(call.id, call);
    if (call.sessionId === undefined) return;
    const same = this.bySession.get(call.sessionId);
    if (same === undefined) this.bySession.set(call.sessionId, new Set([call]));
    else same.add(call);
  }

  find(id: unknown): PendingCall | undefined {
    return typeof id === 'string' ? this.byId.get(id) : undefined;
  }

  hasSession(sessionId: string): boolean {
    return this.bySession.has(sessionId);
  }

  /** False when it was gone already: only the caller that removes it settles it. */
  remove(call: PendingCall): boolean {
    if (!this.byId.delete(call.id)) return false;
    const same = call.sessionId === undefined ? undefined : this.bySession.get(call.sessionId);
    same?.delete(call);
    if (same?.size === 0) this.bySession.delete(call.sessionId as string);
    return true;
  }

  all(): readonly PendingCall[] {
    return [...this.byId.values()];
  }

  takeAll(): readonly PendingCall[] {
    const all = this.all();
    this.byId.clear();
    this.bySession.clear();
    return all;
  }

  /** The one request this notification is about, if that is certain. */
  ownerOf(notification: BusNotification): PendingCall | null {
    const named = isObject(notification._ext) ? notification._ext.requestId : undefined;
    // A request that is named and not ours any more has its text lost, not given to a neighbour.
    if (named !== undefined) return this.find(named) ?? null;
    const { sessionId } = notification;
    const candidates = typeof sessionId === 'string' ? this.bySession.get(sessionId) : undefined;
    if (candidates === undefined) return null;
    const agentSession = agentSessionOf(notification.params);
    const meant = [...candidates].filter(
      (call) =>
        candidates.size === 1 || (agentSession !== null && call.agentSession === agentSession),
    );
    return meant.length === 1 ? (meant[0] as PendingCall) : null;
  }

  /** No other request waits for the agent in this agent session. */
  isAlone(call: PendingCall): boolean {
    const same = call.sessionId === undefined ? undefined : this.bySession.get(call.sessionId);
    return ![...(same ?? [])].some(
      (other) => other !== call && other.agentSession === call.agentSession,
    );
  }
}
