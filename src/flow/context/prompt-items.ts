/**
 * The items of a session as messages. A tool call and its results are one unit: they are kept or left out
 * together [PP7]. What a tool gave is data, whoever vouches for the history; in a history that is not
 * trusted nobody speaks but the user, and all of it is fenced.
 */
import { named } from '../../wire/quoted.ts';
import type { PromptItem, PromptRole, PromptTrust } from './prompt-types.ts';

/** A message before it is cleaned, fenced and measured. */
export interface Draft {
  readonly role: PromptRole;
  readonly text: string;
  /** Said by the hub of it, before the text. */
  readonly head: string;
  readonly isFenced: boolean;
}

/** Drafts that stay together. */
export type Unit = readonly Draft[];

export function unitsOf(items: readonly PromptItem[], trust: PromptTrust): Unit[] {
  const units: Draft[][] = [];
  const calls = new Map<string, Draft[]>();
  for (const item of items) {
    const draft = trust === 'untrusted' ? asData(draftOf(item)) : draftOf(item);
    const call = item.kind === 'tool_result' ? calls.get(item.call_id) : undefined;
    if (call !== undefined) {
      call.push(draft);
      continue;
    }
    const unit = [draft];
    units.push(unit);
    if (item.kind === 'tool_call') calls.set(item.call_id, unit);
  }
  return units;
}

function draftOf(item: PromptItem): Draft {
  switch (item.kind) {
    case 'user':
    case 'assistant':
      return { role: item.kind, head: '', text: wordsOf(item.content), isFenced: false };
    case 'note':
      return { role: 'user', head: '[note]', text: wordsOf(item.content), isFenced: false };
    case 'tool_call': {
      const head = `[calls ${named(item.name)}, call ${named(item.call_id)}]`;
      return { role: 'assistant', head, text: jsonOf(item.arguments), isFenced: false };
    }
    case 'tool_result': {
      const { call_id: id, state = 'ok' } = item;
      const head = `[result of call ${named(id)}: ${state}]`;
      return { role: 'user', head, text: wordsOf(item.output), isFenced: true };
    }
    case 'handoff': {
      const head = `[handed over from ${named(item.from)} to ${named(item.to)}]`;
      const input = item.input === undefined ? '' : `\n${jsonOf(item.input)}`;
      return { role: 'user', head, text: `${item.why}${input}`, isFenced: true };
    }
  }
}

function asData({ role, head, text }: Draft): Draft {
  const said = head === '' && role !== 'user' ? `[said by the ${role}]` : head;
  return { role: 'user', head: said, text, isFenced: true };
}

/** A text, or a list of parts of which those with a text are said and the rest is JSON. */
function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return jsonOf(content);
  return content
    .map((part) => {
      const text = (part as { readonly text?: unknown } | null)?.text;
      return typeof part === 'string' ? part : typeof text === 'string' ? text : jsonOf(part);
    })
    .join('\n');
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value ?? null) ?? 'null';
}
