/**
 * One frame being carried out for the agent that sent it: what a handler may do. Operations
 * go through the desk like those of every other door; what is said in private carries the
 * caller's `req_id`, if it sent one, and a refusal says its code and who is in the way.
 */

import type { Refusal } from '../../../core/law/decider.ts';
import type { Hub } from '../../../hub/hub.ts';
import type { ErrorEnvelope } from '../../../wire/errors.ts';
import type { Operation } from '../../../wire/operation.ts';
import { OPERATIONS } from '../../../wire/operations/table.ts';
import type { Answer } from '../../desk/answer.ts';
import type { Frame } from './frame.ts';
import { aboutOf } from './news.ts';
import type { Fields } from './speech.ts';

export interface Turn {
  readonly frame: Frame;
  /** How long its text is. */
  readonly chars: number;
  /** `type` of the frame, in lower case. */
  readonly type: string;
  /** The agent. */
  readonly name: string;
  readonly hub: Hub;
  call(operation: Operation, input: unknown): Promise<Answer>;
  /** In the name of another that is at this door; null when it is not. */
  callFor(name: string, operation: Operation, input: unknown): Promise<Answer | null>;
  /** What the original's frame shows, in its own form, as the operation it amounts to: plugins see it. */
  callAs(
    operation: Operation,
    input: unknown,
    run: () => Promise<Fields | Refusal>,
  ): Promise<Answer>;
  /** The same without waiting; for chat. */
  callThen(operation: Operation, input: unknown, done: (answer: Answer) => void): void;
  /** To this socket alone. */
  reply(type: string, payload: string, fields?: Fields): void;
  /** Has a broadcast of this type about this been sent to the socket since the frame came in? */
  hasHeard(type: string, about: string): boolean;
  /** Names that are here, whatever their door. */
  online(): readonly string[];
  readonly clients: number;
  /** Waits to give up when the socket goes. */
  readonly waits: Set<number>;
}

/** Undefined when there is nothing to wait for. */
export type Handler = (turn: Turn) => Promise<void> | undefined;

/** A mutation's answer: nothing when its broadcast has been heard, else in private (a repeat, a refresh). */
export function confirm(turn: Turn, type: string, id: string, fields: Fields): void {
  if (!turn.hasHeard(type, aboutOf(turn.name, id))) turn.reply(type, `${id} stands`, fields);
}

export function refuseWith(
  turn: Turn,
  type: string,
  error: ErrorEnvelope,
  fields: Fields = {},
): void {
  turn.reply(type, inFrames(error.message), {
    ...fields,
    ...reasonOf(error),
    request_type: turn.type,
  });
}

/** What a refusal advises, in words these clients have. */
const FRAMES: Readonly<Record<string, string>> = {
  'claims.wait': 'wait_request',
  'claims.take': 'claim',
  'claims.release': 'release',
  'claims.offer': 'handoff',
  'plan.declare': 'ledger_task',
  'plan.update': 'ledger_task_update',
  'plan.progress': 'ledger_progress',
  'offers.make': 'resource',
};

export function inFrames(message: string): string {
  return message
    .replace(/,? or take it with wait_ms/, '')
    .replace(
      /\b[a-z]+\.[a-z_]+\b/g,
      (id) => FRAMES[id] ?? (isOperation(id) ? `synod call ${id}` : id),
    );
}

/** What this wire has no frame for is done at a terminal. */
function isOperation(id: string): boolean {
  return Object.hasOwn(OPERATIONS, id);
}

function reasonOf({ error_code, detail = {}, retry_after }: ErrorEnvelope): Fields {
  const { reason, holder, cycle, lapses_at, correlation_id } = detail as Record<string, unknown>;
  return {
    reason_code: reason ?? error_code,
    ...(holder !== undefined && { holder }),
    ...(cycle !== undefined && { cycle }),
    ...(correlation_id !== undefined && { correlation_id }),
    ...(lapses_at !== undefined && { lease_expires_at: lapses_at }),
    ...(retry_after !== undefined && { retry_after }),
  };
}
