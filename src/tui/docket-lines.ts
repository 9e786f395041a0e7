/** The docket on the screen: what needs you, above the agents, and all of it in a panel of its own. */
import { spanText, timeText } from './clock.ts';
import { wrap } from './plain.ts';
import { EMPTY, line, type ScreenLine, span, spread } from './spans.ts';
import type { ChatState, DocketItem } from './state.ts';

type Subject = DocketItem['subjects'][number];

/** Of the list at the side. */
const SIDE_ITEMS_MAX = 5;
const URGENCY: readonly string[] = [
  ...['gate', 'question', 'blocked', 'held'],
  ...['parked', 'dead', 'alert'],
];
const HOW: Readonly<Record<Subject['kind'], (subject: string, item: string) => string>> = {
  gate: (id) => `/approve ${id}   /deny ${id} WHY`,
  held: (id) => `/approve ${id} releases it   /deny ${id} WHY`,
  question: (id, item) => `/answer ${item} ${id} TEXT`,
  blocked: () => 'answer it where the session runs',
  parked: (id, item) => `write to it, or: synod turns resume ${id}   (/close ${item} leaves it)`,
  dead: (id, item) => `synod turns retry or resume ${id}   /close ${item}`,
  alert: (_, item) => `/close ${item}`,
};

/** Whether nobody else has it, and nobody else alone is asked. */
function needsYou({ taken, subjects }: DocketItem, me: string): boolean {
  if (taken !== null) return taken.by === me;
  return subjects.length === 0 || subjects.some(({ to }) => to === null || to === me);
}

/** What needs you, the most urgent first; then the rest. */
export function byNeed({ docket, me }: ChatState): { yours: DocketItem[]; others: DocketItem[] } {
  const rank = ({ kinds: [first = 'alert'] }: DocketItem): number => URGENCY.indexOf(first);
  const sorted = docket.toSorted((a, b) => rank(a) - rank(b) || a.since - b.since);
  const yours = sorted.filter((item) => needsYou(item, me.agent_id));
  return { yours, others: sorted.filter((item) => !yours.includes(item)) };
}

/** Nothing at all where nothing waits. */
export function needLines(state: ChatState, width: number): ScreenLine[] {
  const { yours } = byNeed(state);
  if (yours.length === 0) return [];
  const title = [span('Needs you', { bold: true, colour: 'red' })];
  return [
    spread(title, [span(String(yours.length), { bold: true, colour: 'red' })], width),
    ...yours.slice(0, SIDE_ITEMS_MAX).flatMap((item) => sideRows(state, item, width)),
    ...(yours.length > SIDE_ITEMS_MAX
      ? [line(`  and ${yours.length - SIDE_ITEMS_MAX} more: /docket`, { dim: true })]
      : []),
    EMPTY,
  ];
}

function sideRows({ colours, now }: ChatState, item: DocketItem, width: number): ScreenLine[] {
  const { item_id: id, agent_id: agent, kinds, since, subjects, subjects_open: open } = item;
  const more = open > 1 ? ` +${open - 1}` : '';
  const row = spread(
    [span(`${id} `, { bold: true }), span(agent, { colour: colours.get(agent) })],
    [span(spanText(now - since), { dim: true })],
    width,
  );
  const words = subjects[0]?.text ?? item.text;
  return [row, line(`  ${kinds[0]}${more}: ${firstLine(words)}`, { dim: true })];
}

export function docketLines(state: ChatState, width: number): ScreenLine[] {
  const { yours, others } = byNeed(state);
  if (yours.length + others.length === 0) {
    return [line('Nothing waits for a person.', { dim: true })];
  }
  const part = (heading: string, items: readonly DocketItem[]): ScreenLine[] =>
    items.length === 0
      ? []
      : [
          line(`${heading} (${items.length})`, { bold: true }),
          ...items.flatMap((item) => itemLines(state, item, width)),
        ];
  return [...part('Needs you', yours), ...part('With others', others)];
}

function itemLines({ colours, now }: ChatState, item: DocketItem, width: number): ScreenLine[] {
  const { item_id: id, agent_id: agent, taken, count, subjects_open: open } = item;
  const raised = count > 1 ? `, raised ${count} times` : '';
  const whose = taken === null ? '' : `, taken by ${taken.by}`;
  const left = open - item.subjects.length;
  return [
    [
      span(`${id} `, { bold: true }),
      span(agent, { colour: colours.get(agent) }),
      span(` for ${spanText(now - item.since)}${raised}${whose}`, { dim: true }),
    ],
    ...item.subjects.flatMap((one) => subjectLines(one, id, width)),
    ...(left > 0 ? [line(`  and ${left} more: synod docket show ${id}`, { dim: true })] : []),
    EMPTY,
  ];
}

/** The words of an agent stand behind a bar, so that none of them looks like ours. */
function subjectLines(one: Subject, item: string, width: number): ScreenLine[] {
  const { kind, subject, reason, text, to, until } = one;
  const asked = to === null ? '' : `, to ${to}`;
  const end = until === null ? '' : `, until ${timeText(until)}`;
  const why = text.startsWith(reason) ? '' : `: ${reason}`;
  const words = text.split(/\r?\n/).flatMap((each) => wrap(each, Math.max(10, width - 4)));
  return [
    line(`  ${kind} ${subject}${why}${asked}${end}`),
    ...words.map((each) => [span('  │ ', { dim: true }), span(each)]),
    line(`    ${HOW[kind](subject, item)}`, { colour: 'cyan' }),
  ];
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
