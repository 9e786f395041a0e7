/**
 * A session as a list of messages of the Vercel AI SDK: `messages()` for `generateText({ messages })`, and
 * `append(result.response.messages)` after it. The SDK is not imported; its version brings the types.
 */
import type { NewItem, SessionItem } from '../../wire/operations/sessions.ts';
import {
  appendPlain,
  type Fields,
  handoffText,
  isFields,
  ownData,
  payloadOf,
  resultText,
  textOf,
} from './plain-items.ts';
import type { Session } from './session.ts';

/**
 * Messages of a session in the words of `ai`.
 *
 * @example
 * const history: AiMessages<ModelMessage> = aiMessages(session);
 * console.log((await history.messages()).length);
 */
export interface AiMessages<Message> {
  messages(): Promise<Message[]>;
  append(messages: readonly Message[]): Promise<void>;
}

const MAKER = 'ai';

/**
 * The messages of a session for the AI SDK. What other makers' agents appended is there too; a call that
 * nobody knows the end of has a result that says so.
 *
 * @example
 * const history = aiMessages<ModelMessage>(await openSession(hub, { key: 'chat' }));
 * await history.append([{ role: 'user', content: 'Hello' }]);
 * const { response } = await generateText({ model, messages: await history.messages() });
 * await history.append(response.messages);
 */
export function aiMessages<Message extends object>(session: Session): AiMessages<Message> {
  return {
    messages: async () => fromItems(await session.items()) as Message[],
    append: (messages) =>
      appendPlain(
        session,
        messages.flatMap((one) => toItems(one as Fields)),
      ),
  };
}

/** One message is one item, or several: a call and a result are each an item of their own. */
function toItems(message: Fields): NewItem[] {
  const { content, ...rest } = message;
  if (content === undefined) {
    throw new TypeError(
      'these are no messages for a model: give UI messages to convertToModelMessages of ai first',
    );
  }
  const kind = message.role === 'user' || message.role === 'assistant' ? message.role : 'note';
  if (!Array.isArray(content)) {
    const text = typeof content === 'string' ? content : textOf(content);
    return [{ kind, content: text, data: { [MAKER]: { message: rest, isText: true } } }];
  }
  const items: NewItem[] = [];
  let said: unknown[] = [];
  const own = (more: Fields): Fields =>
    items.length === 0 ? { message: rest, ...more } : { goesOn: true, ...more };
  const speak = (): void => {
    if (said.length > 0) items.push({ kind, content: said, data: { [MAKER]: own({}) } });
    said = [];
  };
  for (const part of content) {
    const item = toolItem(part);
    if (item === null) {
      said.push(part);
      continue;
    }
    speak();
    items.push({ ...item.item, data: { [MAKER]: own({ part: item.part }) } });
  }
  speak();
  // A message of no parts is still a message.
  if (items.length === 0) items.push({ kind, content: [], data: { [MAKER]: { message: rest } } });
  return items;
}

type ToolItem = Extract<NewItem, { kind: 'tool_call' | 'tool_result' }>;

/** A call or a result, and the part without what the item tells. */
function toolItem(part: unknown): { readonly item: ToolItem; readonly part: Fields } | null {
  if (!isFields(part) || typeof part.toolCallId !== 'string') return null;
  const { type, toolCallId: call_id, toolName, input, output } = part;
  if (type === 'tool-call' && part.providerExecuted !== true) {
    const item = { kind: 'tool_call', call_id, name: String(toolName), arguments: input } as const;
    return { item, part: { ...part, input: null } };
  }
  if (type !== 'tool-result' || part.providerExecuted === true) return null;
  const isError = isFields(output) && String(output.type).startsWith('error');
  const state = isError ? 'error' : 'ok';
  return {
    item: { kind: 'tool_result', call_id, state, output },
    part: { ...part, output: null },
  };
}

function fromItems(items: readonly SessionItem[]): Fields[] {
  const messages: { message: Fields; parts: unknown[] | string }[] = [];
  for (const item of items) {
    const own = ownData(item, MAKER);
    const last = messages.at(-1);
    if (own === null) messages.push(plainMessage(item, items));
    else if (own.isText === true && isFields(own.message)) {
      messages.push({ message: own.message, parts: textOf('content' in item ? item.content : '') });
    } else if (isFields(own.message)) {
      messages.push({ message: own.message, parts: partsOf(item, own) });
    } else if (last !== undefined && Array.isArray(last.parts)) {
      last.parts.push(...partsOf(item, own));
    }
  }
  return messages.map(({ message, parts }) => ({ ...message, content: parts }));
}

function partsOf(item: SessionItem, { part }: Fields): unknown[] {
  if (!isFields(part)) return 'content' in item && Array.isArray(item.content) ? item.content : [];
  const field = part.type === 'tool-call' ? 'input' : 'output';
  return [{ ...part, [field]: payloadOf(item) }];
}

/** What another maker wrote, or the hub. */
function plainMessage(
  item: SessionItem,
  items: readonly SessionItem[],
): { message: Fields; parts: unknown[] | string } {
  switch (item.kind) {
    case 'user':
    case 'assistant':
      return { message: { role: item.kind }, parts: textOf(item.content) };
    case 'note':
      return { message: { role: 'system' }, parts: textOf(item.content) };
    case 'handoff':
      return { message: { role: 'system' }, parts: handoffText(item) };
    case 'tool_call': {
      const call = { type: 'tool-call', toolCallId: item.call_id, toolName: item.name };
      return { message: { role: 'assistant' }, parts: [{ ...call, input: item.arguments }] };
    }
    case 'tool_result': {
      const { call_id } = item;
      const call = items.find((one) => one.kind === 'tool_call' && one.call_id === call_id);
      const toolName = call?.kind === 'tool_call' ? call.name : '';
      const type = item.state === 'ok' ? 'text' : 'error-text';
      const output = { type, value: resultText(item) };
      const part = { type: 'tool-result', toolCallId: call_id, toolName, output };
      return { message: { role: 'tool' }, parts: [part] };
    }
  }
}
