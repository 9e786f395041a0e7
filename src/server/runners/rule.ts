/**
 * The runner `rule`: answers from a list of patterns, without a process and without a network. The
 * first rule whose pattern is found in a message gives the answer to it. Patterns run in a thread
 * of their own, within a time: a pattern that a message sends on an endless search costs its turn and
 * nothing else [RU12].
 */

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { stopReason } from '../../bus/process/line-process.ts';
import { parsePattern } from '../../bus/programs/rule.ts';
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { plainText } from '../../wire/body-text.ts';
import type { SpecOf } from '../../wire/operations/runner-spec.ts';
import { callAsTurn } from './hub-call.ts';
import type { RuleAnswers, RuleQuestion } from './rule-thread.ts';
import type { GivenMessage, Runner, TurnJob, TurnReply, TurnResult } from './runner.ts';
import { failedResult } from './turn-result.ts';

type RuleSpec = SpecOf<'rule'>;

const MATCH_MS = 1_000;

export interface RuleRunner extends Runner<RuleSpec> {
  close(): void;
}

export function createRuleRunner(matchMs: number = MATCH_MS): RuleRunner {
  const thread = createThread(matchMs);
  return {
    kind: 'rule',
    check: async (spec) => checkRules(spec),
    run: (job) => answer(job, thread.ask),
    close: thread.close,
  };
}

function checkRules({ rules }: RuleSpec): Refusal | null {
  for (const [at, { pattern, flags = '' }] of rules.entries()) {
    const field = `rules.${at}.pattern`;
    try {
      parsePattern(pattern, flags, field);
    } catch (error) {
      return refuse('runner.unusable', (error as Error).message, { field });
    }
  }
  return null;
}

async function answer(job: TurnJob<RuleSpec>, ask: Thread['ask']): Promise<TurnResult> {
  const { spec, messages, transcript, signal } = job;
  if (signal.aborted) return failedResult(stopReason(signal));
  const { rules, otherwise = null } = spec;
  const found = await ask({ rules, otherwise, texts: messages.map(textOf) });
  if (found === null) return failedResult('a pattern took too long over a message');
  const replies: TurnReply[] = [];
  let question: string | null = null;
  const failures: string[] = [];
  let isDone = false;
  for (const [at, one] of found.entries()) {
    if (one === null) continue;
    const { text, rule } = one;
    const matched: Matched = rules[rule] ?? {};
    const { channel, wants_reply, outcome = 'done' } = matched;
    const held = await askFirst(job, matched);
    const refused = held === null ? await callAll(job, matched) : null;
    const said = held ?? text;
    transcript.append(`${messages[at]?.message_id}: ${refused ?? said}`);
    if (refused !== null) {
      failures.push(refused);
      continue;
    }
    isDone ||= outcome === 'done';
    if (outcome === 'gave_up') question ??= said;
    else if (said !== '') {
      const to =
        channel === undefined ? { reply_to: messages[at]?.message_id as string } : { channel };
      replies.push({ ...to, body: { text: said }, ...(wants_reply && { wants_reply }) });
    }
  }
  if (failures.length > 0 && replies.length === 0 && question === null) {
    return { outcome: 'gave_up', question: failures.join('; '), consumed: 'all' };
  }
  const note = failures.length > 0 && { note: failures.join('; ') };
  const rest = { consumed: 'all', ...note, ...(replies.length > 0 && { replies }) } as const;
  if (question !== null) return { outcome: 'gave_up', question, ...rest };
  return { outcome: isDone ? 'done' : 'nothing', ...rest };
}

type Matched = Partial<RuleSpec['rules'][number]>;

/** Null when a person approved, or nobody need be asked; else what is said instead of the answer. */
async function askFirst(job: TurnJob<RuleSpec>, { ask, calls }: Matched): Promise<string | null> {
  if (ask === undefined) return null;
  const { state, by, reason } = await job.askGate({ ...ask, payload: { ...ask, calls } });
  if (state === 'approved') return null;
  const who = by === null ? '' : ` by ${by}`;
  return `${ask.action} ${ask.subject}: ${state}${who}${reason === null ? '' : `: ${reason}`}`;
}

/** Null when all was done; else the words of the first refusal, and the rest is left. */
async function callAll(job: TurnJob<RuleSpec>, { calls = [] }: Matched): Promise<string | null> {
  for (const { operation, input } of calls) {
    const refused = await callAsTurn(job, operation, input);
    if (refused !== null) return refused;
    job.transcript.append(`${operation}: done`);
  }
  return null;
}

function textOf({ body }: GivenMessage): string {
  if (typeof body.text === 'string') return body.text;
  return plainText(body) ?? JSON.stringify(body);
}

interface Thread {
  /** Null when it took too long. One question at a time; the others wait. */
  ask(question: RuleQuestion): Promise<RuleAnswers | null>;
  close(): void;
}

function createThread(matchMs: number): Thread {
  let worker: Worker | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let onAnswer: (answers: RuleAnswers | null) => void = () => {};

  function open(): Promise<Worker> {
    const file = `./rule-thread${extname(import.meta.url)}`;
    const fresh = new Worker(new URL(file, import.meta.url), { execArgv: [] });
    fresh.unref();
    return new Promise((resolve) => {
      const gone = (): void => {
        if (worker === fresh) worker = null;
        resolve(fresh);
        onAnswer(null);
      };
      fresh.on('error', gone);
      fresh.on('exit', gone);
      fresh.on('message', (answers: RuleAnswers | null) => {
        if (answers === null) resolve(fresh);
        else onAnswer(answers);
      });
    });
  }

  async function askNow(question: RuleQuestion): Promise<RuleAnswers | null> {
    worker ??= await open();
    const asked = worker;
    const { promise, resolve } = Promise.withResolvers<RuleAnswers | null>();
    onAnswer = resolve;
    const timer = setTimeout(() => {
      // What is late is not asked again.
      worker = null;
      void asked.terminate();
      resolve(null);
    }, matchMs);
    asked.postMessage(question);
    const answers = await promise;
    clearTimeout(timer);
    return answers;
  }

  return {
    ask(question) {
      const answer = last.then(() => askNow(question));
      last = answer;
      return answer;
    },
    close() {
      void worker?.terminate();
      worker = null;
    },
  };
}
