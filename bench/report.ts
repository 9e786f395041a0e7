/**
 * What a run says: one Markdown table for people, one JSON document for programs.
 */
import { median } from './percentiles.ts';
import { isMet, type Measure, ratiosTo, ratioTo } from './scenario.ts';

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly fsyncMs: number;
  readonly loopbackMs: number;
  readonly hub: 'built' | 'absent';
  readonly rounds: number;
  readonly isQuick: boolean;
}

export interface Report {
  readonly at: string;
  readonly machine: Machine;
  readonly measures: readonly (Measure & { scenario: string })[];
}

export function toMarkdown({ machine, measures }: Report): string {
  const lines = [
    headOf(machine),
    '',
    '| what | unit | hub | bare loop | other baselines | hub ÷ bare | goal | met |',
    '|---|---|--:|--:|---|--:|---|---|',
  ];
  for (const measure of measures) {
    lines.push(`| ${toRow(measure, machine.rounds).join(' | ')} |`);
  }
  return `${lines.join('\n')}\n`;
}

function headOf(machine: Machine): string {
  return (
    `${machine.cores} × ${machine.processor}, ${machine.memoryGb} GB, ${machine.system}, Node ${machine.node}; ` +
    `one fsync ${show(machine.fsyncMs)} ms, loopback ${show(machine.loopbackMs)} ms; ` +
    `hub ${machine.hub}; median of ${machine.rounds} rounds` +
    (machine.isQuick ? '; QUICK RUN, not for quoting.' : '.')
  );
}

function toRow(measure: Measure, rounds: number): string[] {
  const { hub = [], bare = [], ...others } = measure.sides;
  const rest = Object.entries(others).map(([side, values]) => {
    const ratio = ratioTo(measure, side);
    const suffix = ratio === undefined ? '' : ` (hub × ${show(ratio)})`;
    return `${side} ${show(median(values))}${suffix}`;
  });
  const met = isMet(measure);
  return [
    measure.what + countsOf(measure, rounds),
    measure.unit,
    show(median(hub)),
    show(median(bare)),
    rest.join(', '),
    show(ratioTo(measure, 'bare')),
    toGoal(measure),
    met === undefined ? '' : met ? 'yes' : 'NO',
  ];
}

/** A row that is not the median of as many values as the heading says tells of how many it is. */
function countsOf({ sides }: Measure, rounds: number): string {
  const counts = new Set(Object.values(sides).map((values) => values?.length ?? 0));
  if (counts.size === 1 && counts.has(rounds)) return '';
  return ` (of ${[...counts].join(' and ')})`;
}

function toGoal(measure: Measure): string {
  const { goal } = measure;
  if (goal === undefined) return '';
  const bound = goal.atLeast === undefined ? `≤ ${goal.atMost}` : `≥ ${goal.atLeast}`;
  if (goal.against === undefined) return `${bound} ${measure.unit}`;
  const name = goal.against === 'bare' ? 'bare' : `(${goal.against})`;
  return `${bound} × ${name}: ${show(ratioTo(measure, goal.against))}`;
}

export function show(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

/** The lowest and the highest of the rounds. */
export function spreadOf(values: readonly number[]): string {
  return values.length < 2 ? '' : `${show(Math.min(...values))} – ${show(Math.max(...values))}`;
}

/** The rows that stand beside an original: whatever their goal is against, or else the first beside. */
export function toPeerMarkdown(report: Report): string {
  return `${headOf(report.machine)}\n\n${peerTable(report)}`;
}

function peerTable({ machine, measures }: Report): string {
  const lines = [
    '| same run | unit | beside | Synod | ratio | spread of the ratio | goal | met |',
    '|---|---|--:|--:|--:|---|---|---|',
  ];
  for (const measure of measures) {
    const { hub = [], ...others } = measure.sides;
    const side = measure.goal?.against ?? Object.keys(others)[0];
    const theirs = side === undefined ? [] : (others[side] ?? []);
    const met = isMet(measure);
    const cells = [
      measure.what + countsOf(measure, machine.rounds),
      measure.unit,
      theirs.length === 0 ? '–' : `${show(median(theirs))} (${side})`,
      show(median(hub)),
      show(side === undefined ? undefined : ratioTo(measure, side)),
      spreadOf(side === undefined ? [] : ratiosTo(measure, side)),
      toGoal(measure).replace(/:.*$/, ''),
      met === undefined ? '' : met ? 'yes' : 'NO',
    ];
    lines.push(`| ${cells.join(' | ')} |`);
  }
  return `${lines.join('\n')}\n`;
}

/** Where a page has the rows of some scenarios: `<!-- rows: sends latency -->`, whatever was there, `<!-- end of rows -->`. */
const ROWS = /(<!-- rows: ([\w -]+?) -->\n)[\s\S]*?(<!-- end of rows -->)/g;

/**
 * The page with the tables of this run, each with the commit and the machine it is of. Where not all of a table's scenarios were
 * run it stays as it was: a table is of one run.
 */
export function fillTables(page: string, report: Report, commit: string): string {
  return page.replace(ROWS, (whole, begin: string, names: string, end: string) => {
    const wanted = names.split(' ');
    const measures = report.measures.filter(({ scenario }) => wanted.includes(scenario));
    if (wanted.some((name) => measures.every(({ scenario }) => scenario !== name))) return whole;
    const head = `At ${commit}: ${headOf(report.machine)}`;
    return `${begin}\n${head}\n\n${peerTable({ ...report, measures })}\n${end}`;
  });
}
