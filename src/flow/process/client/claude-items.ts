/** What Claude Code's `stream-json` tells of a turn, as items. Pure but for which tool an id belongs to, which is bounded. */
import { claudeTokens } from '../../../vendor/claude-stream-json.ts';
import { brief } from '../../../vendor/spoken.ts';
import { type Fields, isFields } from '../../../wire/fields.ts';
import type { AgentItem, StepState } from './agent-item.ts';
import { outputOf } from './codex-items.ts';
import type { TurnStream } from './turn-stream.ts';

const TOOLS_MAX = 1_000;
const CHANGING = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit']);

export interface ClaudeItems {
  line(line: Fields): void;
}

interface Used {
  readonly name: string;
  readonly input: Fields;
}

export function createClaudeItems(stream: TurnStream): ClaudeItems {
  const tools = new Map<string, Used>();
  let [tokensIn, tokensOut, lastId] = [0, 0, ''];

  function readAnswer(message: unknown): void {
    if (!isFields(message)) return;
    for (const part of parts(message.content)) {
      if (part.type === 'text' && typeof part.text === 'string') stream.said(part.text);
      else if (part.type === 'thinking') {
        stream.push({ type: 'thought', text: String(part.thinking ?? '') });
      } else if (part.type === 'tool_use') {
        const id = String(part.id ?? '');
        if (tools.size >= TOOLS_MAX) tools.clear();
        const used = {
          name: String(part.name ?? ''),
          input: isFields(part.input) ? part.input : {},
        };
        tools.set(id, used);
        stream.push(stepOf(id, used, 'started'));
      }
    }
    // An answer of the model comes in several lines, each with the usage of all of it.
    if (typeof message.id !== 'string' || message.id === lastId) return;
    lastId = message.id;
    const [input, output] = claudeTokens(message.usage);
    [tokensIn, tokensOut] = [tokensIn + input, tokensOut + output];
    stream.used({ tokensIn, tokensOut });
  }

  function readResults(message: unknown): void {
    for (const part of parts(isFields(message) ? message.content : null)) {
      if (part.type !== 'tool_result') continue;
      const id = String(part.tool_use_id ?? '');
      const used = tools.get(id) ?? { name: 'tool', input: {} };
      const state = part.is_error === true ? 'failed' : 'completed';
      stream.push({ ...stepOf(id, used, state), ...outputOf(part.content) } as AgentItem);
    }
  }

  return {
    line(line) {
      switch (line.type) {
        case 'assistant':
          return readAnswer(line.message);
        case 'user':
          return readResults(line.message);
        case 'stream_event': {
          const event = isFields(line.event) ? line.event : {};
          const delta = isFields(event.delta) ? event.delta : {};
          if (delta.type === 'text_delta') {
            stream.push({ type: 'delta', text: String(delta.text ?? '') });
          }
          return;
        }
        case 'system':
          if (line.subtype === 'api_retry') {
            stream.push({
              type: 'notice',
              text: brief(`the model answered ${line.error_status}; again`),
            });
          }
          return;
        case 'result': {
          const [input, output] = claudeTokens(line.usage);
          const usd = line.total_cost_usd;
          const usage = { tokensIn: input, tokensOut: output };
          return stream.used(typeof usd === 'number' ? { ...usage, usd } : usage);
        }
        default:
      }
    },
  };
}

function stepOf(id: string, { name, input }: Used, state: StepState): AgentItem {
  if (name === 'Bash') {
    return { type: 'command', id, state, command: String(input.command ?? '') };
  }
  if (CHANGING.has(name)) {
    const files = [input.file_path ?? input.notebook_path].flatMap((one) =>
      typeof one === 'string' ? [one] : [],
    );
    return { type: 'change', id, state, files };
  }
  return { type: 'tool', id, state, name, input };
}

function parts(content: unknown): Fields[] {
  return Array.isArray(content) ? content.filter(isFields) : [];
}
