/**
 * What passed over the bus, on the record: who asked which worker for what, and how it ended. The
 * state holds nothing of it; the log does, chained like everything else, and that is the point [BU23].
 */
import type { Asked, Decision } from '../law/decider.ts';
import type { WorldView } from '../law/state.ts';

const TEXT_CHARS_MAX = 256;
const ACTOR_FIELDS_MAX = 16;

export interface BusCall {
  readonly eventId: string;
  /** The event this one followed from, as the client told it. */
  readonly parentEventId: string | null;
  readonly action: string;
  readonly actor: Readonly<Record<string, string>>;
  /** The worker, or null when none was reached. */
  readonly resource: string | null;
  /** The agent and the session it was for, as the client named them. */
  readonly agentId?: string;
  readonly sessionId?: string;
  /** `ok`, `error` (the worker said so), or the bus's own code. */
  readonly outcome: string;
  readonly durationMs: number;
}

/** Only the bus inside the hub asks for this; no door does. */
export interface RecordBusCall extends Asked {
  readonly type: 'bus.record';
  readonly call: BusCall;
  /** Calls that could not be recorded since the last one that was. */
  readonly missed: number;
}

export interface BusCallRecorded {
  readonly type: 'bus.recorded';
  readonly at: number;
  readonly by: string;
  readonly call: BusCall;
  readonly missed: number;
}

export function decideBusCall(
  _world: WorldView,
  command: RecordBusCall,
): Decision<BusCallRecorded, null> {
  const { at, by, call, missed } = command;
  const actor = Object.entries(call.actor).slice(0, ACTOR_FIELDS_MAX);
  const recorded: BusCallRecorded = {
    type: 'bus.recorded',
    at,
    by: by.id,
    call: {
      ...call,
      eventId: cut(call.eventId),
      parentEventId: call.parentEventId === null ? null : cut(call.parentEventId),
      action: cut(call.action),
      actor: Object.fromEntries(actor.map(([name, value]) => [cut(name), cut(value)])),
      resource: call.resource === null ? null : cut(call.resource),
      ...(call.agentId !== undefined && { agentId: cut(call.agentId) }),
      ...(call.sessionId !== undefined && { sessionId: cut(call.sessionId) }),
    },
    missed,
  };
  return { events: [recorded], answer: null };
}

/** What a client wrote is as long as it likes; a record is not. */
const cut = (text: string): string => text.slice(0, TEXT_CHARS_MAX);
