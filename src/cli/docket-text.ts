/**
 * The docket as a person reads it: what needs you first, then what others have taken or are asked.
 * Words of agents are neutralised and cut to the screen; nothing of them can start a line of its own.
 */
import type { CallOutput } from '../client/operations.ts';
import { ageText, clockTime } from './message-text.ts';
import { type Colours, neutralise } from './terminal.ts';

export type Item = CallOutput<'docket.list'>['items'][number];
type Subject = Item['subjects'][number];

const URGENCY: readonly string[] = [
  ...['gate', 'question', 'blocked', 'held'],
  ...['parked', 'dead', 'alert'],
];

/** Of one item in the list; `show` has all. */
const SUBJECTS_LISTED = 3;

/** Whether it is for this person to see to: nobody else has it, and nobody else alone is asked. */
export function needsYou({ taken, subjects }: Item, me: string): boolean {
  if (taken !== null) return taken.by === me;
  return subjects.length === 0 || subjects.some(({ to }) => to === null || to === me);
}

export function docketLines(
  items: readonly Item[],
  me: string,
  { colours, width, now }: { colours: Colours; width: number; now: number },
): string[] {
  const ended = items.filter(({ closed }) => closed !== null);
  const waiting = items.filter(({ closed }) => closed === null).sort(byUrgency);
  const yours = waiting.filter((item) => needsYou(item, me));
  const others = waiting.filter((item) => !needsYou(item, me));
  const cut = (text: string): string => clip(text, width);
  const columns = widths(items, now);
  const part = (heading: string, some: readonly Item[]): string[] =>
    some.length === 0
      ? []
      : [
          colours.bold(`${heading} (${some.length})`),
          ...some.flatMap((item) => itemLines(item, columns, now).map(cut)),
        ];
  return [...part('Needs you', yours), ...part('With others', others), ...part('Closed', ended)];
}

/** What stops an agent comes before what only informs; of the same, the longest first. */
function byUrgency(one: Item, other: Item): number {
  const rank = ({ kinds: [first = 'alert'] }: Item): number => URGENCY.indexOf(first);
  return rank(one) - rank(other) || one.since - other.since;
}

function itemLines(item: Item, [id, kind, agent, age]: readonly number[], now: number): string[] {
  const head = [
    item.item_id.padEnd(id ?? 0),
    kindText(item).padEnd(kind ?? 0),
    neutralise(item.agent_id).padEnd(agent ?? 0),
    ageOf(item, now).padStart(age ?? 0),
    wordsOf(item),
  ].join('  ');
  const rest = item.subjects_open > 1 ? subjectLines(item) : [];
  return [`  ${head}`, ...rest.map((line) => `      ${line}`)];
}

function widths(items: readonly Item[], now: number): number[] {
  const longest = (text: (item: Item) => string): number =>
    items.reduce((most, item) => Math.max(most, text(item).length), 0);
  return [
    longest(({ item_id }) => item_id),
    longest(kindText),
    Math.min(
      20,
      longest(({ agent_id }) => neutralise(agent_id)),
    ),
    longest((item) => ageOf(item, now)),
  ];
}

function kindText({ kinds, subjects_open: open }: Item): string {
  const [first = ''] = kinds;
  return open > 1 ? `${first} +${open - 1}` : first;
}

function ageOf({ since }: Item, now: number): string {
  return ageText(now / 1000 - since);
}

function wordsOf(item: Item): string {
  if (item.closed !== null) return neutralise(`${closedText(item.closed)}  ${item.text}`);
  const taken = item.taken === null ? '' : `[taken by ${item.taken.by}] `;
  const [only] = item.subjects;
  const words = only === undefined ? item.text : subjectText(only);
  const more = item.subjects_open > 1 ? `${item.subjects_open} things wait:` : words;
  return neutralise(`${taken}${more}`);
}

/** In one line; `docket show` has the others. */
function subjectText({ reason, text, to }: Subject): string {
  const [first = '', ...more] = text.split(/\r?\n/);
  const line = more.length === 0 ? text : `${first} …`;
  const said = text.startsWith(reason) ? line : `${reason}: ${line}`;
  return to === null ? said : `(to ${to}) ${said}`;
}

function subjectLines({ subjects, subjects_open: open }: Item): string[] {
  const listed = subjects
    .slice(0, SUBJECTS_LISTED)
    .map((one) => `${one.kind} ${one.subject}  ${neutralise(subjectText(one))}`);
  return open > SUBJECTS_LISTED ? [...listed, `… and ${open - SUBJECTS_LISTED} more`] : listed;
}

/** Everything of one item. */
export function itemDetail(item: Item): string[] {
  const { taken, closed } = item;
  const facts: [string, string | null][] = [
    ['item', `${item.item_id}, ${item.state}`],
    ['agent', item.agent_id],
    ['since', clockTime(item.since)],
    [
      'raised',
      item.count === 1 ? 'once' : `${item.count} times, last ${clockTime(item.newest_at)}`,
    ],
    ['thread', item.thread],
    ['taken', taken && `by ${taken.by}, ${clockTime(taken.at)}`],
    ['closed', closed && closedText(closed)],
    ['said', item.subjects.length === 0 ? item.text : null],
  ];
  const rows = facts.flatMap(([name, value]) =>
    value === null ? [] : [`${`${name}:`.padEnd(8)} ${neutralise(value)}`],
  );
  return [...rows, ...item.subjects.flatMap((one) => ['', ...subjectDetail(one, item.item_id)])];
}

function closedText({ by, at, outcome, note }: NonNullable<Item['closed']>): string {
  const who = by === null ? '' : ` by ${by}`;
  return `${outcome}${who}, ${clockTime(at)}${note === null ? '' : `: ${note}`}`;
}

function subjectDetail(one: Subject, itemId: string): string[] {
  const until = one.until === null ? '' : `, until ${clockTime(one.until)}`;
  const to = one.to === null ? '' : `, to ${one.to}`;
  return [
    neutralise(`${one.kind} ${one.subject} since ${clockTime(one.since)}${until}${to}`),
    // Each line of an agent stands behind a bar, so that none can look like one of ours.
    ...one.text.split(/\r?\n/).map((line) => `  │ ${neutralise(line)}`),
    ...(one.text.startsWith(one.reason) ? [] : [neutralise(`  (${one.reason})`)]),
    `  ${whatToDo(one, itemId)}`,
  ];
}

/** What a person does about it. */
export function whatToDo({ kind, subject }: Subject, itemId: string): string {
  const id = neutralise(subject);
  switch (kind) {
    case 'gate':
      return `synod docket approve ${id}   or   synod docket deny ${id} REASON`;
    case 'held':
      return `synod docket approve ${id} releases it   or   synod docket deny ${id} REASON`;
    case 'question':
      return `synod docket answer ${itemId} TEXT --about ${id}`;
    case 'blocked':
      return 'answer it where the session runs; it leaves the list when the session goes on';
    case 'parked':
      return `write to it, or: synod turns resume ${id}   (synod docket close ${itemId} leaves it)`;
    case 'dead':
      return `synod turns ${isTurn(id) ? 'retry' : 'resume'} ${id}   or   synod docket close ${itemId}`;
    case 'alert':
      return `synod docket close ${itemId}`;
  }
}

/** What is dead is named by its turn, or by its agent. */
function isTurn(id: string): boolean {
  return /^t\d+$/.test(id);
}

function clip(text: string, width: number): string {
  if (width <= 0 || text.length <= width) return text;
  return `${text.slice(0, width - 1).toWellFormed()}…`;
}
