/**
 * Claude Code's `stream-json`, read line by line [RV4]: what it asks, what it says for the transcript, and
 * in the end what the turn came to. A line that is not JSON is text, a line of a kind we do not know is
 * nothing. Pure but for what it remembers.
 */

import { type ClaudeAsk, claudeAsk, claudeTokens } from '../../../vendor/claude-stream-json.ts';
import { brief, parseLine } from '../../../vendor/spoken.ts';
import { isFields } from '../../../wire/fields.ts';
import type { TurnCost } from '../runner.ts';
import { epochMs, type Learnt, quotaOf, saidReset, type Trouble } from './turn-ending.ts';

export type ClaudeNews =
  | { readonly kind: 'init'; readonly keySource: string }
  | ClaudeAsk
  | { readonly kind: 'end' };

type Fields = Readonly<Record<string, unknown>>;

export interface ClaudeReader {
  /** What has to be done about the line, if anything; what is to be seen of it goes to `show`. */
  read(line: string): ClaudeNews | null;
  learnt(): Learnt;
}

export function createClaudeReader(
  show: (text: string) => void,
  nowMs: () => number,
  spent: (cost: TurnCost) => void = () => {},
): ClaudeReader {
  let sessionRef: string | null = null;
  let finalText: string | null = null;
  let cost: TurnCost | null = null;
  let trouble: Trouble | null = null;
  let resetAt: number | null = null;
  let lastId = '';
  let running = { tokens_in: 0, tokens_out: 0 };

  /** An answer of the model comes in several lines, each with the usage of all of it. */
  function readUsage(message: unknown): void {
    if (!isFields(message) || typeof message.id !== 'string' || message.id === lastId) return;
    lastId = message.id;
    const { tokens_in = 0, tokens_out = 0 } = costOf({ usage: message.usage });
    running = {
      tokens_in: running.tokens_in + tokens_in,
      tokens_out: running.tokens_out + tokens_out,
    };
    spent(running);
  }

  function readResult(line: Fields): void {
    const { subtype, is_error: isError, result, api_error_status: status, errors } = line;
    cost = costOf(line);
    const text = typeof result === 'string' ? result : '';
    const listed = Array.isArray(errors) ? errors.filter((one) => typeof one === 'string') : [];
    const note = brief(text !== '' ? text : listed.join('; ') || String(subtype ?? 'an error'));
    if (subtype === 'error_max_budget_usd' || subtype === 'error_max_turns') {
      trouble = { kind: 'budget', note };
    } else if (isError === true) {
      const quota = quotaOf(Number(status), resetAt ?? saidReset(text, nowMs()));
      trouble = quota ? { kind: 'quota', quota, note } : { kind: 'failed', note };
    } else {
      trouble = null;
      finalText = text;
    }
  }

  return {
    read(raw) {
      const line = parseLine(raw);
      if (line === null) {
        if (raw.trim() !== '') show(brief(raw));
        return null;
      }
      if (typeof line.session_id === 'string' && line.session_id !== '') {
        sessionRef = line.session_id;
      }
      switch (line.type) {
        case 'system':
          if (line.subtype === 'api_retry') show(`the model answered ${line.error_status}; again`);
          if (line.subtype !== 'init') return null;
          return { kind: 'init', keySource: String(line.apiKeySource ?? 'none') };
        case 'rate_limit_event':
          resetAt = resetOf(line.rate_limit_info) ?? resetAt;
          return null;
        case 'assistant':
          for (const text of saidIn(line.message)) show(text);
          readUsage(line.message);
          return null;
        case 'control_request':
          return claudeAsk(line);
        case 'result':
          readResult(line);
          return { kind: 'end' };
        default:
          return null;
      }
    },
    learnt: () => ({ finalText, sessionRef, cost: cost ?? running, trouble }),
  };
}

function saidIn(message: unknown): string[] {
  if (!isFields(message) || !Array.isArray(message.content)) return [];
  return message.content.filter(isFields).flatMap(({ type, text, name, input }) => {
    if (type === 'text' && typeof text === 'string') return [brief(text)];
    return type === 'tool_use' ? [brief(`uses ${String(name)}: ${JSON.stringify(input)}`)] : [];
  });
}

function costOf({ total_cost_usd: usd, usage }: Fields): TurnCost {
  const [tokens_in, tokens_out] = claudeTokens(usage);
  return { ...(typeof usd === 'number' && { usd }), tokens_in, tokens_out };
}

/** Only a limit that was reached says when we may come back. */
function resetOf(limits: unknown): number | null {
  if (!isFields(limits) || limits.status !== 'rejected') return null;
  return epochMs(limits.resetsAt);
}
