/** One policy made ready to be asked: its roots looked up, its programs found, its rules of the network read. */
import { type NetRule, parseNetRule } from './network.ts';
import { type Roots, readRoots } from './paths.ts';
import type { Policy } from './policy.ts';
import { type ProgramRule, readProgramRules, type Where } from './programs.ts';

export interface Layer {
  /** Looked up from the moment that the guard is made. */
  readonly roots: Promise<Roots>;
  readonly programs: Promise<readonly ProgramRule[]>;
  readonly net: readonly NetRule[];
  readonly env: readonly string[];
}

export function createLayer(policy: Required<Policy>, where: Where): Layer {
  const net = policy.connect.map(parseNetRule);
  const roots = readRoots(policy, where.cwd);
  const programs = readProgramRules(policy.execute, where);
  // Whoever asks is told; that nobody has asked yet is no failure of the process.
  roots.catch(() => {});
  programs.catch(() => {});
  return { roots, programs, net, env: policy.env };
}
