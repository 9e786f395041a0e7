/** Sessions for a person: one line for each of many, and the items of one in their order. */
import type { CallOutput } from '../client/operations.ts';
import { clockTime } from './message-text.ts';
import { type Colours, jsonText, neutralise } from './terminal.ts';

type Read = CallOutput<'sessions.get'>;
type View = Read['session'];
type Item = Read['items'][number];

export function sessionRow(view: View): string[] {
  const { session_id: id, state, agent_id: holder, length, key } = view;
  const items = `${length} ${length === 1 ? 'item' : 'items'}`;
  const open = view.open_calls.length === 0 ? '' : `, ${view.open_calls.length} without a result`;
  return [id, state, holder, `${items}${open}`, clockTime(view.changed_at), key ?? ''];
}

/** How it stands. */
export function sessionHead(view: View, colours: Colours): string {
  const { session_id: id, state, agent_id: holder, created_by: creator, length } = view;
  const until = view.expires_at === null ? '' : `, until ${clockTime(view.expires_at)}`;
  const cuts = view.cuts === 0 ? '' : `, ${view.cuts} cut (the newest: --cut ${view.last_cut})`;
  const whose =
    creator === holder ? `held by ${holder}` : `held by ${holder}, created by ${creator}`;
  const place = colours.place(id);
  return `${place}: ${state}, ${neutralise(whose)}; ${length} items${until}${cuts}`;
}

export function itemLines(item: Item, colours: Colours): string[] {
  const [first = '', ...more] = textOf(item).split(/\r?\n/).map(neutralise);
  const index = colours.dim(item.index === null ? '-' : String(item.index));
  const who = `${colours.name(neutralise(item.by))} ${item.kind}:`;
  const head = [index, colours.dim(clockTime(item.at)), who, first].join(' ');
  return [head, ...more.map((line) => `  │ ${line}`)];
}

function textOf(item: Item): string {
  switch (item.kind) {
    case 'tool_call':
      return `${item.name} ${jsonText(item.arguments)} [${item.call_id}, key ${item.key}]`;
    case 'tool_result': {
      const ask = item.key === undefined ? '' : `, ask by ${item.key}`;
      const output = typeof item.output === 'string' ? item.output : jsonText(item.output);
      return `${item.state} ${output} [${item.call_id}${ask}]`;
    }
    case 'handoff': {
      const input = item.input === null ? '' : ` ${jsonText(item.input)}`;
      return `from ${item.from} to ${item.to}: ${item.why}${input}`;
    }
    default:
      return typeof item.content === 'string' ? item.content : jsonText(item.content);
  }
}
