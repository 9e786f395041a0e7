/**
 * Waiting for a person over MCP. In the era of 2025 the call itself waits and reports progress. In that of
 * 2026-07-28 it waits a round, then answers `input_required` with a state that the client hands back with
 * the same call, so that no connection is held for as long as a person thinks [GT13].
 *
 * The state is the client's to forge: it names a gate, which the law shows only to who asked for it, and
 * how long is left, which is bounded.
 */
import { type InputRequiredResult, inputRequired } from '@modelcontextprotocol/server';
import { isFields, waitMsOf } from '../fields.ts';
import type { Operation } from '../operation.ts';
import { WAIT_MS_MAX } from '../operations/channels.ts';
import { gateAsk, gateGet } from '../operations/gates.ts';
import type { ToolAnswer } from './result.ts';

/** Clients give up after ten. */
const ROUNDS = 8;
const ROUND_MS_MIN = 250;
const STATE = /^(\w{1,64}) (\d{1,6}) (\d{1,6})$/;

export interface Round {
  readonly operation: Operation;
  readonly input: unknown;
  /** What is left after this one; null where nothing is waited for in rounds. */
  readonly leftMs: number | null;
  readonly roundMs: number;
}

/** What is carried out for this call: of one that waits for a person, the next round. */
export function roundOf(operation: Operation, input: unknown, state: unknown): Round {
  const isGate = operation.id === gateAsk.id || operation.id === gateGet.id;
  const waitMs = Math.min(waitMsOf(input), WAIT_MS_MAX);
  if (!isGate || !isFields(input) || waitMs <= 0) {
    return { operation, input, leftMs: null, roundMs: 0 };
  }
  const [, gate_id, left, step] = STATE.exec(typeof state === 'string' ? state : '') ?? [];
  const wholeMs = left === undefined ? waitMs : Math.min(Number(left), WAIT_MS_MAX);
  const roundMs = Math.max(ROUND_MS_MIN, Number(step ?? 0), Math.ceil(waitMs / ROUNDS));
  const wait_ms = Math.min(wholeMs, roundMs);
  const leftMs = wholeMs - wait_ms;
  return gate_id === undefined
    ? { operation, input: { ...input, wait_ms }, leftMs, roundMs }
    : { operation: gateGet, input: { gate_id, wait_ms }, leftMs, roundMs };
}

/** Null when the call is answered: decided, refused, or waited for to the end. */
export function nextRound(
  { leftMs, roundMs }: Round,
  answer: ToolAnswer,
): InputRequiredResult | null {
  if (leftMs === null || leftMs <= 0 || 'error' in answer) return null;
  const { gate_id, state } = answer.ok;
  if (state !== 'pending') return null;
  return inputRequired({ requestState: `${gate_id} ${leftMs} ${roundMs}` });
}
