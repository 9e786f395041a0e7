/** OpenAI's Chat Completions (`/v1/chat/completions`), as opencode's compatible provider speaks it. */
import { type Answer, type Dialect, type Said, serverSentEvents } from '../script.ts';
import { flatten, listOf, objectOf, textOf } from './json.ts';

const SPEAKERS: Readonly<Record<string, Said['by']>> = {
  user: 'user',
  assistant: 'model',
  tool: 'tool',
};

export const chat: Dialect = {
  name: 'chat',
  read(path, body) {
    if (!path.endsWith('/chat/completions')) return null;
    const asked = objectOf(body);
    return {
      dialect: 'chat',
      path,
      model: textOf(asked.model),
      isStreaming: asked.stream === true,
      tools: listOf(asked.tools).map((tool) => ({
        name: textOf(objectOf(objectOf(tool).function).name),
      })),
      said: listOf(asked.messages).map(said),
      body,
    };
  },
  write(answer, request, id) {
    const about = { id: `chatcmpl-${id}`, created: 0, model: request.model };
    const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
    const reason = answer.kind === 'say' ? 'stop' : 'tool_calls';
    const message = messageOf(answer, id);
    if (!request.isStreaming) {
      const choices = [{ index: 0, message, finish_reason: reason }];
      const text = JSON.stringify({ ...about, object: 'chat.completion', choices, usage });
      return { contentType: 'application/json', text };
    }
    const chunk = (delta: object, finish: string | null): object => ({
      ...about,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...(finish !== null && { usage }),
    });
    return {
      contentType: 'text/event-stream',
      text: serverSentEvents([
        [null, chunk(message, null)],
        [null, chunk({}, reason)],
        [null, '[DONE]'],
      ]),
    };
  },
};

function said(value: unknown): Said {
  const { role, content, tool_calls: calls } = objectOf(value);
  const parts = listOf(content).map((part) => textOf(objectOf(part).text));
  const text = parts.length > 0 ? parts.join('\n') : flatten(content);
  return { by: SPEAKERS[textOf(role)] ?? 'system', text: `${text}${flatten(calls)}` };
}

function messageOf(answer: Answer, id: string): object {
  if (answer.kind === 'say') return { role: 'assistant', content: answer.text };
  const call = { name: answer.tool.name, arguments: JSON.stringify(answer.args) };
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ index: 0, id: `call_${id}`, type: 'function', function: call }],
  };
}
