/**
 * A session as the OpenAI Agents SDK wants it: an object of its `Session` interface over a session of the
 * hub. The SDK is not imported: whichever version is installed brings the type of its items.
 */
import type { NewItem, SessionItem } from '../../wire/operations/sessions.ts';
import {
  appendPlain,
  type Fields,
  handoffText,
  ownData,
  payloadOf,
  resultText,
  textOf,
} from './plain-items.ts';
import type { Session } from './session.ts';

/**
 * What `@openai/agents` calls a `Session`.
 *
 * @example
 * const sdk: OpenAiSession<AgentInputItem> = openAiSession(session);
 * await sdk.addItems([{ role: 'user', content: 'Hello' }]);
 */
export interface OpenAiSession<Item> {
  getSessionId(): Promise<string>;
  getItems(limit?: number): Promise<Item[]>;
  addItems(items: Item[]): Promise<void>;
  popItem(): Promise<Item | undefined>;
  clearSession(): Promise<void>;
}

const MAKER = 'openai';

/**
 * The session for `run(agent, input, { session })`. What other makers' agents appended is there too, as
 * messages and function calls; a call that nobody knows the end of has a result that says so.
 *
 * @example
 * const session = await openSession(hub, { key: 'ticket-42' });
 * await run(agent, 'Where is my parcel?', { session: openAiSession(session) });
 */
export function openAiSession<Item extends object>(session: Session): OpenAiSession<Item> {
  return {
    getSessionId: async () => session.id,
    async getItems(limit) {
      if (limit !== undefined && limit <= 0) return [];
      const items = (await session.items()).map((item) => fromItem(item) as Item);
      return limit === undefined ? items : items.slice(-limit);
    },
    addItems: (items) =>
      appendPlain(
        session,
        items.map((item) => toItem(item as Fields)),
      ),
    async popItem() {
      const stored = (await session.items()).filter(({ index }) => index !== null);
      const last = stored.at(-1);
      if (last === undefined) return undefined;
      const length = stored.length - 1;
      const start = wholeBefore(stored, length);
      await session.rewind(start);
      // A call whose result is taken back is open again.
      const again = stored.slice(start, length).map((item) => toItem(fromItem(item)));
      if (again.length > 0) await session.append(again);
      return fromItem(last) as Item;
    },
    async clearSession() {
      await session.rewind(0);
    },
  };
}

/** The longest history, not over `length`, in which every call has its result. */
function wholeBefore(items: readonly SessionItem[], length: number): number {
  const open = new Set<string>();
  let whole = 0;
  for (let i = 0; i < length; i++) {
    const item = items[i];
    if (item?.kind === 'tool_call') open.add(item.call_id);
    if (item?.kind === 'tool_result') open.delete(item.call_id);
    if (open.size === 0) whole = i + 1;
  }
  return whole;
}

const CALL = /_call$/;
const RESULT = /_call_(result|output)$/;

function toItem(item: Fields): NewItem {
  const { type, role, content, callId } = item;
  // What is told by the item itself is not stored twice.
  if (typeof callId === 'string' && typeof type === 'string' && CALL.test(type)) {
    const name = typeof item.name === 'string' ? item.name : type;
    const data = { [MAKER]: 'arguments' in item ? { ...item, arguments: null } : item };
    return { kind: 'tool_call', call_id: callId, name, arguments: item.arguments ?? null, data };
  }
  if (typeof callId === 'string' && typeof type === 'string' && RESULT.test(type)) {
    const data = { [MAKER]: 'output' in item ? { ...item, output: null } : item };
    return { kind: 'tool_result', call_id: callId, output: item.output ?? null, data };
  }
  const isSaid = typeof content === 'string' || Array.isArray(content);
  if (isSaid && (role === 'user' || role === 'assistant')) {
    return { kind: role, content, data: { [MAKER]: { ...item, content: null } } };
  }
  return { kind: 'note', content: String(type ?? role ?? 'item'), data: { [MAKER]: item } };
}

function fromItem(item: SessionItem): Fields {
  const own = ownData(item, MAKER);
  if (own !== null) return restored(own, item);
  switch (item.kind) {
    case 'tool_call':
      return {
        ...{ type: 'function_call', callId: item.call_id, name: item.name, status: 'completed' },
        arguments:
          typeof item.arguments === 'string' ? item.arguments : JSON.stringify(item.arguments),
      };
    case 'tool_result':
      return {
        ...{ type: 'function_call_result', name: '', callId: item.call_id },
        ...{
          status: item.state === 'unknown' ? 'incomplete' : 'completed',
          output: resultText(item),
        },
      };
    case 'assistant': {
      const content = [{ type: 'output_text', text: textOf(item.content) }];
      return { type: 'message', role: 'assistant', status: 'completed', content };
    }
    case 'user':
      return { type: 'message', role: 'user', content: textOf(item.content) };
    case 'note':
      return { type: 'message', role: 'system', content: textOf(item.content) };
    case 'handoff':
      return { type: 'message', role: 'system', content: handoffText(item) };
  }
}

function restored(own: Fields, item: SessionItem): Fields {
  const payload = payloadOf(item);
  if (payload !== undefined) {
    const isCall = typeof own.type === 'string' && CALL.test(own.type);
    const field = isCall ? 'arguments' : 'output';
    // A call of a kind that has no arguments was given none.
    return field in own ? { ...own, [field]: payload } : own;
  }
  const isSaid = item.kind === 'user' || item.kind === 'assistant';
  return isSaid ? { ...own, content: item.content } : own;
}
