/**
 * What an ACP agent tells of a turn [RV4]: pieces of text put together for the transcript, tools as they are
 * used, tokens and money where it counts them, and what its errors mean. Pure but for what it
 * remembers, which is bounded.
 */

import { acpTokens } from '../../../vendor/acp-agent.ts';
import { type Params, RpcFailure } from '../../../vendor/line-rpc.ts';
import { brief } from '../../../vendor/spoken.ts';
import { isFields } from '../../../wire/fields.ts';
import type { TurnCost } from '../runner.ts';
import { type Learnt, quotaOf, saidReset, type Trouble } from './turn-ending.ts';

const SAID_CHARS_MAX = 64 * 1024;

export interface AcpReader {
  update(update: Params): void;
  /** A prompt was answered. */
  answered(response: Params): void;
  failed(error: unknown): void;
  trouble(trouble: Trouble): void;
  tokens(): number;
  learnt(sessionRef: string | null): Learnt;
}

export function createAcpReader(
  show: (text: string) => void,
  nowMs: () => number,
  spent: (cost: TurnCost) => void,
): AcpReader {
  let said = '';
  let finalText: string | null = null;
  let [tokensIn, tokensOut] = [0, 0];
  let usd: number | null = null;
  let trouble: Trouble | null = null;

  function flush(): void {
    if (said.trim() !== '') show(brief(said));
  }

  return {
    update(update) {
      const { sessionUpdate: kind, content, title, cost } = update;
      if (kind === 'agent_message_chunk' && isFields(content) && typeof content.text === 'string') {
        said = `${said}${content.text}`.slice(-SAID_CHARS_MAX);
      } else if (kind === 'tool_call') {
        flush();
        said = '';
        show(brief(`uses ${String(title)}`));
      } else if (kind === 'usage_update' && isFields(cost) && cost.currency === 'USD') {
        usd = typeof cost.amount === 'number' ? cost.amount : usd;
      }
    },
    answered(response) {
      flush();
      finalText = said;
      said = '';
      const [input, output] = acpTokens(response);
      tokensIn += input;
      tokensOut += output;
      spent({ ...(usd !== null && { usd }), tokens_in: tokensIn, tokens_out: tokensOut });
      const { stopReason: why } = response;
      if (why === 'max_tokens' || why === 'max_turn_requests') {
        trouble ??= { kind: 'budget', note: `the agent stopped: ${why}` };
      } else if (why !== 'end_turn') {
        trouble ??= { kind: 'failed', note: `the agent stopped: ${String(why)}` };
      }
    },
    failed(error) {
      trouble ??= troubleOf(error, nowMs());
    },
    trouble(one) {
      trouble ??= one;
    },
    tokens: () => tokensIn + tokensOut,
    learnt(sessionRef) {
      const cost: TurnCost = {
        ...(usd !== null && { usd }),
        ...{ tokens_in: tokensIn, tokens_out: tokensOut },
      };
      return { finalText, sessionRef, cost, trouble };
    },
  };
}

function troubleOf(error: unknown, nowMs: number): Trouble {
  const { message } = error as Error;
  const code = error instanceof RpcFailure ? error.code : 0;
  const more = error instanceof RpcFailure ? JSON.stringify(error.details ?? '') : '';
  const text = `${message} ${more}`;
  const quota = quotaOf(statusIn(code, text), saidReset(text, nowMs) ?? delayIn(text, nowMs));
  return quota
    ? { kind: 'quota', quota, note: brief(message) }
    : { kind: 'failed', note: brief(message) };
}

/** The status is the code of the error, or stands in its words. */
function statusIn(code: number, text: string): number {
  if (code >= 400 && code < 600) return code;
  const [, said] = /\b(429|503|529)\b/.exec(text) ?? [];
  if (said !== undefined) return Number(said);
  if (/RESOURCE_EXHAUSTED|usage limit|rate.?limit|quota/i.test(text)) return 429;
  return /UNAVAILABLE|overloaded/i.test(text) ? 503 : 0;
}

function delayIn(text: string, nowMs: number): number | null {
  const [, seconds] =
    /(?:retry(?: in|Delay":\s*")|reset after )\s*(\d+(?:\.\d+)?)s/.exec(text) ?? [];
  return seconds === undefined ? null : nowMs + Number(seconds) * 1_000;
}
