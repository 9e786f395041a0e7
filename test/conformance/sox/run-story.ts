/**
 * Tells one story at one door and judges it.
 *
 * Every answer is held to the exact shape of its operation, to what its step
 * expects, and to the checks of the story; a call without an expectation must
 * still succeed. The first step that fails ends the story with all its faults.
 */

import { setTimeout as sleep } from 'node:timers/promises';

import { faultsOf } from './checks.ts';
import type { Answer, Door } from './door.ts';
import { type Captures, mismatches } from './match.ts';
import { shapeFaults } from './outputs.ts';
import type { CallStep, Story } from './story.ts';

export async function runStory(story: Story, door: Door): Promise<void> {
  const answers = new Map<string, Readonly<Record<string, unknown>>>();
  for (const [agent, pattern] of story.subscribe ?? []) {
    const step: CallStep = {
      id: `setup: ${agent} subscribes to ${pattern}`,
      as: agent,
      op: 'subscribe',
      input: { pattern },
    };
    await tell(step, door, answers);
  }
  for (const step of story.steps) {
    if ('sleepMs' in step) await sleep(step.sleepMs);
    else if ('op' in step) await tell(step, door, answers);
    else await Promise.all(step.together.map((call) => tell(call, door, answers)));
  }
  refuseFaults(
    story.name,
    (story.checks ?? []).flatMap((check) => faultsOf(check, answers)),
  );
}

async function tell(
  step: CallStep,
  door: Door,
  answers: Map<string, Readonly<Record<string, unknown>>>,
): Promise<void> {
  const answer = await door.call({
    agent: step.as,
    op: step.op,
    input: resolveInput(step.input ?? {}, answers),
    clientVersion: step.clientVersion,
  });
  refuseFaults(step.id, judge(step, answer, answers));
  answers.set(step.id, answer.output);
}

function judge(step: CallStep, answer: Answer, captures: Captures): readonly string[] {
  const { isError, output } = answer;
  if (isError !== (step.refuse !== undefined)) {
    return [`${isError ? 'refused' : 'not refused'}: ${JSON.stringify(output)}`];
  }
  const expected = step.refuse ?? step.expect;
  return [
    ...shapeFaults(step.op, isError, output),
    ...(expected === undefined ? [] : mismatches(expected, output, captures)),
    ...(step.trace === undefined ? [] : mismatches(step.trace, answer.trace, captures, 'trace')),
  ];
}

const REFERENCE = /^\$(?<step>.+)\.(?<field>[a-z_]+)$/u;

/** `$step.field` in an input is what that step answered; naming nothing is a mistake in the story. */
function resolveInput(
  input: Readonly<Record<string, unknown>>,
  answers: Captures,
): Record<string, unknown> {
  const resolve = (value: unknown): unknown => {
    const names = typeof value === 'string' ? REFERENCE.exec(value)?.groups : undefined;
    if (names?.step === undefined || names.field === undefined) return value;
    const found = answers.get(names.step)?.[names.field];
    if (found === undefined) throw new Error(`${String(value)} was never captured`);
    return found;
  };
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, resolve(value)]));
}

function refuseFaults(where: string, faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(`${where}\n  ${faults.join('\n  ')}`);
}

/** Lines of a log that a boot must have written; those that are missing are the faults. */
export function logFaults(wanted: readonly RegExp[], log: string): readonly string[] {
  // A structured log carries a record as a string; its quotes are the same quotes.
  const plain = log.replaceAll('\\"', '"');
  return wanted
    .filter((pattern) => !pattern.test(plain))
    .map((pattern) => `stderr lacks ${pattern}: ${log}`);
}

/**
 * What the plugins wrote at one server must be exactly what is wanted. Of several, each call is at one, and each has
 * its own beginning and end: every line is written by one of them or by each, none out of its order.
 */
export function journalFaults(
  wanted: readonly string[],
  journals: readonly (readonly string[])[],
): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of wanted) counts.set(line, (counts.get(line) ?? 0) + 1);
  const isLike = (journal: readonly string[]): boolean => {
    let at = 0;
    for (const line of journal) {
      at = wanted.indexOf(line, at) + 1;
      if (at === 0) return false;
    }
    return true;
  };
  const written = journals.flat();
  const isWhole = [...counts].every(([line, count]) => {
    const times = written.filter((one) => one === line).length;
    return times === count || times === count * journals.length;
  });
  if (isWhole && journals.every(isLike)) return [];
  return [`the plugins wrote ${JSON.stringify(journals)}, not ${JSON.stringify(wanted)}`];
}
