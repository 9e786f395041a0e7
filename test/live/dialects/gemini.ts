/** Google's Gemini API: `models/M:generateContent`, `:streamGenerateContent`, `:countTokens`. */
import { type Dialect, type Said, serverSentEvents } from '../script.ts';
import { listOf, objectOf, textOf } from './json.ts';

export const gemini: Dialect = {
  name: 'gemini',
  read(path, body) {
    const [, model, verb] = /models\/([^/:]+):(\w+)$/.exec(path) ?? [];
    if (model === undefined || verb === undefined) return null;
    const asked = objectOf(body);
    return {
      dialect: 'gemini',
      path,
      model,
      isStreaming: verb === 'streamGenerateContent',
      tools: listOf(asked.tools).flatMap((group) =>
        listOf(objectOf(group).functionDeclarations).map((tool) => ({
          name: textOf(objectOf(tool).name),
        })),
      ),
      said: [
        ...parts(asked.systemInstruction, 'system'),
        ...listOf(asked.contents).flatMap((content) =>
          parts(content, objectOf(content).role === 'model' ? 'model' : 'user'),
        ),
      ],
      body,
    };
  },
  write(answer, request, id) {
    if (request.path.endsWith(':countTokens')) {
      return { contentType: 'application/json', text: JSON.stringify({ totalTokens: 10 }) };
    }
    const part =
      answer.kind === 'say'
        ? { text: answer.text }
        : { functionCall: { name: answer.tool.name, args: answer.args } };
    const reply = {
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
      modelVersion: request.model,
      responseId: id,
    };
    return request.isStreaming
      ? { contentType: 'text/event-stream', text: serverSentEvents([[null, reply]]) }
      : { contentType: 'application/json', text: JSON.stringify(reply) };
  },
};

function parts(content: unknown, by: 'system' | 'user' | 'model'): Said[] {
  return listOf(objectOf(content).parts).map((each): Said => {
    const part = objectOf(each);
    if (typeof part.text === 'string') return { by, text: part.text };
    const { functionResponse } = part;
    return functionResponse === undefined
      ? { by, text: JSON.stringify(part) }
      : { by: 'tool', text: JSON.stringify(objectOf(functionResponse).response) };
  });
}
