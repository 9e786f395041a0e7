/**
 * Permission prompts of sessions that a person runs, as gates [PG1]: where the hook was installed to wait,
 * the tool and its arguments are put before people, and the answer of one who proved to be a person is the
 * answer to the harness. Anything else is silence, and the harness asks at its own terminal as if nothing
 * had been [PG3]. What was asked is taken back when the prompt is answered there, or its session goes on,
 * ends, or is gone [PG5].
 */
import { createHash } from 'node:crypto';
import { GATE_SUBJECT_CHARS_MAX, GATE_WORD_CHARS_MAX } from '../../core/gates/gate-limits.ts';
import { HIDDEN, written } from '../../core/law/hidden.ts';
import { isPrintable } from '../../core/law/text.ts';
import { type Asking, askGate, fitSubject } from '../../wire/ask-gate.ts';
import { canonicalJson } from '../../wire/canonical.ts';
import { type Fields, fieldsOf, isFields } from '../../wire/fields.ts';
import { type GateOutcome, gateSubject } from '../../wire/gate-words.ts';
import { OPERATIONS, type OperationId } from '../../wire/operations/table.ts';
import type { Caller } from '../desk/caller.ts';
import type { Desk } from '../desk/desk.ts';
import type { Attention } from './attention.ts';
import { type HookEvent, shortened } from './hook-event.ts';

export interface PromptGatesOptions {
  readonly desk: Desk;
  /** How often it is looked whether those that ask are still there. */
  readonly lookMs?: number | undefined;
  isLive(space: string, agent: string): boolean;
}

/** How a prompt came to its end; `unasked`: nobody was asked, and why. */
export type PromptEnd = GateOutcome | { readonly state: 'unasked'; readonly reason: string };

/** How long a hook waits for people. */
export interface Patience {
  readonly waitMs: number;
  /** Aborted when it waits no more. */
  readonly signal: AbortSignal;
}

export interface PromptGates {
  /** Waits for people, so long and no longer, while the hook is there to be told. */
  ask(
    attention: Attention,
    event: HookEvent,
    input: unknown,
    patience: Patience,
  ): Promise<PromptEnd>;
  /** What an event says about prompts that still wait. */
  heard(attention: Attention, event: HookEvent, input: unknown): void;
  close(): void;
}

interface Prompt {
  readonly space: string;
  readonly agent: string;
  readonly session: string;
  readonly subagent: string | null;
  readonly callId: string | null;
  readonly sum: string;
  takeBack(why: string): void;
}

const LOOK_MS = 60_000;
/** That wait at once: of one agent, and of all. */
const PROMPTS_PER_AGENT_MAX = 16;
const PROMPTS_MAX = 1_000;
const ACTION_CHARS_MAX = 100;

export function createPromptGates({
  desk,
  lookMs = LOOK_MS,
  isLive,
}: PromptGatesOptions): PromptGates {
  const waiting = new Set<Prompt>();
  const looking = setInterval(look, lookMs).unref();

  const ask: PromptGates['ask'] = async (attention, event, input, { waitMs, signal }) => {
    const { space, agent, caller } = attention;
    const { session, subagent, callId } = event;
    const what = caller === null ? 'its space is not here' : wishOf(event, input);
    if (typeof what === 'string') return { state: 'unasked', reason: what };
    const mine = [...waiting].filter((one) => one.space === space && one.agent === agent);
    if (mine.length >= PROMPTS_PER_AGENT_MAX || waiting.size >= PROMPTS_MAX) {
      return { state: 'unasked', reason: `${mine.length} prompts of ${agent} wait already` };
    }
    const asking = askingAs(desk, caller as Caller);
    const over = new AbortController();
    let taken: string | null = null;
    const takeBack = (why: string): void => {
      taken ??= why;
      over.abort();
    };
    const onGone = (): void => takeBack('the harness waits for it no more');
    const prompt: Prompt = {
      ...{ space, agent, session, subagent, callId, takeBack },
      sum: sumOf(event, input),
    };
    waiting.add(prompt);
    signal.addEventListener('abort', onGone, { once: true });
    if (signal.aborted) onGone();
    let gate: string | null = null;
    const wish = { ...what, deadline: waitMs / 1_000, tell: false };
    const outcome = await askGate(asking, wish, over.signal, (id) => {
      gate = id;
    });
    waiting.delete(prompt);
    signal.removeEventListener('abort', onGone);
    // Also one that could not be waited for: nobody shall decide what nobody hears.
    const isOpen =
      outcome.state === 'withdrawn' || (outcome.by === null && outcome.state === 'denied');
    if (gate === null && taken === null) {
      return { state: 'unasked', reason: outcome.reason ?? 'it was refused' };
    }
    if (!isOpen) return outcome;
    const reason = taken ?? outcome.reason ?? 'nobody waits for it';
    if (gate !== null) await asking('gates.withdraw', { gate_id: gate, reason });
    return { state: 'withdrawn', by: null, reason };
  };

  function heard({ space }: Attention, event: HookEvent, input: unknown): void {
    if (waiting.size === 0) return;
    const why = WHY[event.kind];
    if (why === undefined) return;
    for (const prompt of waiting) {
      if (prompt.space !== space || prompt.session !== event.session) continue;
      if (isAbout(prompt, event, input)) prompt.takeBack(why);
    }
  }

  function look(): void {
    for (const prompt of waiting) {
      if (!isLive(prompt.space, prompt.agent)) prompt.takeBack('the session is gone');
    }
  }

  return {
    ask,
    heard,
    close() {
      clearInterval(looking);
      for (const prompt of waiting) prompt.takeBack('the hub stops');
    },
  };
}

/** Events after which a prompt is over. */
const WHY: Readonly<Partial<Record<HookEvent['kind'], string>>> = {
  tool_used: 'it was answered at the terminal',
  answered: 'it was answered at the terminal',
  turn_started: 'the session went on',
  stop_requested: 'the session went on',
  rested: 'the session went on',
  session_ended: 'the session ended',
};

/** One agent of a session goes on while another asks; the end of the session is the end of all. */
function isAbout(prompt: Prompt, event: HookEvent, input: unknown): boolean {
  const { kind, callId, subagent } = event;
  if (kind === 'session_ended') return true;
  if (kind === 'answered') return callId === null || callId === prompt.callId;
  if (kind !== 'tool_used') return subagent === prompt.subagent;
  if (callId !== null && prompt.callId !== null) return callId === prompt.callId;
  return sumOf(event, input) === prompt.sum;
}

/** What people are asked, or why they are not. */
function wishOf(event: HookEvent, input: unknown) {
  const { tool, command, session, isQuestion } = event;
  if (tool === null || isQuestion) return 'it is a question, which no yes or no answers';
  const given = givenTo(input);
  const subject = shownWhole(gateSubject(given));
  const isLong = subject.length > GATE_SUBJECT_CHARS_MAX;
  // Whoever says yes has seen all of what will run.
  if (isLong && command !== null) return 'the command is too long to be shown whole';
  return {
    action: shortened(shownWhole(tool).replaceAll(/\s/g, ' '), ACTION_CHARS_MAX),
    subject: fitSubject(subject),
    payload: { tool, input: given },
    ...(isPrintable(session, GATE_WORD_CHARS_MAX) && { thread: session }),
  };
}

function givenTo(input: unknown): Fields {
  return isFields(input) ? fieldsOf(input, 'tool_input') : {};
}

function sumOf({ tool }: HookEvent, input: unknown): string {
  const text = canonicalJson({ tool, input: givenTo(input) });
  return createHash('sha256').update(text).digest('base64');
}

/** Lines stay lines; all else that cannot be seen is written out. */
function shownWhole(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(HIDDEN, (char) => (char === '\n' || char === '\t' ? char : written(char)));
}

function askingAs(desk: Desk, caller: Caller): Asking<AbortSignal> {
  return async (id: OperationId, input, signal) => {
    const answer = await desk.call(caller, OPERATIONS[id], input, signal && { signal });
    return 'ok' in answer ? answer.ok : answer.error.message;
  };
}
