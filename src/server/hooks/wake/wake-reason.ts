/**
 * Whether a message is a reason to begin somebody's turn [WA8]: it names the agent, answers it, or asks, and
 * the mode of the agent and of the channel allows it. Everything else is mail that waits for
 * the next turn: a greeting on a channel wakes nobody. Pure.
 */

import { createMatcher } from '../../../core/law/glob.ts';
import { addresseeOf, channelKind, dmParties } from '../../../core/law/name.ts';
import { namesIn } from '../../../wire/asks.ts';
import { isQuestion } from '../../../wire/body-text.ts';
import type { WakeMode, WakeSettings } from '../../../wire/hook-settings.ts';

export interface WakingMessage {
  readonly channel: string;
  readonly body: unknown;
  readonly isReply: boolean;
  /** Who sent the message that this one replies to, where that is known. */
  readonly answers: string | null;
}

/** Loudest first: between an agent's and a channel's setting the quieter one holds. */
const MODES: readonly WakeMode[] = ['on', 'named', 'off'];

export function isReason(message: WakingMessage, agent: string, settings: WakeSettings): boolean {
  const mode = modeOf(settings, agent, message.channel);
  return mode === 'on' || (mode === 'named' && concerns(message, agent));
}

/** A person who switched waking off altogether, and nothing on again, is asked no further. */
export function isAllOff({ mode, agents, channels }: WakeSettings): boolean {
  return [mode, ...Object.values(agents), ...Object.values(channels)].every((one) => one === 'off');
}

function modeOf(
  { mode, agents, channels }: WakeSettings,
  agent: string,
  channel: string,
): WakeMode {
  const said = [saidFor(agents, agent), saidFor(channels, channel)].filter((one) => one !== null);
  return MODES.findLast((one) => said.includes(one)) ?? mode;
}

/** The exact name first, then the first pattern that matches. */
function saidFor(table: Readonly<Record<string, WakeMode>>, name: string): WakeMode | null {
  if (Object.hasOwn(table, name)) return table[name] ?? null;
  const found = Object.entries(table).find(([pattern]) => createMatcher(pattern)(name));
  return found?.[1] ?? null;
}

function concerns({ channel, body, isReply, answers }: WakingMessage, agent: string): boolean {
  if (answers === agent || isOwnChannel(channel, agent)) return true;
  const named = namesIn(body);
  if (named.has(agent) || named.has('all')) return true;
  // A question to somebody, or back to somebody, is nobody else's.
  return named.size === 0 && !isReply && isQuestion(body);
}

/** Channels where every message is for the agent: direct ones, the hub's, and SOX's inbox. */
function isOwnChannel(channel: string, agent: string): boolean {
  if (channelKind(channel) === 'dm') return dmParties(channel)?.includes(agent) === true;
  return (
    addresseeOf(channel) === agent || channel === `agent/${agent}` || channel === `agent:${agent}`
  );
}
