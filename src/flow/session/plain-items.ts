/**
 * What the adapters share: an item of a session in the words of another maker. What a maker knows more of
 * an item lies in its `data` under the maker's name, so that it gets back what it gave; what others wrote
 * is told in plain text.
 */
import type { NewItem, SessionItem } from '../../wire/operations/sessions.ts';
import type { Session } from './session.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** What this maker stored with the item; null when another wrote it. */
export function ownData(item: SessionItem, maker: string): Fields | null {
  const data = 'data' in item ? item.data : undefined;
  const own = data?.[maker];
  return isFields(own) ? own : null;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whatever it is, as text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return JSON.stringify(value ?? null);
  const texts = value.flatMap((part) =>
    isFields(part) && typeof part.text === 'string' ? [part.text] : [],
  );
  return texts.length === value.length ? texts.join('\n') : JSON.stringify(value);
}

/** What a result says: where nobody knows it, how to ask. */
export function resultText(item: Extract<SessionItem, { kind: 'tool_result' }>): string {
  if (item.state !== 'unknown') return textOf(item.output);
  const key = item.key ?? (isFields(item.output) ? item.output.key : null);
  return `unknown: nobody knows what became of this call; ask by its key ${String(key)}`;
}

export function handoffText(item: Extract<SessionItem, { kind: 'handoff' }>): string {
  const input = item.input === null ? '' : ` ${JSON.stringify(item.input)}`;
  return `handed on from ${item.from} to ${item.to}: ${item.why}${input}`;
}

/**
 * Appends what a maker gave. A result without a call is kept as a note, because the law has results of
 * calls alone; and before a user speaks, calls that were left without a result are said to be unknown.
 */
export async function appendPlain(session: Session, items: readonly NewItem[]): Promise<void> {
  if (items.length === 0) return;
  const { open_calls: waiting } = await session.view();
  const open = new Map(waiting.map(({ call_id, key }) => [call_id, key]));
  const fitting: NewItem[] = [];
  for (const item of items) {
    if (item.kind === 'user') {
      for (const [call_id, key] of open) {
        fitting.push({ kind: 'tool_result', call_id, state: 'unknown', output: { key } });
      }
      open.clear();
    }
    if (item.kind === 'tool_result') {
      fitting.push(open.delete(item.call_id) ? item : misplaced(item));
    } else if (item.kind === 'tool_call') {
      fitting.push(open.has(item.call_id) ? misplaced(item) : item);
      open.set(item.call_id, open.get(item.call_id) ?? item.call_id);
    } else fitting.push(item);
  }
  await session.append(fitting);
}

/** What a note keeps of a call or a result that is on its own. */
function misplaced(item: Extract<NewItem, { kind: 'tool_call' | 'tool_result' }>): NewItem {
  const payload = item.kind === 'tool_call' ? item.arguments : item.output;
  const data = { ...item.data, misplaced: payload ?? null };
  return { kind: 'note', content: `a ${item.kind} on its own: ${textOf(payload)}`, data };
}

/** The arguments of a call, or the output of a result, wherever they are kept; undefined for another item. */
export function payloadOf(item: SessionItem): unknown {
  if (item.kind === 'tool_call') return item.arguments;
  if (item.kind === 'tool_result') return item.output;
  return item.kind === 'note' ? item.data?.misplaced : undefined;
}
