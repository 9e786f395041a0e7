/**
 * What a harness tells us through its hooks, and what we answer, in one set of words for all.
 *
 * The vendors' files in `vendors/` translate both ways and decide nothing. An answer that a vendor
 * has no words for at that moment is not dropped: the translation says that it was not delivered,
 * and whoever asked keeps it for the next event [HK6].
 */
import type { Vendor } from '../../wire/tool-names.ts';

export type HookKind =
  | 'session_started'
  | 'tool_about'
  | 'tool_used'
  | 'turn_started'
  /** A person is asked, and the harness waits. */
  | 'asked'
  /** A person has answered, where the harness says so. */
  | 'answered'
  /** It waits for its person without having been stopped. */
  | 'rested'
  | 'stop_requested'
  | 'session_ended';

export interface HookEvent {
  readonly kind: HookKind;
  readonly vendor: Vendor;
  /** The vendor's own word for it: the answer must repeat it. */
  readonly name: string;
  /** The vendor's id of the session; the same in its MCP server's environment or calls. */
  readonly session: string;
  /** The agent inside the session that this is about; null for the session's own. */
  readonly subagent: string | null;
  /** The name the harness gave the agent, if it gave one. */
  readonly agentName: string | null;
  /** Where relative paths of this event start from; null when the harness did not say. */
  readonly cwd: string | null;
  /** As the vendor calls it; null unless this is about a tool. */
  readonly tool: string | null;
  readonly callId: string | null;
  /** What an edit tool was told to write, as it was written there. */
  readonly paths: readonly string[];
  /** What a shell tool was told to run. */
  readonly command: string | null;
  /** What a tool is for, or what a person is asked, in the harness's own words. */
  readonly words: string | null;
  /** The tool does nothing but ask a person. */
  readonly isQuestion: boolean;
  /** The tool was called and came to nothing. */
  readonly isFailure: boolean;
  /** Why the session started or ended: `startup`, `resume`, `compact`, … */
  readonly source: string | null;
}

/** An input that is not for us: silence is the answer. */
export interface Unheard {
  readonly unheard: string;
}

export type HookAnswer =
  | { readonly act: 'noop' }
  /** We do not object. It never grants what the harness would have asked a person about [HK5]. */
  | { readonly act: 'allow' }
  | { readonly act: 'inject'; readonly text: string }
  | { readonly act: 'deny'; readonly reason: string }
  | { readonly act: 'block'; readonly reason: string }
  /** A person has decided, at a gate, what the harness asked its own person about [PG3]. */
  | { readonly act: 'permit' }
  | { readonly act: 'forbid'; readonly reason: string };

export interface HookOutput {
  /** What goes to stdout as JSON; null for nothing at all. */
  readonly json: Readonly<Record<string, unknown>> | null;
  readonly isDelivered: boolean;
}

export interface HookDialect {
  /** Whether a hook of it can answer a permission prompt. */
  readonly takesVerdict: boolean;
  read(input: unknown): HookEvent | Unheard;
  write(answer: HookAnswer, event: HookEvent): HookOutput;
}

/** Claude Code keeps no more of an injected text. */
export const INJECTED_CHARS_MAX = 8_000;
/** Nor of a reason. */
export const REASON_CHARS_MAX = 2_000;

export const SILENCE: HookOutput = { json: null, isDelivered: true };
export const UNDELIVERED: HookOutput = { json: null, isDelivered: false };

export function isUnheard(event: HookEvent | Unheard): event is Unheard {
  return 'unheard' in event;
}

/** A text as a vendor takes it: never empty, which some refuse, and never too long. */
export function fitted(text: string, charsMax: number): string {
  return shortened(text.trim() === '' ? 'Synod gave no reason.' : text, charsMax);
}

export function shortened(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).toWellFormed()}…`;
}
