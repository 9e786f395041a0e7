/**
 * Which routing session of the bus an agent's session belongs to. It is learnt from what clients
 * ask and what agents answer; an update that comes before the answer that explains it is held until
 * then. Both are bounded: the oldest goes first.
 */
import type { JsonObject } from '../process/json-object.ts';

const SESSIONS_MAX = 10_000;
const HELD_MAX = 1_000;

export interface AgentSessionMap {
  /** Null stands for a client that named no routing session. Returns what had been held for it. */
  learn(agentId: string, session: string, routing: string | null): readonly JsonObject[];
  /** Undefined when it is not known. */
  routingOf(agentId: string, session: string): string | null | undefined;
  agentOf(session: string): string | undefined;
  hold(agentId: string, session: string, message: JsonObject): void;
  forgetAgent(agentId: string): void;
}

interface Entry {
  readonly agentId: string;
  readonly session: string;
  readonly routing: string | null;
}

interface Held {
  readonly agentId: string;
  readonly session: string;
  readonly message: JsonObject;
}

export function createAgentSessions(): AgentSessionMap {
  const entries = new Map<string, Entry>();
  let held: Held[] = [];
  const keyOf = (agentId: string, session: string): string => JSON.stringify([agentId, session]);

  return {
    learn(agentId, session, routing) {
      const key = keyOf(agentId, session);
      entries.delete(key);
      entries.set(key, { agentId, session, routing });
      if (entries.size > SESSIONS_MAX) entries.delete(entries.keys().next().value as string);
      const isIts = (one: Held): boolean => one.agentId === agentId && one.session === session;
      const its = held.filter(isIts);
      if (its.length > 0) held = held.filter((one) => !isIts(one));
      return its.map(({ message }) => message);
    },
    routingOf: (agentId, session) => entries.get(keyOf(agentId, session))?.routing,
    agentOf: (session) => [...entries.values()].find((one) => one.session === session)?.agentId,
    hold(agentId, session, message) {
      held.push({ agentId, session, message });
      if (held.length > HELD_MAX) held.shift();
    },
    forgetAgent(agentId) {
      for (const [key, entry] of entries) if (entry.agentId === agentId) entries.delete(key);
      held = held.filter((one) => one.agentId !== agentId);
    },
  };
}
