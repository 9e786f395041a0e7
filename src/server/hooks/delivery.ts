/**
 * Between two tools: what arrived for the agent, quoted, each message once in a session [HD4]. It looks
 * and takes nothing: only a real recv takes, and until then the message is owed. That it was shown
 * is said in the receipts once it has been handed to the harness, and not before [HD5].
 */

import { RECV_TOOL, toolNameFor } from '../../wire/tool-names.ts';
import { type Attention, SHOWN_MAX, type View } from './attention.ts';
import type { HarnessHub, OwedMessage } from './harness-hub.ts';
import { QUOTED_MESSAGES_MAX, quoteArrival } from './quoted.ts';

export interface Arrived {
  readonly text: string;
  readonly messages: readonly OwedMessage[];
}

/** Null when nothing new is owed. */
export async function findArrived(
  hub: HarnessHub,
  { space, agent, booked }: Attention,
  { shown }: View,
  nowMs: number,
): Promise<Arrived | null> {
  if (shown.size >= SHOWN_MAX) return null;
  const mail = await hub.owed(space, agent, shown.size + QUOTED_MESSAGES_MAX + 1);
  if (mail === null) return null;
  for (const position of mail.passed) shown.add(position);
  const fresh = mail.messages.filter(({ position }) => !shown.has(position));
  if (fresh.length === 0) return null;
  const quotation = quoteArrival({
    messages: fresh,
    moreOwed: 0,
    nowMs,
    recvTool: toolNameFor(booked.vendor, RECV_TOOL),
    isTaken: false,
  });
  if (quotation === null || quotation.shown.length === 0) return null;
  const told = new Set(quotation.shown);
  return { text: quotation.text, messages: fresh.filter(({ id }) => told.has(id)) };
}

export async function markShown(
  hub: HarnessHub,
  { space, agent }: Attention,
  { shown }: View,
  messages: readonly OwedMessage[],
): Promise<void> {
  if (messages.length === 0) return;
  for (const { position } of messages) shown.add(position);
  await hub.present(space, agent, messages, shown);
}

/** What was read need not be remembered. */
export async function forgetRead(
  hub: HarnessHub,
  { space, agent, drainAt }: Attention,
  view: View,
): Promise<void> {
  const { shown } = view;
  if (view.forgotAt >= drainAt) return;
  view.forgotAt = drainAt;
  if (shown.size === 0) return;
  const mail = await hub.owed(space, agent, SHOWN_MAX + 1);
  if (mail === null) return;
  const owed = new Set([...mail.messages.map(({ position }) => position), ...mail.passed]);
  for (const position of shown) if (!owed.has(position)) shown.delete(position);
}
