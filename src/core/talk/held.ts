/**
 * Held messages and time: one that no person decides on expires, so that what waits for a person is
 * bounded by a rule and not by patience alone [GA4].
 */
import { raiseItem, settleItem } from '../docket/docket.ts';
import { count } from '../law/shares.ts';
import type { Channel, HeldPlace, World } from '../law/state.ts';
import { channelWith, passRefused, settleMember } from './channel.ts';

export interface HeldExpired {
  readonly type: 'held.expired';
  readonly at: number;
  readonly expired: readonly (readonly [channel: string, seq: number, position: number])[];
}

/** A message waits for a person: no reader is handed it, and it is on the docket [DK6]. */
export function hold(
  world: World,
  channel: Channel,
  {
    by,
    at,
    seq,
    held: reason,
    waking,
    gate,
  }: {
    readonly by: string;
    readonly at: number;
    readonly seq: number;
    readonly held: string;
    readonly waking: HeldPlace['waking'] | undefined;
    readonly gate?: string;
  },
  position: number,
): void {
  channel.held ??= new Map();
  channel.held.set(seq, { reason, since: at, isRefused: false });
  world.held.set(position, {
    ...{ by, channel: channel.name, seq, since: at },
    ...(waking !== undefined && { waking }),
    ...(gate !== undefined && { gate }),
  });
  count(world.made.held, by, 1);
  armHeld(world);
  // The gate is on the docket in its place.
  if (gate !== undefined) return;
  raiseItem(world, at, {
    ...{ kind: 'held', agent: by, reason, thread: null },
    ...{ text: `on ${channel.name}`, subject: subjectOf(position) },
  });
}

/** The id of the message, which the docket knows it by. */
function subjectOf(position: number): string {
  return `m${position}`;
}

export function evolveHeldExpired(world: World, event: HeldExpired): void {
  for (const [name, seq, position] of event.expired) {
    dropHeld(world, position, { at: event.at, by: null, outcome: 'expired' });
    const channel = channelWith(world, { channel: name, seq, position });
    if (channel === undefined) continue;
    const reason = 'no person decided on it in time';
    channel.held?.set(seq, { reason, since: event.at, isRefused: true, isExpired: true });
    passByRefused(channel, seq);
  }
}

/** It waits for a person no more, and is off the docket [DK6]. */
export function dropHeld(
  world: World,
  position: number,
  {
    at,
    by,
    outcome,
  }: { readonly at: number; readonly by: string | null; readonly outcome: string },
): void {
  const place = world.held.get(position);
  if (place === undefined) return;
  settleItem(world, at, 'held', subjectOf(position), outcome, by);
  world.held.delete(position);
  count(world.made.held, place.by, -1);
}

/** Sees to it that what is held longest is looked at when its time is up. */
export function armHeld(world: World): void {
  const { oldest } = world.held;
  const since = oldest === undefined ? undefined : world.held.get(oldest)?.since;
  if (since === undefined) return;
  world.deadlines.push({ at: since + world.settings.heldTtlMs, kind: 'held', agent: '' });
}

/** Nobody waits behind a message that will never be handed out [R8]. */
export function passByRefused(channel: Channel, seq: number): void {
  for (const member of channel.members.values()) {
    if (member.from >= seq) continue;
    passRefused(member);
    settleMember(member);
  }
}
