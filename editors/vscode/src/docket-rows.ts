/** The docket as rows of a tree: one an item, what needs you first. */
import type { CallOutput } from '../../../src/client/index.ts';
import { plainWords } from './plain-text.ts';

export type DocketItem = CallOutput<'docket.list'>['items'][number];

export interface DocketRow {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  /** What can be done about it, for the menus: `question gate`. */
  readonly context: string;
  readonly icon: string;
}

const ICONS: Readonly<Record<string, string>> = {
  gate: 'shield',
  question: 'question',
  blocked: 'debug-pause',
  held: 'mail',
  parked: 'warning',
  dead: 'error',
  alert: 'bell',
};

/** What others have taken comes last; of the rest the longest first. */
export function docketRows(items: readonly DocketItem[], me: string, now: number): DocketRow[] {
  const isTheirs = ({ taken }: DocketItem): boolean => taken !== null && taken.by !== me;
  return items
    .filter(({ closed }) => closed === null)
    .toSorted((a, b) => Number(isTheirs(a)) - Number(isTheirs(b)) || a.since - b.since)
    .map((item) => rowOf(item, now));
}

/** What waits for this person alone, or for whoever comes first. */
export function needsYou(items: readonly DocketItem[], me: string): number {
  return items.filter(({ closed, taken }) => closed === null && (taken?.by ?? me) === me).length;
}

function rowOf(item: DocketItem, now: number): DocketRow {
  const { item_id: id, kinds, agent_id: agent, text, since, taken, subjects } = item;
  const who = taken === null ? '' : ` · ${plainWords(taken.by)} sees to it`;
  const words = subjects.map((one) => `${one.kind} ${one.subject}: ${plainWords(one.text)}`);
  return {
    id,
    label: `${kinds.join(', ')}  ${plainWords(agent)}: ${plainWords(text)}`,
    description: `${agoText(now - since)}${who}`,
    tooltip: [id, ...words].join('\n'),
    context: kinds.join(' '),
    icon: ICONS[kinds[0] ?? ''] ?? 'bell',
  };
}

export function agoText(seconds: number): string {
  if (seconds < 60) return 'now';
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400
    ? `${Math.floor(seconds / 3_600)} h`
    : `${Math.floor(seconds / 86_400)} d`;
}
