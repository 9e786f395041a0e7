/**
 * What the runners of all vendors have in common: what they are made with, and how they are checked
 * before an agent may be configured with one.
 */

import type { LineProcess } from '../../../bus/process/line-process.ts';
import { type Refusal, refuse } from '../../../core/law/decider.ts';
import { createPermissions, type Permissions } from '../../../vendor/permission.ts';
import type { Ask, Probe, Probed } from '../../../vendor/probe.ts';
import { checkPolicy } from '../guarded-command.ts';
import type { LiveRecord } from '../live-record.ts';
import type { Runner, TurnJob } from '../runner.ts';
import { checkOptions, numberOption } from './options.ts';
import { billed, checkSignIn, signInOf, type VendorSpec } from './sign-in.ts';

export interface VendorParts {
  /** The environment of the hub: where programs are looked for. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly record?: LiveRecord | null;
  readonly now?: () => number;
  readonly graceMs?: number;
}

export interface VendorRunner<S extends VendorSpec> extends Runner<S> {
  /** For `synod doctor`. */
  describe(spec: S): Promise<VendorFacts>;
}

export interface VendorFacts {
  readonly program: string;
  readonly version: string | null;
  /** Why it cannot be used; null when it can. */
  readonly trouble: string | null;
  /** Which sign-in a turn would bill. */
  readonly bills: string;
}

export function commandOf(spec: VendorSpec): readonly string[] {
  return spec.command ?? [spec.kind];
}

export async function checkVendor(spec: VendorSpec, probe: Probe): Promise<Refusal | null> {
  const refused = checkOptions(spec) ?? (await checkSignIn(spec)) ?? (await checkPolicy(spec));
  return refused ?? troubleOf(spec, await probe.look(commandOf(spec), spec.cwd ?? null));
}

function troubleOf(spec: VendorSpec, probed: Probed | null): Refusal | null {
  const [program = ''] = commandOf(spec);
  const field = 'command';
  if (probed === null) {
    const message = `there is no program ${JSON.stringify(program)} to run; install it, or give its full path in command`;
    return refuse('runner.unusable', message, { field, program });
  }
  const { lack, version } = probed;
  if (lack === null) return null;
  const message = `${program} ${version ?? '(of unknown version)'} ${lack}; upgrade it`;
  return refuse('runner.unusable', message, { field, program, version });
}

/** `account` asks the program whom it is signed in as, without a key in sight. */
export async function describeVendor(
  spec: VendorSpec,
  probe: Probe,
  account: (ask: Ask) => Promise<string | null> = async () => null,
): Promise<VendorFacts> {
  const refused = await checkVendor(spec, probe);
  const [command, cwd] = [commandOf(spec), spec.cwd ?? null];
  const probed = await probe.look(command, cwd);
  const isAsked = probed !== null && signInOf(spec) === 'subscription';
  const ask = isAsked ? await probe.ask(command, cwd) : null;
  return {
    program: command[0] ?? '',
    version: probed?.version ?? null,
    trouble: refused?.message ?? null,
    bills: billed(spec, ask === null ? null : await account(ask)),
  };
}

/** Permissions of a turn: asked at the hub, told in its transcript. */
export function permissionsOf({
  spec,
  askGate,
  transcript,
  signal,
}: Pick<TurnJob<VendorSpec>, 'spec' | 'askGate' | 'transcript' | 'signal'>): Permissions {
  const note = (text: string): void => transcript.append(text, 'note');
  return createPermissions({ askGate, signal, note, deadline: numberOption(spec, 'ask_seconds') });
}

/** Its turn is over: it is given a moment to leave by itself. */
const LEAVE_MS = 5_000;

export function leave(program: LineProcess): void {
  program.endInput();
  const timer = setTimeout(() => program.stop('it did not leave after its turn'), LEAVE_MS);
  void program.ended.then(() => clearTimeout(timer));
}
