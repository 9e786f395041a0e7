/** OpenAI's Responses API (`/v1/responses`), streaming, as Codex speaks it. */
import {
  type Answer,
  type Dialect,
  type OfferedTool,
  type Said,
  serverSentEvents,
} from '../script.ts';
import { flatten, listOf, objectOf, textOf } from './json.ts';

export const responses: Dialect = {
  name: 'responses',
  read(path, body) {
    if (!path.endsWith('/responses')) return null;
    const asked = objectOf(body);
    return {
      dialect: 'responses',
      path,
      model: textOf(asked.model),
      isStreaming: asked.stream === true,
      tools: listOf(asked.tools).flatMap(offered),
      said: [{ by: 'system', text: textOf(asked.instructions) }, ...listOf(asked.input).map(said)],
      body,
    };
  },
  write(answer, request, id) {
    const item = itemOf(answer, id);
    const response = { id: `resp_${id}`, object: 'response', model: request.model };
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 20,
    };
    const completed = { ...response, status: 'completed', output: [item], usage };
    if (!request.isStreaming) {
      return { contentType: 'application/json', text: JSON.stringify(completed) };
    }
    const events: [string, object][] = [
      ['response.created', { response: { ...response, status: 'in_progress', output: [] } }],
      ['response.output_item.added', { output_index: 0, item }],
      ['response.output_item.done', { output_index: 0, item }],
      ['response.completed', { response: completed }],
    ];
    return {
      contentType: 'text/event-stream',
      text: serverSentEvents(events.map(([type, rest]) => [type, { type, ...rest }] as const)),
    };
  },
};

function offered(value: unknown): OfferedTool[] {
  const tool = objectOf(value);
  const name = textOf(tool.name);
  if (tool.type !== 'namespace') return [{ name: name === '' ? textOf(tool.type) : name }];
  return listOf(tool.tools).map((each) => ({
    name: textOf(objectOf(each).name),
    namespace: name,
  }));
}

function said(value: unknown): Said {
  const item = objectOf(value);
  if (item.type === 'message') {
    const text = listOf(item.content).map((part) => textOf(objectOf(part).text));
    return { by: speaker(item.role), text: text.join('\n') };
  }
  return textOf(item.type).endsWith('_output')
    ? { by: 'tool', text: flatten(item.output) }
    : { by: 'model', text: JSON.stringify(item) };
}

function speaker(role: unknown): Said['by'] {
  if (role === 'assistant') return 'model';
  return role === 'user' ? 'user' : 'system';
}

function itemOf(answer: Answer, id: string): object {
  if (answer.kind === 'say') {
    const content = [{ type: 'output_text', text: answer.text, annotations: [] }];
    return { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content };
  }
  const { name, namespace } = answer.tool;
  return {
    type: 'function_call',
    id: `fc_${id}`,
    call_id: `call_${id}`,
    status: 'completed',
    name,
    ...(namespace !== undefined && { namespace }),
    arguments: JSON.stringify(answer.args),
  };
}
