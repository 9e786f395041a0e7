/** Anthropic's Messages API: `/v1/messages`, streaming or not, and `count_tokens`. */
import { type Answer, type Dialect, type Said, serverSentEvents, type Written } from '../script.ts';
import { flatten, listOf, objectOf, textOf } from './json.ts';

const USAGE = { input_tokens: 10, output_tokens: 10 };

export const anthropic: Dialect = {
  name: 'anthropic',
  read(path, body) {
    if (!/\/v1\/messages(\/count_tokens)?$/.test(path)) return null;
    const asked = objectOf(body);
    return {
      dialect: 'anthropic',
      path,
      model: textOf(asked.model),
      isStreaming: asked.stream === true,
      tools: path.endsWith('count_tokens')
        ? []
        : listOf(asked.tools).map((tool) => ({ name: textOf(objectOf(tool).name) })),
      said: [
        ...blocks(asked.system, 'system'),
        ...listOf(asked.messages).flatMap((message) => {
          const { role, content } = objectOf(message);
          return blocks(content, role === 'assistant' ? 'model' : 'user');
        }),
      ],
      body,
    };
  },
  write: (answer, request, id) => {
    if (request.path.endsWith('count_tokens')) return json({ input_tokens: 10 });
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: request.model };
    const block = contentOf(answer, id);
    const stop = answer.kind === 'call' ? 'tool_use' : 'end_turn';
    if (!request.isStreaming) {
      return json({
        ...message,
        content: [block],
        stop_reason: stop,
        stop_sequence: null,
        usage: USAGE,
      });
    }
    return stream(message, answer, block, stop);
  },
};

function blocks(content: unknown, by: 'system' | 'user' | 'model'): Said[] {
  if (typeof content === 'string') return [{ by, text: content }];
  return listOf(content).map((each): Said => {
    const block = objectOf(each);
    if (block.type === 'text') return { by, text: textOf(block.text) };
    if (block.type !== 'tool_result') return { by, text: JSON.stringify(block) };
    const inner = listOf(block.content).map((part) => textOf(objectOf(part).text));
    return { by: 'tool', text: inner.length > 0 ? inner.join('\n') : flatten(block.content) };
  });
}

function contentOf(answer: Answer, id: string): object {
  return answer.kind === 'say'
    ? { type: 'text', text: answer.text }
    : { type: 'tool_use', id: `toolu_${id}`, name: answer.tool.name, input: answer.args };
}

function json(value: unknown): Written {
  return { contentType: 'application/json', text: JSON.stringify(value) };
}

function stream(message: object, answer: Answer, block: object, stop: string): Written {
  const [empty, delta] =
    answer.kind === 'say'
      ? [
          { ...block, text: '' },
          { type: 'text_delta', text: answer.text },
        ]
      : [
          { ...block, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(answer.args) },
        ];
  const events: [string, object][] = [
    [
      'message_start',
      {
        message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: USAGE },
      },
    ],
    ['content_block_start', { index: 0, content_block: empty }],
    ['content_block_delta', { index: 0, delta }],
    ['content_block_stop', { index: 0 }],
    ['message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage: USAGE }],
    ['message_stop', {}],
  ];
  return {
    contentType: 'text/event-stream',
    text: serverSentEvents(events.map(([type, rest]) => [type, { type, ...rest }] as const)),
  };
}
