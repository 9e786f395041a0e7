/**
 * A story: one conformance fixture or scenario as plain values.
 *
 * It names the agents, how the server must be started, who subscribes to what
 * first, the calls in order with what each must answer, and what must hold of
 * the answers together. A story knows no door: the same one is told over HTTP,
 * MCP over HTTP and MCP over stdio. It refuses nothing; `run-story.ts` judges.
 */

import type { Check } from './checks.ts';
import type { Expected } from './match.ts';
import type { PluginPackage } from './plugin-project.ts';

/** The fifteen operations of SOX v1, by their HTTP names. */
export type Operation =
  | 'send'
  | 'recv'
  | 'subscribe'
  | 'unsubscribe'
  | 'list_channels'
  | 'list_agents'
  | 'channels_ack'
  | 'channels_heartbeat'
  | 'replay'
  | 'channels_collect'
  | 'group_create'
  | 'group_invite'
  | 'group_join'
  | 'group_leave'
  | 'group_list_members';

export interface CallStep {
  readonly id: string;
  readonly as: string;
  readonly op: Operation;
  readonly input?: Readonly<Record<string, unknown>>;
  /** What the answer must hold. A step without it must still succeed. */
  readonly expect?: Expected;
  /** What the refusal must hold. A step with it must be refused. */
  readonly refuse?: Expected;
  /** What the pipeline trace of this call must hold. */
  readonly trace?: Expected;
  /** The protocol version the client declares, when it declares one. */
  readonly clientVersion?: string;
}

interface SleepStep {
  readonly id: string;
  /** Part of the fixture itself: the passing of this time is what is tested. */
  readonly sleepMs: number;
}

/** Calls in flight at the same time; each is judged by itself. */
interface TogetherStep {
  readonly id: string;
  readonly together: readonly CallStep[];
}

type Step = CallStep | SleepStep | TogetherStep;

interface Registration {
  readonly id: string;
  readonly namespace?: string;
}

/** A server that must not start: exit code other than 0, and these on stderr. */
interface RefusedBoot {
  readonly plugins: readonly PluginPackage[];
  readonly log: readonly RegExp[];
}

/** How the server of a story differs from a plain open one. */
export interface Boot {
  /** SOX `server_config` names, verbatim. */
  readonly serverConfig?: Readonly<Record<string, unknown>>;
  /** Present, even empty: only these agents exist, each at home in its namespace. */
  readonly roster?: readonly Registration[];
  readonly plugins?: readonly PluginPackage[];
  readonly args?: readonly string[];
  /** Lines the boot log on stderr must hold. */
  readonly log?: readonly RegExp[];
  readonly refused?: readonly RefusedBoot[];
  /** Exactly what the plugins wrote by the time the server has stopped. */
  readonly journal?: readonly string[];
}

export interface Story {
  /** `SOX-48` for the fixture with that number, `SOX-S3` for a scenario. */
  readonly id: string;
  readonly category: string;
  readonly name: string;
  readonly agents: readonly string[];
  readonly boot?: Boot;
  /** Before the steps: agent, pattern. Each must succeed. */
  readonly subscribe?: readonly (readonly [agent: string, pattern: string])[];
  readonly steps: readonly Step[];
  readonly checks?: readonly Check[];
}

/** The three bodies the fixtures use; their text matters only where a step expects it. */
export const status = (subject: string): { type: string; subject: string } => ({
  type: 'status_update',
  subject,
});
export const request = (question: string): { type: string; question: string } => ({
  type: 'clarification_request',
  question,
});
export const reply = (answer: string): { type: string; answer: string } => ({
  type: 'clarification_reply',
  answer,
});

/** How long a story waits by itself; the longest are started first. */
export function sleepMsOf(story: Story): number {
  return story.steps.reduce((sum, step) => sum + ('sleepMs' in step ? step.sleepMs : 0), 0);
}

export function asksForTrace(story: Story): boolean {
  return story.steps.some((step) => 'op' in step && step.trace !== undefined);
}
