/**
 * Where a hook is answered. One event of one vendor comes in with what is known of its process; out
 * goes what that vendor takes for an answer, or silence. Each agent's events are answered in order.
 * Whatever fails here is silence and a line in the record: no agent ever waits or stops because
 * we do not know [HD2].
 */

import { isFields, textOf } from '../../wire/fields.ts';
import type { DoorSettings } from '../../wire/hook-settings.ts';
import { spokenPolicy } from '../../wire/policy.ts';
import { RECV_TOOL, toolNameFor, type Vendor } from '../../wire/tool-names.ts';
import type { ReportFailure } from '../desk/failure.ts';
import {
  type Attention,
  advance,
  type createAttentions,
  noteDrain,
  noteSend,
  type Reach,
  type View,
  viewOf,
} from './attention.ts';
import { answerOf, cadenceEventOf } from './binding.ts';
import type { DecisionLine, DecisionLog } from './decision-log.ts';
import { findArrived, forgetRead, markShown } from './delivery.ts';
import { DIALECTS } from './dialects.ts';
import { createGuardDoor } from './guard-door.ts';
import type { HarnessHub } from './harness-hub.ts';
import {
  type HookAnswer,
  type HookEvent,
  type HookOutput,
  INJECTED_CHARS_MAX,
  isUnheard,
  SILENCE,
} from './hook-event.ts';
import type { SessionBook } from './session-book.ts';
import { again, findTwin } from './twin.ts';
import type { Waker } from './wake/wake.ts';

export interface HookCall {
  readonly vendor: Vendor;
  readonly space: string;
  readonly input: unknown;
  readonly parent: number | null;
  /** The name somebody chose: SYNOD_AGENT where the hook runs. */
  readonly name: string | null;
  readonly reach: Partial<Reach>;
  /** Whether the one who asked is still there to be told. */
  isGone(): boolean;
}

export interface JoinCall {
  readonly vendor: Vendor;
  readonly space: string;
  readonly session: string | null;
  readonly parent: number | null;
  readonly name: string | null;
  readonly reach: Partial<Reach>;
}

export interface HookDesk {
  answer(call: HookCall): Promise<HookOutput>;
  /** Who the session behind an MCP server is. */
  join(call: JoinCall): { readonly agent: string };
  /** Something was sent, by whatever door. */
  onSent(space: string, by: string, atMs: number): void;
  /** Takes up those who were idle when the hub stopped; answers with the spaces they are in. */
  restore(): Promise<readonly string[]>;
}

export interface HookDeskOptions {
  readonly hub: HarnessHub;
  readonly book: SessionBook;
  readonly attentions: ReturnType<typeof createAttentions>;
  readonly waker: Waker;
  readonly settings: () => DoorSettings;
  readonly record: DecisionLog;
  readonly report: ReportFailure;
  readonly now?: () => number;
}

/** Of one agent; beyond that a hook is answered with silence. */
const WAITING_MAX = 64;
/** A stop looks at so many: what is owed beyond counts as owed. */
const STOP_LOOK = 50;

export function createHookDesk(options: HookDeskOptions): HookDesk {
  const { hub, book, attentions, waker, settings, record, now = Date.now } = options;
  const guard = createGuardDoor(hub, now);

  function attend(
    call: Omit<JoinCall, 'session'> & { readonly session: string | null },
  ): Attention {
    const attention = attentions.of(book.join(call));
    for (const [name, value] of Object.entries(call.reach)) {
      if (value) attention.reach[name as keyof Reach] = value;
    }
    return attention;
  }

  function policyOf(attention: Attention) {
    const recv = toolNameFor(attention.booked.vendor, RECV_TOOL);
    return spokenPolicy(settings().policy, recv);
  }

  async function handle(
    call: HookCall,
    event: HookEvent,
    attention: Attention,
  ): Promise<HookOutput> {
    const { space, agent } = attention;
    const startedAt = performance.now();
    const note = (line: Pick<DecisionLine, 'action' | 'reason' | 'rule'>): void =>
      record.write({
        ...{ space, agent, vendor: event.vendor, session: event.session, event: event.name },
        ...{ tool: event.tool, ms: Math.round((performance.now() - startedAt) * 100) / 100 },
        ...line,
      });
    const write = (answer: HookAnswer): HookOutput => DIALECTS[event.vendor].write(answer, event);
    const policy = policyOf(attention);
    await hub.seat(space, agent);
    await announce(attention, event.kind === 'session_ended');
    noteDrain(attention, hub.lastDrainAt(space, agent), policy);
    const view = viewOf(attention, event.session);
    await forgetRead(hub, attention, view);
    if (event.kind === 'tool_about') {
      stir(attention);
      const guarded = await guard.judge(event, attention, settings().guard);
      if (guarded.reason !== 'no writes') note({ ...guarded, rule: 'guard' });
      return guarded.action === 'deny' ? write({ act: 'deny', reason: guarded.reason }) : SILENCE;
    }
    // A subagent works under the session's name, but what is owed is the session's own to read.
    if (event.subagent !== null || event.name === 'SubagentStop') return SILENCE;
    if (event.kind === 'session_ended') {
      attention.isEnded = true;
      attention.isAnnounced = false;
      stir(attention);
      book.end(attention.booked);
      await hub.announce(space, agent, 'offline');
      note({ action: 'noop', reason: `the session ended: ${event.source ?? 'no reason given'}` });
      return SILENCE;
    }
    attention.isEnded = false;
    if (event.kind === 'turn_started') await heard(call, attention, view);
    if (event.kind !== 'stop_requested') stir(attention);
    const isEnd = event.kind === 'stop_requested' || event.kind === 'session_started';
    const mail = isEnd ? await hub.owed(space, agent, STOP_LOOK) : null;
    const left = mail?.messages.map(({ position }) => position) ?? [];
    const told = cadenceEventOf(event, {
      agentId: agent,
      timestamp: now() / 1000,
      ...(mail !== null && { isInboxNonEmpty: mail.messages.length > 0 || mail.hasMore }),
    });
    const decision = told === null ? null : advance(attention, told, policy);
    const answer: HookAnswer = decision === null ? { act: 'noop' } : answerOf(decision);
    if (decision !== null) {
      const { action, reason, rule } = decision;
      note({ action, reason, rule });
    }
    if (event.kind === 'stop_requested') {
      const output = write(answer);
      if (output.json === null) rest(attention, event.session, left);
      return output;
    }
    // After a compaction the turn goes on.
    if (event.kind === 'session_started' && event.source !== 'compact')
      rest(attention, event.session, left);
    return speak(call, event, attention, answer.act === 'inject' ? answer.text : null);
  }

  function rest(attention: Attention, session: string, left: readonly number[]): void {
    const { claudeSocket, codexHome } = attention.reach;
    const idle = { session, through: Math.max(0, ...left) };
    waker.idle(attention, session, left);
    book.keep(attention.booked, { idle, claudeSocket, codexHome });
  }

  function stir(attention: Attention): void {
    waker.busy(attention);
    book.keep(attention.booked, { idle: null, claudeSocket: null, codexHome: null });
  }

  /** Nobody can speak to an agent the hub has never heard of. */
  async function announce(attention: Attention, isEnd: boolean): Promise<void> {
    if (attention.isAnnounced || isEnd) return;
    attention.isAnnounced = true;
    await hub.announce(attention.space, attention.agent, 'online');
  }

  async function heard(call: HookCall, attention: Attention, view: View): Promise<void> {
    const prompt = isFields(call.input) ? textOf(call.input, 'prompt') : null;
    const woken = prompt === null ? null : waker.heard(attention, prompt);
    if (woken !== null) await markShown(hub, attention, view, woken);
  }

  /** Everything that is to be said, in one text, as far as it fits; the rest waits for the next event. */
  async function speak(
    call: HookCall,
    event: HookEvent,
    attention: Attention,
    reminder: string | null,
  ): Promise<HookOutput> {
    const view = viewOf(attention, event.session);
    const arrived = await findArrived(hub, attention, view, now());
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
    if (arrived !== null) await markShown(hub, attention, view, arrived.messages);
    return output;
  }

  return {
    async answer(call) {
      const event = DIALECTS[call.vendor].read(call.input);
      const { space, vendor } = call;
      const failed = (reason: string): HookOutput => {
        record.write({
          ...{ space, vendor, agent: null, session: null, event: '?' },
          ...{ action: 'noop', rule: 'failed', reason },
        });
        return SILENCE;
      };
      if (isUnheard(event)) return failed(event.unheard);
      const { session } = event;
      const said = event.subagent === null ? event.agentName : null;
      const attention = attend({ ...call, session, name: call.name ?? said });
      const twin = findTwin(attention, event, call.input, now());
      if (twin.answered !== null) return again(await twin.answered.output);
      if (attention.waiting >= WAITING_MAX) return failed('too many hooks of one agent at once');
      attention.waiting++;
      const turn = attention.turn.then(() => handle(call, event, attention));
      const output = turn.catch(() => SILENCE);
      attention.turn = output;
      twin.keep(output);
      try {
        return await turn;
      } catch (cause) {
        failed(cause instanceof Error ? cause.message : String(cause));
        throw cause;
      } finally {
        attention.waiting--;
      }
    },
    join(call) {
      const attention = attend(call);
      announce(attention, false).catch((cause) =>
        options.report('a session was not announced', cause),
      );
      return { agent: attention.agent };
    },
    async restore() {
      const spaces = new Set<string>();
      for (const booked of book.list()) {
        const { idle, space, agent, claudeSocket, codexHome } = booked;
        if (idle === null || !book.isLive(booked)) continue;
        const attention = attentions.of(booked);
        Object.assign(attention.reach, { claudeSocket, codexHome });
        await hub.seat(space, agent);
        const mail = await hub.owed(space, agent, STOP_LOOK);
        const owed = mail?.messages.map(({ position }) => position) ?? [];
        waker.idle(
          attention,
          idle.session,
          owed.filter((position) => position <= idle.through),
        );
        spaces.add(space);
      }
      return [...spaces];
    },
    onSent(space, by, atMs) {
      const attention = attentions.find(space, by);
      if (attention === undefined) return;
      const policy = policyOf(attention);
      noteDrain(attention, hub.lastDrainAt(space, by), policy);
      noteSend(attention, atMs, policy);
    },
  };
}

function introduction({ agent }: Attention): string {
  return `Synod: this session is the agent ${agent}. Others reach it under that name.`;
}
