/** What Codex's app-server tells of a turn, as items. What has no word of ours is passed on. Pure but for what it remembers of changes, which is bounded. */
import type { Params } from '../../../vendor/line-rpc.ts';
import { brief } from '../../../vendor/spoken.ts';
import { isFields } from '../../../wire/fields.ts';
import type { StepState } from './agent-item.ts';
import type { TurnStream } from './turn-stream.ts';

const CHANGES_MAX = 100;
const OUTPUT_CHARS_MAX = 16 * 1024;

export interface CodexItems {
  notice(method: string, params: Params): void;
  changedBy(itemId: string): readonly Params[];
}

const STATES: Readonly<Record<string, StepState>> = {
  inProgress: 'started',
  completed: 'completed',
  failed: 'failed',
  declined: 'declined',
};
/** Told in other words already. */
const SILENT = new Set(['userMessage', 'hookPrompt']);

export function createCodexItems(stream: TurnStream): CodexItems {
  const changes = new Map<string, readonly Params[]>();
  let [tokensIn, tokensOut] = [0, 0];

  function readItem(item: Params, isDone: boolean): void {
    const state = STATES[String(item.status)] ?? (isDone ? 'completed' : 'started');
    const id = String(item.id ?? '');
    switch (item.type) {
      case 'agentMessage':
        if (isDone) stream.said(String(item.text ?? ''));
        return;
      case 'reasoning': {
        const said = [item.summary, item.content].flatMap((list) =>
          Array.isArray(list) ? list : [],
        );
        if (isDone && said.length > 0) stream.push({ type: 'thought', text: said.join('\n') });
        return;
      }
      case 'plan':
        if (isDone) stream.push({ type: 'plan', text: String(item.text ?? '') });
        return;
      case 'commandExecution':
        return stream.push({
          ...{ type: 'command', id, state, command: String(item.command ?? '') },
          ...(typeof item.exitCode === 'number' && { exitCode: item.exitCode }),
          ...outputOf(item.aggregatedOutput),
        });
      case 'fileChange': {
        const list = Array.isArray(item.changes) ? item.changes.filter(isFields) : [];
        if (changes.size >= CHANGES_MAX) changes.clear();
        changes.set(id, list);
        const files = list.map(({ path }) => String(path));
        return stream.push({ type: 'change', id, files, state });
      }
      case 'mcpToolCall':
      case 'dynamicToolCall':
      case 'webSearch':
        return stream.push({
          ...{ type: 'tool', id, state, name: String(item.tool ?? item.type) },
          ...(item.arguments !== undefined && { input: item.arguments }),
          ...outputOf(item.result ?? item.error),
        });
      default:
        if (isDone && !SILENT.has(String(item.type))) {
          stream.push({ type: 'other', name: String(item.type), data: item });
        }
    }
  }

  function readUsage(usage: unknown): void {
    const last = isFields(usage) && isFields(usage.last) ? usage.last : {};
    if (typeof last.inputTokens === 'number') tokensIn += last.inputTokens;
    if (typeof last.outputTokens === 'number') tokensOut += last.outputTokens;
    stream.used({ tokensIn, tokensOut });
  }

  function readEnd(turn: unknown): void {
    const { status, error } = isFields(turn) ? turn : { status: 'failed', error: null };
    if (status === 'completed' || status === 'interrupted') return stream.end(status);
    const words = isFields(error) ? String(error.message ?? '') : `Codex says ${String(status)}`;
    stream.end('failed', brief(words));
  }

  return {
    changedBy: (itemId) => changes.get(itemId) ?? [],
    notice(method, params) {
      switch (method) {
        case 'item/started':
          return readItem(isFields(params.item) ? params.item : {}, false);
        case 'item/completed':
          return readItem(isFields(params.item) ? params.item : {}, true);
        case 'item/agentMessage/delta':
          return stream.push({ type: 'delta', text: String(params.delta ?? '') });
        case 'thread/tokenUsage/updated':
          return readUsage(params.tokenUsage);
        case 'error': {
          const words = isFields(params.error) ? String(params.error.message ?? '') : 'an error';
          return stream.push({ type: 'notice', text: brief(words) });
        }
        case 'turn/completed':
          return readEnd(params.turn);
        default:
      }
    },
  };
}

/** Bounded: what a tool printed is no message. */
export function outputOf(value: unknown): { readonly output?: string } {
  if (value === undefined || value === null) return {};
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text === '' ? {} : { output: text.slice(0, OUTPUT_CHARS_MAX).toWellFormed() };
}
