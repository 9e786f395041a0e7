/** An operation of the hub, asked for by a turn with its own token: as the agent, and while the turn runs. */

import { readJson } from '../../core/law/json.ts';
import { currentTrace } from '../../telemetry/scope.ts';
import { findOperation } from '../../wire/operations/table.ts';
import type { TurnJob } from './runner.ts';

/** Null when it was done; else the hub's own words. */
export async function callAsTurn(
  { hub, signal }: Pick<TurnJob, 'hub' | 'signal'>,
  operation: string,
  input: unknown,
): Promise<string | null> {
  const traceparent = currentTrace();
  const name = findOperation(operation)?.name ?? operation;
  try {
    const answer = await fetch(new URL(`/v1/ops/${name}`, hub.url), {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${hub.token}`, 'content-type': 'application/json' },
        ...(traceparent !== null && { traceparent }),
      },
      body: JSON.stringify(input),
      signal,
    });
    const text = await answer.text();
    return answer.ok ? null : `${operation}: ${messageIn(text)}`;
  } catch (error) {
    return `${operation}: ${(error as Error).message}`;
  }
}

function messageIn(text: string): string {
  try {
    const { error } = readJson(text) as { error?: { message?: unknown } };
    return typeof error?.message === 'string' ? error.message : text.slice(0, 500);
  } catch {
    return text.slice(0, 500);
  }
}
