/**
 * The answer to a permission prompt whose hook waits for people: what a person decided, in the vendor's
 * words, and silence for every other end [PG3]. What came to no decision is on the docket again as a
 * session that asks at its own terminal.
 */
import { gateWords } from '../../wire/gate-words.ts';
import type { Attention } from './attention.ts';
import type { BlockedSessions } from './blocked.ts';
import type { DecisionLog } from './decision-log.ts';
import { doingOf, nextHooked } from './doing.ts';
import { type HookEvent, type HookOutput, SILENCE } from './hook-event.ts';
import type { Patience, PromptGates } from './prompt-gates.ts';
import { DIALECTS } from './vendors/vendors.ts';

export interface PromptDesk {
  readonly prompts: PromptGates;
  readonly blocked: BlockedSessions;
  readonly record: DecisionLog;
}

/** What is asked here of a hook's call. */
interface Call {
  readonly input: unknown;
  readonly patience: Patience | null;
}

const AT_TERMINAL = 'The harness asks at its own terminal.';

/** A prompt whose hook waits, of a vendor that takes an answer [PG4]. */
export function isForPeople({ patience }: Call, event: HookEvent): boolean {
  const { kind, vendor, tool, isQuestion } = event;
  if (patience === null || kind !== 'asked' || tool === null || isQuestion) return false;
  return DIALECTS[vendor].takesVerdict;
}

export async function answerPrompt(
  { prompts, blocked, record }: PromptDesk,
  { patience, input }: Call,
  event: HookEvent,
  attention: Attention,
): Promise<HookOutput> {
  if (patience === null) return SILENCE;
  const startedAt = performance.now();
  const end = await prompts.ask(attention, event, input, patience);
  const isDenied = end.state === 'denied' && end.by !== null;
  const action = end.state === 'approved' ? 'permit' : isDenied ? 'forbid' : 'noop';
  const words = end.state === 'unasked' ? `Nobody was asked: ${end.reason}.` : gateWords(end);
  const { space, agent } = attention;
  record.write({
    ...{ space, agent, vendor: event.vendor, session: event.session, event: event.name },
    ...{ tool: event.tool, ms: Math.round(performance.now() - startedAt), action, rule: 'gate' },
    reason: action === 'noop' ? `${words} ${AT_TERMINAL}` : words,
  });
  if (action === 'noop') {
    // Unless the session went on by itself, somebody must now go to its terminal.
    const isOver = end.state === 'withdrawn';
    if (!isOver) blocked.asks(attention, event, doingOf(event)?.note ?? null);
    return SILENCE;
  }
  const { write } = DIALECTS[event.vendor];
  if (action === 'forbid') return write({ act: action, reason: words }, event);
  showBusy(attention, event);
  return write({ act: action }, event);
}

/** The tool runs, and no hook says so before it has ended. */
function showBusy({ caller }: Attention, event: HookEvent): void {
  const { activity } = caller ?? {};
  const doing = doingOf({ ...event, kind: 'tool_about' });
  if (activity?.hooked == null || doing === null) return;
  activity.hooked = nextHooked(activity.hooked, doing, Date.now(), activity.hooked.isLive);
}
