/**
 * Where a hook is answered: what each event of an agent means, and what is said back. One event of one
 * vendor comes in with what is known of its process; out goes what that vendor takes for an answer, or
 * silence. Each agent's events are answered in order. `cadence.ts` holds the rules of reminding and of
 * stopping, `guard.ts` those of writing, `wake/` those of waking.
 */

import { isFields, textOf } from '../../wire/fields.ts';
import type { DoorSettings } from '../../wire/hook-settings.ts';
import { heartbeat } from '../../wire/operations/channels.ts';
import { type Policy, spokenPolicy } from '../../wire/policy.ts';
import { RECV_TOOL, toolNameFor, type Vendor } from '../../wire/tool-names.ts';
import type { Desk } from '../desk/desk.ts';
import type { ReportFailure } from '../desk/failure.ts';
import {
  type Attention,
  type Attentions,
  advance,
  noteDrain,
  noteSend,
  type Reach,
  type View,
  viewOf,
} from './attention.ts';
import type { BlockedSessions } from './blocked.ts';
import type { CadenceDecision } from './cadence.ts';
import { answerOf, cadenceEventOf } from './cadence-hooks.ts';
import type { DecisionLine, DecisionLog } from './decision-log.ts';
import { type Doing, doingOf, nextHooked } from './doing.ts';
import { guardWrites } from './guard.ts';
import {
  type HookEvent,
  type HookOutput,
  INJECTED_CHARS_MAX,
  isUnheard,
  SILENCE,
} from './hook-event.ts';
import { findArrived, forgetRead, markShown, type OwedMail, owedMail } from './mail.ts';
import { answerPrompt, isForPeople } from './prompt-answer.ts';
import type { Patience, PromptGates } from './prompt-gates.ts';
import type { SessionBook } from './session-book.ts';
import { keepClaims, shortenClaims } from './session-claims.ts';
import { again, findTwin } from './twin.ts';
import { DIALECTS } from './vendors/vendors.ts';
import type { Waker } from './wake/wake.ts';

/** What is known of the process a hook or an MCP server runs in. */
export interface JoinCall {
  readonly vendor: Vendor;
  readonly space: string;
  readonly session: string | null;
  readonly parent: number | null;
  /** The name somebody chose: SYNOD_AGENT where the hook runs. */
  readonly name: string | null;
  readonly reach: Partial<Reach>;
}

export interface HookCall extends Omit<JoinCall, 'session'> {
  readonly input: unknown;
  /** So many hooks before this one got no answer, as their script says. */
  readonly unasked: number;
  /** Whether the one who asked is still there to be told. */
  isGone(): boolean;
  /** How long this hook waits for people to answer a permission prompt; null: not at all [PG1]. */
  readonly patience: Patience | null;
}

export interface HookDesk {
  /** Throws when something fails; that too is in the record. */
  answer(call: HookCall): Promise<HookOutput>;
  /** Who the session behind an MCP server is. */
  join(call: JoinCall): { readonly agent: string };
  /** Something was sent, by whatever door. */
  onSent(space: string, by: string, atMs: number): void;
  /** Takes up those who were idle when the hub stopped; answers with the spaces they are in. */
  restore(): Promise<readonly string[]>;
}

export interface HookDeskOptions {
  readonly desk: Desk;
  readonly book: SessionBook;
  readonly attentions: Attentions;
  readonly waker: Waker;
  readonly blocked: BlockedSessions;
  readonly prompts: PromptGates;
  readonly settings: () => DoorSettings;
  readonly record: DecisionLog;
  readonly report: ReportFailure;
}

/** An event on its way to its answer. */
interface Happening {
  readonly call: HookCall;
  readonly event: HookEvent;
  readonly attention: Attention;
  readonly view: View;
  readonly policy: Policy;
  note(line: Pick<DecisionLine, 'action' | 'reason' | 'rule'>): void;
}

/** Of one agent; beyond that a hook is answered with silence. */
const WAITING_MAX = 64;
const TOO_LATE = 'the hook had given up before it was answered; the tool went on unguarded';
/** A stop looks at so many: what is owed beyond counts as owed. */
const STOP_LOOK = 50;

export function createHookDesk(options: HookDeskOptions): HookDesk {
  const { desk, book, attentions, waker, blocked, prompts, settings, record, report } = options;

  async function handle(call: HookCall, event: HookEvent, attention: Attention) {
    const startedAt = performance.now();
    const { space, agent } = attention;
    const policy = policyOf(attention);
    await attentions.seat(attention);
    if (event.kind !== 'session_ended') await announce(attention);
    noteDrain(attention, policy);
    prompts.heard(attention, event, call.input);
    const doing = doingOf(event);
    if (doing !== null) showDoing(attention, doing, event, isForPeople(call, event));
    const view = viewOf(attention, event.session);
    await forgetRead(attention, view);
    const note: Happening['note'] = (line) =>
      record.write({
        ...{ space, agent, vendor: event.vendor, session: event.session, event: event.name },
        ...{ tool: event.tool, ms: Math.round((performance.now() - startedAt) * 100) / 100 },
        ...line,
      });
    return answerEvent({ call, event, attention, view, policy, note });
  }

  async function answerEvent(happening: Happening): Promise<HookOutput> {
    const { event, attention } = happening;
    if (event.kind === 'tool_about') return beforeTool(happening);
    // A subagent works under the session's name, but what is owed is the session's own to read.
    if (event.subagent !== null || event.name === 'SubagentStop') return SILENCE;
    if (event.kind === 'session_ended') return atEnd(happening);
    attention.isEnded = false;
    if (event.kind === 'asked' || event.kind === 'answered') return SILENCE;
    if (event.kind === 'rested') return atRest(happening);
    if (event.kind === 'stop_requested') return atStop(happening);
    if (event.kind === 'turn_started') await hearPrompt(happening);
    stir(attention);
    if (event.kind === 'session_started') return atStart(happening);
    const decision = decideCadence(happening);
    return speak(happening, decision?.action === 'inject' ? decision.message : null);
  }

  async function beforeTool({ call, event, attention, note }: Happening): Promise<HookOutput> {
    stir(attention);
    const guarded = await guardWrites(desk, event, attention, settings().guard);
    if (guarded.reason !== 'no writes') {
      note({ ...guarded, rule: 'guard' });
      // What closed the connection meanwhile is heard of one turn later.
      await new Promise((resolve) => setImmediate(resolve));
      if (call.isGone()) note({ action: 'noop', rule: 'unguarded', reason: TOO_LATE });
    }
    if (guarded.action !== 'deny') return SILENCE;
    return DIALECTS[event.vendor].write({ act: 'deny', reason: guarded.reason }, event);
  }

  /** The rules of stopping are the enforcer's; an agent that may stop rests from here on. */
  async function atStop(happening: Happening): Promise<HookOutput> {
    const { event, attention } = happening;
    const mail = await owedMail(attention, STOP_LOOK);
    const isOwed = mail === null ? undefined : mail.messages.length > 0 || mail.hasMore;
    const decision = decideCadence(happening, isOwed);
    const answer = decision === null ? ({ act: 'noop' } as const) : answerOf(decision);
    const output = DIALECTS[event.vendor].write(answer, event);
    if (output.json === null) rest(attention, event.session, positionsOf(mail));
    return output;
  }

  /** Interrupted by its person: nothing is owed to a stop that never came. */
  async function atRest({ event, attention }: Happening): Promise<HookOutput> {
    if (attention.idle === null) {
      rest(attention, event.session, positionsOf(await owedMail(attention, STOP_LOOK)));
    }
    return SILENCE;
  }

  async function atStart(happening: Happening): Promise<HookOutput> {
    const { event, attention } = happening;
    await keepClaims(desk, attention);
    // After a compaction the turn goes on.
    if (event.source !== 'compact') {
      rest(attention, event.session, positionsOf(await owedMail(attention, STOP_LOOK)));
    }
    return speak(happening, null);
  }

  async function atEnd({ event, attention, note }: Happening): Promise<HookOutput> {
    attention.isEnded = true;
    attention.isAnnounced = false;
    blocked.goesOn(attention, event.session, 'the session ended');
    stir(attention);
    book.end(attention.booked);
    const { caller } = attention;
    if (caller !== null) caller.activity.hooked = null;
    const { lastCallAt, lastOperation } = caller?.activity ?? {};
    await shortenClaims(desk, attention);
    // What is done for an agent that has gone is no sign of its life.
    if (caller !== null) Object.assign(caller.activity, { lastCallAt, lastOperation });
    // Its MCP server says goodbye itself; a second one would look like a new sign of life.
    if (caller?.activity.process === null)
      await desk.call(caller, heartbeat, { status: 'offline' });
    note({ action: 'noop', reason: `the session ended: ${event.source ?? 'no reason given'}` });
    return SILENCE;
  }

  /** A prompt may be a wake of ours: then what it showed counts as shown. */
  async function hearPrompt({ call, attention, view }: Happening): Promise<void> {
    const prompt = isFields(call.input) ? textOf(call.input, 'prompt') : null;
    const woken = prompt === null ? null : waker.heard(attention, prompt);
    if (woken !== null) return markShown(attention, view, woken);
    const { activity } = attention.caller ?? {};
    // Its person has spoken: what it said it waits for is answered.
    if (activity?.reported?.state === 'blocked') activity.reported = null;
  }

  function decideCadence(happening: Happening, isInboxNonEmpty?: boolean): CadenceDecision | null {
    const { event, attention, policy, note } = happening;
    const told = cadenceEventOf(event, {
      agentId: attention.agent,
      timestamp: Date.now() / 1000,
      ...(isInboxNonEmpty !== undefined && { isInboxNonEmpty }),
    });
    if (told === null) return null;
    const decision = advance(attention, told, policy);
    const { action, reason, rule } = decision;
    note({ action, reason, rule });
    return decision;
  }

  /** Everything that is to be said, in one text, as far as it fits; the rest waits for the next event. */
  async function speak(happening: Happening, reminder: string | null): Promise<HookOutput> {
    const { call, event, attention, view } = happening;
    const arrived = await findArrived(attention, view, Date.now());
    const reminders = [...new Set([attention.pending, reminder].filter((one) => one !== null))];
    const texts = [!view.isIntroduced ? introduction(attention) : null, arrived?.text ?? null];
    const said = texts.filter((one) => one !== null);
    const room = INJECTED_CHARS_MAX - said.join('\n\n').length;
    const words = reminders.join('\n');
    const isFitting = words.length + 2 <= room;
    if (words !== '' && isFitting) said.push(words);
    if (said.length === 0) return SILENCE;
    const output = DIALECTS[event.vendor].write({ act: 'inject', text: said.join('\n\n') }, event);
    if (!output.isDelivered || call.isGone()) {
      // Not dropped: whoever asked has no ear for it now [HK6].
      attention.pending = words === '' ? null : words;
      return SILENCE;
    }
    view.isIntroduced = true;
    attention.pending = words === '' || isFitting ? null : words;
    if (arrived !== null) await markShown(attention, view, arrived.shown);
    return output;
  }

  function rest(attention: Attention, session: string, left: readonly number[]): void {
    const { claudeSocket, codexHome } = attention.reach;
    const idle = { session, through: Math.max(0, ...left) };
    waker.idle(attention, session, left);
    book.keep(attention.booked, { idle, claudeSocket, codexHome });
    showDoing(attention, { state: 'idle', note: null });
    blocked.goesOn(attention, session, 'went on');
  }

  function showDoing(attention: Attention, doing: Doing, event?: HookEvent, isGate = false): void {
    const { caller, booked } = attention;
    if (caller === null) return;
    const { activity } = caller;
    const before = activity.hooked;
    const isLive = () => book.isLive(booked);
    activity.hooked = nextHooked(before, doing, Date.now(), isLive);
    if (event === undefined) return;
    if (doing.state === 'blocked') {
      // What is a gate is on the docket as that.
      if (!isGate) blocked.asks(attention, event, doing.note);
    }
    // Of one that was never heard before only the docket may know that it asked.
    else if (before === null || before.state === 'blocked') {
      blocked.goesOn(attention, event.session, 'went on');
    }
  }

  function stir(attention: Attention): void {
    waker.busy(attention);
    book.keep(attention.booked, { idle: null, claudeSocket: null, codexHome: null });
  }

  /** Nobody can speak to an agent the hub has never heard of. */
  async function announce(attention: Attention): Promise<void> {
    if (attention.isAnnounced) return;
    attention.isAnnounced = true;
    const { caller } = attention;
    if (caller !== null) await desk.call(caller, heartbeat, { status: 'online' });
  }

  function attend(call: JoinCall): Attention {
    const attention = attentions.of(book.join(call));
    for (const [name, value] of Object.entries(call.reach)) {
      if (value) attention.reach[name as keyof Reach] = value;
    }
    return attention;
  }

  function policyOf({ booked }: Attention): Policy {
    return spokenPolicy(settings().policy, toolNameFor(booked.vendor, RECV_TOOL));
  }

  return {
    async answer(call) {
      const event = DIALECTS[call.vendor].read(call.input);
      const { space, vendor, unasked } = call;
      const noteUnheard = (rule: string, reason: string): void =>
        record.write({
          ...{ space, vendor, agent: null, session: null, event: '?' },
          ...{ action: 'noop', rule, reason },
        });
      const failed = (reason: string): HookOutput => {
        noteUnheard('failed', reason);
        return SILENCE;
      };
      if (unasked > 0) {
        const who = unasked === 1 ? 'a hook' : `${unasked} hooks`;
        noteUnheard('unguarded', `${who} before this got no answer; what they were about went on`);
      }
      if (isUnheard(event)) return failed(event.unheard);
      const { session } = event;
      const said = event.subagent === null ? event.agentName : null;
      const attention = attend({ ...call, session, name: call.name ?? said });
      const twin = findTwin(attention, event, call.input, Date.now());
      if (twin.answered !== null) return again(await twin.answered.output);
      if (attention.waiting >= WAITING_MAX) return failed('too many hooks of one agent at once');
      attention.waiting++;
      const turn = attention.turn.then(() => handle(call, event, attention));
      attention.turn = turn.then(
        () => attention.waiting--,
        () => attention.waiting--,
      );
      const answered = isForPeople(call, event)
        ? turn.then(() => answerPrompt({ prompts, blocked, record }, call, event, attention))
        : turn;
      twin.keep(answered.catch(() => SILENCE));
      try {
        return await answered;
      } catch (cause) {
        failed(cause instanceof Error ? cause.message : String(cause));
        throw cause;
      }
    },
    join(call) {
      const attention = attend(call);
      attentions
        .seat(attention)
        .then(() => announce(attention))
        .catch((cause) => report('a session was not announced', cause));
      return { agent: attention.agent };
    },
    async restore() {
      const spaces = new Set<string>();
      for (const booked of book.list()) {
        const { idle, space, claudeSocket, codexHome } = booked;
        if (idle === null || !book.isLive(booked)) continue;
        const attention = attentions.of(booked);
        Object.assign(attention.reach, { claudeSocket, codexHome });
        await attentions.seat(attention);
        const owed = positionsOf(await owedMail(attention, STOP_LOOK));
        const left = owed.filter((position) => position <= idle.through);
        waker.idle(attention, idle.session, left);
        spaces.add(space);
      }
      return [...spaces];
    },
    onSent(space, by, atMs) {
      const attention = attentions.find(space, by);
      if (attention === undefined) return;
      const policy = policyOf(attention);
      noteDrain(attention, policy);
      noteSend(attention, atMs, policy);
    },
  };
}

function positionsOf(mail: OwedMail | null): readonly number[] {
  return mail?.messages.map(({ position }) => position) ?? [];
}

function introduction({ agent }: Attention): string {
  return `Synod: this session is the agent ${agent}. Others reach it under that name.`;
}
