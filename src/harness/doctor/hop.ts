/**
 * What the doctor finds: one value for each hop a message takes between an agent and the hub. A hop
 * that failed says what to do; one that could not be tried says why [DO1]. Nothing here throws for a
 * machine that is not as hoped.
 */

import type { Vendor } from '../../wire/tool-names.ts';
import type { Finding } from '../install/problem.ts';
import type { ScopeKind } from '../install/vendors/vendor.ts';

export type HopName =
  | 'hub'
  | 'two hubs'
  | 'credential'
  | 'project'
  | 'policy'
  | 'runner'
  | 'program'
  | 'files'
  | 'trust'
  | 'mcp'
  | 'message'
  | 'hook'
  | 'guard'
  | 'wake';

export type HopState = 'ok' | 'warn' | 'fail' | 'skip';

export interface Found {
  readonly hop: HopName;
  readonly state: HopState;
  readonly message: string;
  /** What to do; null where nothing is to be done. */
  readonly remedy: string | null;
  /** How long it took, where that matters. */
  readonly ms: number | null;
}

export interface Hop extends Found {
  /** Null for what concerns all. */
  readonly vendor: Vendor | null;
  readonly scope: ScopeKind | null;
}

export function ok(hop: HopName, message: string, ms: number | null = null): Found {
  return { hop, state: 'ok', message, remedy: null, ms };
}

export function warn(hop: HopName, message: string, remedy: string): Found {
  return { hop, state: 'warn', message, remedy, ms: null };
}

export function fail(hop: HopName, message: string, remedy: string): Found {
  return { hop, state: 'fail', message, remedy, ms: null };
}

export function skip(hop: HopName, message: string): Found {
  return { hop, state: 'skip', message, remedy: null, ms: null };
}

/** What the installation found out, as a hop. */
export function ofFinding(hop: HopName, { level, message, remedy }: Finding): Found {
  return { hop, state: level, message, remedy, ms: null };
}

const LABELS: Readonly<Record<HopState, string>> = {
  ok: '[OK]',
  warn: '[WARN]',
  fail: '[FAIL]',
  skip: '[SKIP]',
};
const NAME_WIDTH = 10;

/** One line a hop, and a second for what to do. */
export function hopLines({ hop, state, message, remedy }: Found): string[] {
  const first = `${LABELS[state]}`.padEnd(7) + `${hop}`.padEnd(NAME_WIDTH + 1) + message;
  return remedy === null ? [first] : [first, `${' '.repeat(NAME_WIDTH + 8)}${remedy}`];
}

/** Rounded for a person: nobody reads microseconds. */
export function inMs(ms: number): string {
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
