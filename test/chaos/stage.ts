/** Where agents of a run act: servers, a space of theirs, and the things in it. */
import type { Ask } from './ask.ts';
import type { Recorder } from './recorder.ts';
import type { ChaosServer } from './servers.ts';

export interface Stage {
  readonly ask: Ask;
  readonly servers: readonly ChaosServer[];
  readonly recorder: Recorder;
  readonly space: string;
  readonly things: Things;
  /** For how long who takes a message, a turn or a run has it. */
  readonly leaseMs: number;
  /** Gates that were asked for, the newest last. */
  readonly gates: KnownGate[];
  /** Runs that were started, or may have been. */
  readonly runs: string[];
  /** Between two acts of one agent. */
  pause(ms: number): Promise<void>;
  readonly isOver: boolean;
}

/** What a run acts on: its own, so that several can use the same servers. */
export interface Things {
  /** The last one begins turns. */
  readonly channels: readonly [string, string, string];
  readonly locks: readonly string[];
  readonly values: readonly string[];
  /** Of which runs are started. */
  readonly workflow: string;
}

export function thingsOf(run: string): Things {
  return {
    channels: [`talk-0${run}`, `talk-1${run}`, `jobs${run}`],
    locks: [`lock-0${run}`, `lock-1${run}`],
    values: [`value-0${run}`, `value-1${run}`, `value-2${run}`],
    workflow: `chain${run}`,
  };
}

export interface KnownGate {
  readonly id: string;
  /** As the history names it. */
  readonly key: string;
  readonly asker: string;
}

/** Of the context. */
export const NAMESPACE = 'chaos';
