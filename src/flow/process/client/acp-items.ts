/** What an ACP agent tells of a turn, as items: pieces put together to what it said. What it remembers of tools is bounded. */
import { acpTokens } from '../../../vendor/acp-agent.ts';
import type { Params } from '../../../vendor/line-rpc.ts';
import { isFields } from '../../../wire/fields.ts';
import type { AgentItem, StepState } from './agent-item.ts';
import { outputOf } from './codex-items.ts';
import type { TurnStream } from './turn-stream.ts';

const SAID_CHARS_MAX = 1024 * 1024;
const TOOLS_MAX = 1_000;
const CHANGING = new Set(['edit', 'delete', 'move']);
const STATES: Readonly<Record<string, StepState>> = { completed: 'completed', failed: 'failed' };

export interface AcpItems {
  update(update: Params): void;
  /** A prompt was answered: what was said is whole. */
  answered(response: Params): void;
}

export function createAcpItems(stream: TurnStream): AcpItems {
  const calls = new Map<string, Params>();
  let said = '';
  let [tokensIn, tokensOut] = [0, 0];
  let usd: number | null = null;

  function flush(): void {
    if (said !== '') stream.said(said);
    said = '';
  }

  function readCall(update: Params): void {
    const id = String(update.toolCallId ?? '');
    // An update names what has changed, and nothing else.
    const given = Object.entries(update).filter(
      ([, value]) => value !== undefined && value !== null,
    );
    const call: Params = { ...calls.get(id), ...Object.fromEntries(given) };
    if (calls.size >= TOOLS_MAX) calls.clear();
    calls.set(id, call);
    stream.push(stepOf(id, call));
  }

  return {
    update(update) {
      const { sessionUpdate: kind, content, cost } = update;
      const text = isFields(content) && typeof content.text === 'string' ? content.text : '';
      switch (kind) {
        case 'agent_message_chunk':
          if (text === '') return;
          said = `${said}${text}`.slice(-SAID_CHARS_MAX);
          return stream.push({ type: 'delta', text });
        case 'agent_thought_chunk':
          return stream.push({ type: 'thought', text });
        case 'tool_call':
          flush();
          return readCall(update);
        case 'tool_call_update':
          return readCall(update);
        case 'plan': {
          const entries = Array.isArray(update.entries) ? update.entries.filter(isFields) : [];
          const lines = entries.map((one) => `${String(one.status)}: ${String(one.content)}`);
          return stream.push({ type: 'plan', text: lines.join('\n') });
        }
        case 'usage_update':
          if (isFields(cost) && cost.currency === 'USD' && typeof cost.amount === 'number') {
            usd = cost.amount;
          }
          return;
        default:
      }
    },
    answered(response) {
      flush();
      const [input, output] = acpTokens(response);
      [tokensIn, tokensOut] = [tokensIn + input, tokensOut + output];
      stream.used({ tokensIn, tokensOut, ...(usd !== null && { usd }) });
    },
  };
}

function stepOf(id: string, call: Params): AgentItem {
  const state = STATES[String(call.status)] ?? 'started';
  const title = String(call.title ?? call.kind ?? 'tool');
  const output = state === 'started' ? {} : outputOf(call.rawOutput ?? call.content);
  if (call.kind === 'execute') {
    const { command } = isFields(call.rawInput) ? call.rawInput : {};
    const words = typeof command === 'string' ? command : title;
    return { type: 'command', id, state, command: words, ...output };
  }
  if (CHANGING.has(String(call.kind))) {
    const places = Array.isArray(call.locations) ? call.locations.filter(isFields) : [];
    const files = places.map(({ path }) => String(path));
    return { type: 'change', id, state, files: files.length > 0 ? files : [title] };
  }
  const input = call.rawInput === undefined ? {} : { input: call.rawInput };
  return { type: 'tool', id, state, name: title, ...input, ...output };
}
