/**
 * What is owed to an agent, looked at and never taken: only a real recv takes, and until then the message
 * is owed [HD4]. What arrived is quoted between two tools, each message once in a session; that it was
 * shown is said in the receipts once it has been handed to the harness, and not before [HD5].
 */
import { isRefusal } from '../../core/law/decider.ts';
import { owedTotal, peek } from '../../core/talk/inbox.ts';
import { messageId } from '../../core/talk/message-id.ts';
import { isWorthShowing } from '../../core/talk/present.ts';
import type { Message } from '../../hub/message-store.ts';
import {
  ARRIVAL_BOUNDS,
  type Quotation,
  type QuotedMessage,
  quoteArrival,
} from '../../wire/quoted.ts';
import { type Attention, SHOWN_MAX, type View } from './attention.ts';

export interface OwedMessage extends QuotedMessage {
  readonly position: number;
  /** The position of what it replies to. */
  readonly parent: number | null;
}

export interface OwedMail {
  /** Oldest first. */
  readonly messages: readonly OwedMessage[];
  /** Owed as well, but nothing to show: the agent's own words, and what has expired. */
  readonly passed: readonly number[];
  /** Whether there is more than was asked for. */
  readonly hasMore: boolean;
}

/** Null when the hub cannot say; then a hook is silent. */
export async function owedMail({ hub, agent }: Attention, max: number): Promise<OwedMail | null> {
  if (hub === null) return null;
  const seen = await hub.ask((world) => ({
    found: peek(world, agent, null, max),
    total: owedTotal(world.agents.get(agent)),
  }));
  if (isRefusal(seen) || isRefusal(seen.found)) return null;
  const { found, total } = seen;
  if (found.length === 0) return { messages: [], passed: [], hasMore: false };
  const stored = await hub.messages(found.map(({ position }) => position));
  const at = hub.stamp();
  const wanted = stored.filter(
    (one): one is Message => one !== null && isWorthShowing(one, agent, at),
  );
  const told = new Set(wanted.map(({ position }) => position));
  const passed = found.flatMap(({ position }) => (told.has(position) ? [] : [position]));
  const hasMore = total > found.length;
  return { messages: wanted.map(asOwed), passed, hasMore };
}

/** Null when nothing new is owed. */
export async function findArrived(
  attention: Attention,
  { shown }: View,
  nowMs: number,
): Promise<Quotation<OwedMessage> | null> {
  if (shown.size >= SHOWN_MAX) return null;
  const mail = await owedMail(attention, shown.size + ARRIVAL_BOUNDS.messages + 1);
  if (mail === null) return null;
  for (const position of mail.passed) shown.add(position);
  const fresh = mail.messages.filter(({ position }) => !shown.has(position));
  return quoteArrival(fresh, nowMs, attention.booked.vendor);
}

/** Says in the receipts that these, with what was shown before, were put before the agent; they stay owed. */
export async function markShown(
  { hub, agent, caller }: Attention,
  { shown }: View,
  messages: readonly OwedMessage[],
): Promise<void> {
  if (messages.length === 0) return;
  for (const { position } of messages) shown.add(position);
  if (hub === null || caller === null) return;
  const by = caller.principal;
  const done = await hub.submit({ type: 'inbox.present', by, at: hub.stamp(), shown });
  if (!isRefusal(done)) hub.watch.onPresented(agent, messages);
}

/** What was read need not be remembered. */
export async function forgetRead(attention: Attention, view: View): Promise<void> {
  const { shown } = view;
  if (view.forgotAt >= attention.drainAt) return;
  view.forgotAt = attention.drainAt;
  if (shown.size === 0) return;
  const mail = await owedMail(attention, SHOWN_MAX + 1);
  if (mail === null) return;
  const owed = new Set([...mail.messages.map(({ position }) => position), ...mail.passed]);
  for (const position of shown) if (!owed.has(position)) shown.delete(position);
}

function asOwed(message: Message): OwedMessage {
  const { position, channel, by, as, actor, at, body, replyTo } = message;
  return {
    position,
    channel,
    body,
    id: messageId(position),
    sender: by,
    standing: as ?? null,
    actor: actor ?? null,
    sentAtMs: at,
    parent: replyTo ?? null,
    replyTo: replyTo === undefined ? null : messageId(replyTo),
  };
}
