/**
 * A hook installed for the user and for the project runs twice for one event, and no vendor tells. The
 * second is the same event again: it counts once, is shown nothing twice, and a refusal holds for both
 * [HD13]. Before a tool every event is judged for itself: no id of a call may open the guard.
 */
import { createHash } from 'node:crypto';
import type { Answered, Attention } from './attention.ts';
import { type HookEvent, type HookOutput, SILENCE } from './hook-event.ts';

/** An event that names its call is the same for as long as the call may take. */
const CALL_MS = 10_000;
/** Others are the same only when they come together; a turn of a model lies between two true ones. */
const TOGETHER_MS = 25;
const LATELY_MAX = 64;

export interface Twin {
  /** What the first was answered; null when this is the first. */
  readonly answered: Answered | null;
  keep(output: Promise<HookOutput>): void;
}

export function findTwin(
  { lately }: Attention,
  { kind, name, session, subagent, callId }: HookEvent,
  input: unknown,
  nowMs: number,
): Twin {
  if (kind === 'tool_about') return { answered: null, keep() {} };
  const what = callId ?? createHash('sha256').update(JSON.stringify(input)).digest('base64');
  const key = `${name} ${session} ${subagent} ${what}`;
  const known = lately.get(key);
  const lastsMs = callId === null ? TOGETHER_MS : CALL_MS;
  if (known !== undefined && nowMs - known.at < lastsMs) return { answered: known, keep() {} };
  return {
    answered: null,
    keep(output) {
      lately.delete(key);
      const [oldest] = lately.keys();
      if (lately.size >= LATELY_MAX && oldest !== undefined) lately.delete(oldest);
      lately.set(key, { at: nowMs, output });
    },
  };
}

/** A text is said once; a refusal as often as it is asked about. */
export function again(output: HookOutput): HookOutput {
  const { json } = output;
  const nested = json?.hookSpecificOutput as Readonly<Record<string, unknown>> | undefined;
  const isText = json !== null && ('append' in json || nested?.additionalContext !== undefined);
  return isText ? SILENCE : output;
}
