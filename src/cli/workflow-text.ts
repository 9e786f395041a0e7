/**
 * Runs for a person: one line each, and one run as a tree of its steps with times, attempts and cost; runs that
 * it started hang on the step that did. What a run says of itself is data, and is neutralised.
 */
import type { CallOutput } from '../client/operations.ts';
import { clockTime } from './message-text.ts';
import { type Colours, jsonText, neutralise } from './terminal.ts';

export type Run = CallOutput<'workflows.get'>;
export type RunHead = CallOutput<'workflows.list'>['runs'][number];
export type Step = CallOutput<'workflows.steps'>['steps'][number];

/** A run with its steps, and the runs that it started. */
export interface RunTree {
  readonly run: Run;
  readonly steps: readonly Step[];
  readonly hasMore: boolean;
  readonly children: readonly RunTree[];
}

/** A result is shown up to here; `--json` shows all of it. */
const SHOWN_CHARS = 60;

export function runRow(run: RunHead): string[] {
  return [
    ...[run.id, run.name, stateText(run), `${run.steps_count} steps`],
    ...[clockTime(run.created_at), run.started_by],
  ];
}

/** `running, waits for gate g1`. */
export function stateText(run: RunHead): string {
  const open = run.waiting_on.filter(({ ended }) => !ended);
  const waits =
    run.suspended && open.length > 0 ? `, waits for ${open.map(waitText).join(', ')}` : '';
  const cancelling = run.cancelling !== null && !run.over ? ', being cancelled' : '';
  const alone = run.unoffered == null ? '' : `; ${run.unoffered}`;
  return `${run.state}${cancelling}${waits}${alone}`;
}

function waitText(wait: RunHead['waiting_on'][number]): string {
  const time = wait.until === null ? '' : ` until ${clockTime(wait.until)}`;
  return `${awaited(wait)}${time}`;
}

/** `gate g1`, `bob's answer to m4`, `3 answers to m4`. */
function awaited({ step, on }: RunHead['waiting_on'][number]): string {
  const { kind, message_id: message, count, ...rest } = on;
  // As steps of `ctx.turn` are called.
  const [, agent] = /^turn:(.+)$/.exec(step) ?? [];
  if (kind === 'turn') return `${agent === undefined ? 'an' : `${agent}'s`} answer to ${message}`;
  if (kind === 'collect') return `${count} ${count === 1 ? 'answer' : 'answers'} to ${message}`;
  return [kind, ...Object.values(rest)].join(' ');
}

export function treeLines(tree: RunTree, colours: Colours): string[] {
  return [...headLines(tree, colours), ...stepLines(tree, colours, '')];
}

function headLines({ run, steps }: RunTree, colours: Colours): string[] {
  const end = run.ended_at ?? null;
  const took = run.started_at === null || end === null ? [] : [timeText(end - run.started_at)];
  const cost = costText(steps.map((step) => step.cost));
  const facts = [
    ...[`${run.steps_count} steps`, ...(run.attempts > 1 ? [`taken ${run.attempts} times`] : [])],
    ...took,
    ...(cost === '' ? [] : [cost]),
  ];
  const head = `${colours.place(neutralise(run.id))} ${neutralise(run.name)}: ${colours.bold(neutralise(stateText(run)))}`;
  const more = [
    ...(run.executor === null ? [] : [`held by ${run.executor}`]),
    ...(run.forked_from === null ? [] : [`forked from ${run.forked_from.id}`]),
    ...(run.stuck === null ? [] : `stuck: ${run.stuck.difference}`.split('\n').map(further)),
    ...(run.error === null ? [] : [`${run.error.name}: ${run.error.message}`]),
    ...(run.over && run.error === null && run.result !== null
      ? [`result: ${cut(jsonText(run.result))}`]
      : []),
  ];
  return [`${head} (${facts.join(', ')})`, ...more.map((line) => `  ${neutralise(line)}`)];
}

/** Lines of one thing hang below its first. */
const further = (line: string, at: number): string => (at === 0 ? line : `  ${line}`);

function stepLines(tree: RunTree, colours: Colours, indent: string): string[] {
  const { steps, children, hasMore } = tree;
  const known = new Set(steps.map(({ step }) => step));
  const stray = children.filter(({ run }) => !known.has(run.parent?.step ?? ''));
  const rows = steps.map((step) => ({
    text: stepText(step, colours),
    under: children.filter(({ run }) => isOf(run, step)),
  }));
  const all = [
    ...rows,
    ...(hasMore ? [{ text: '… there are more; --json shows all', under: [] }] : []),
    ...stray.map((child) => ({ text: '', under: [child] })),
  ];
  return all.flatMap(({ text, under }, i) => {
    const isLast = i === all.length - 1;
    const [branch, rest] = isLast ? ['└─ ', '   '] : ['├─ ', '│  '];
    const own = text === '' ? [] : [`${indent}${branch}${text}`];
    const below = under.flatMap((child) => [
      ...headLines(child, colours).map((line) => `${indent}${rest}└ ${line}`),
      ...stepLines(child, colours, `${indent}${rest}  `),
    ]);
    return [...own, ...below];
  });
}

function isOf({ parent }: Run, { step, key }: Step): boolean {
  return parent !== null && parent.step === step && parent.key === key;
}

function stepText(step: Step, colours: Colours): string {
  const { state, attempts, uncertain, started_at: from, ended_at: to, waiting_on: wait } = step;
  const name = neutralise(step.key === null ? step.step : `${step.step} ${step.key}`);
  const facts = [
    ...(step.kind === 'step' ? [] : [step.kind]),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(from !== null && to !== null ? [timeText(to - from)] : []),
    ...(step.cost === null ? [] : [costText([step.cost])]),
    ...(uncertain ? ['it may have run'] : []),
    ...(wait === null || wait.ended ? [] : [`waits for ${waitText(wait)}`]),
    ...(step.error === null ? [] : [`${step.error.name}: ${step.error.message}`]),
    ...(state === 'completed' && step.result !== null ? [cut(jsonText(step.result))] : []),
  ];
  const word = state === 'failed' || uncertain ? colours.warn(state) : state;
  return `${name} ${word}${facts.length === 0 ? '' : colours.dim(`  ${neutralise(facts.join(', '))}`)}`;
}

/** `0.4 s`, `3 min`, `2 h`. */
export function timeText(seconds: number): string {
  if (seconds < 60) return `${Math.max(0, Math.round(seconds * 10) / 10)} s`;
  return seconds < 3_600 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

/** What steps cost together: `$0.5, 1200 tokens`; empty when nobody said. */
export function costText(costs: readonly Step['cost'][]): string {
  let usd = 0;
  let tokens = 0;
  for (const cost of costs) {
    usd += cost?.usd ?? 0;
    tokens += (cost?.tokens_in ?? 0) + (cost?.tokens_out ?? 0);
  }
  const parts = [
    ...(usd > 0 ? [`$${Math.round(usd * 10_000) / 10_000}`] : []),
    ...(tokens > 0 ? [`${tokens} tokens`] : []),
  ];
  return parts.join(', ');
}

function cut(text: string): string {
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS - 1)}…`;
}
