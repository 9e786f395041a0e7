/**
 * What Codex's app-server tells of a turn, notice by notice [RV4]: text for the transcript, tokens as they are
 * used, why it ended, and what the files and commands are that it will ask about. Pure but for what
 * it remembers, which is bounded.
 */

import type { Params } from '../../../vendor/line-rpc.ts';
import { brief } from '../../../vendor/spoken.ts';
import { isFields } from '../../../wire/fields.ts';
import type { TurnCost } from '../runner.ts';
import { epochMs, type Learnt, quotaOf, saidReset, type Trouble } from './turn-ending.ts';

const CHANGES_MAX = 100;

export interface CodexReader {
  notice(method: string, params: Params): void;
  /** Settles when the turn is over. */
  readonly over: Promise<void>;
  /** The change that it asks about, file by file. */
  changedBy(itemId: string): readonly Params[];
  tokens(): number;
  /** The first trouble is the one that is told. */
  trouble(trouble: Trouble): void;
  learnt(sessionRef: string | null): Learnt;
}

export function createCodexReader(
  show: (text: string) => void,
  nowMs: () => number,
  spent: (cost: TurnCost) => void,
): CodexReader {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const changes = new Map<string, readonly Params[]>();
  let [tokensIn, tokensOut] = [0, 0];
  let finalText: string | null = null;
  let said = '';
  let resetAt: number | null = null;
  let trouble: Trouble | null = null;

  function readItem(item: Params): void {
    const { type, id } = item;
    if (type !== 'fileChange' || typeof id !== 'string') return;
    if (changes.size >= CHANGES_MAX) changes.clear();
    changes.set(id, Array.isArray(item.changes) ? item.changes.filter(isFields) : []);
  }

  function readUsage(usage: unknown): void {
    const last = isFields(usage) && isFields(usage.last) ? usage.last : {};
    if (typeof last.inputTokens === 'number') tokensIn += last.inputTokens;
    if (typeof last.outputTokens === 'number') tokensOut += last.outputTokens;
    spent({ tokens_in: tokensIn, tokens_out: tokensOut });
  }

  function readEnd(turn: unknown): void {
    const { status, error } = isFields(turn) ? turn : { status: 'failed', error: null };
    if (status === 'completed') finalText = said;
    else if (isFields(error)) trouble ??= troubleOf(error, resetAt, nowMs());
    else trouble ??= { kind: 'failed', note: `Codex ended the turn: ${String(status)}` };
    resolve();
  }

  return {
    over,
    notice(method, params) {
      const item = isFields(params.item) ? params.item : {};
      if (method === 'item/started') {
        readItem(item);
        const line = startedWords(item);
        if (line !== null) show(line);
      } else if (method === 'item/completed' && item.type === 'agentMessage') {
        said = String(item.text ?? '');
        show(brief(said));
      } else if (method === 'thread/tokenUsage/updated') readUsage(params.tokenUsage);
      else if (method === 'account/rateLimits/updated') {
        resetAt = resetOf(params.rateLimits) ?? resetAt;
      } else if (method === 'turn/completed') readEnd(params.turn);
    },
    changedBy: (itemId) => changes.get(itemId) ?? [],
    tokens: () => tokensIn + tokensOut,
    trouble(one) {
      trouble ??= one;
    },
    learnt: (sessionRef) => ({
      ...{ finalText, sessionRef, trouble },
      cost: { tokens_in: tokensIn, tokens_out: tokensOut },
    }),
  };
}

function startedWords(item: Params): string | null {
  if (item.type === 'commandExecution') return brief(`runs ${String(item.command)}`);
  if (item.type !== 'mcpToolCall') return null;
  return brief(`uses ${String(item.tool)}: ${JSON.stringify(item.arguments)}`);
}

const EXHAUSTED = new Set(['usageLimitExceeded', 'rateLimitExceeded']);
const OVERLOADED = new Set(['serverOverloaded', 'flexUnavailable', 'policyCapacityUnavailable']);

function troubleOf(error: Params, resetAt: number | null, nowMs: number): Trouble {
  const message = String(error.message ?? '');
  const note = brief(message);
  const { codexErrorInfo: about } = error;
  if (about === 'sessionBudgetExceeded') return { kind: 'budget', note };
  const quota = quotaOf(statusOf(about), resetAt ?? saidReset(message, nowMs));
  return quota ? { kind: 'quota', quota, note } : { kind: 'failed', note };
}

/** Its own words for it, or the status of the API that it hands on. */
function statusOf(about: unknown): number {
  if (typeof about === 'string') {
    if (EXHAUSTED.has(about)) return 429;
    return OVERLOADED.has(about) ? 503 : 0;
  }
  const [inner] = isFields(about) ? Object.values(about) : [];
  return isFields(inner) ? Number(inner.httpStatusCode) : 0;
}

/** Of the windows that are used up, the one that opens last. */
function resetOf(limits: unknown): number | null {
  if (!isFields(limits)) return null;
  const times = [limits.primary, limits.secondary].filter(isFields).flatMap((window) => {
    const isUp = Number(window.usedPercent) >= 100;
    return isUp ? (epochMs(window.resetsAt) ?? []) : [];
  });
  return times.length === 0 ? null : Math.max(...times);
}
