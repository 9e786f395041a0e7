/**
 * One vendor's command line, as the tests need it: how its files are written, how it is run to the
 * end of one prompt, and what it calls the things all of them have. It runs in a scene, against a
 * model of ours, with a key that opens nothing.
 */
import { type CliName, cliPath } from './clis.ts';
import type { Probe, Registration } from './probe.ts';
import type { Environment, Ran, Scene } from './scene.ts';
import type { CallStep, Step } from './script.ts';

export const DUMMY_KEY = 'sk-dummy-opens-nothing';

export interface Setup {
  /** The URL of the model server. */
  readonly model: string;
  readonly bridge?: Registration;
  /** With it, a hook for every event in `Vendor.events`. */
  readonly probe?: Probe;
}

/** The vendor's names for the moments every harness has. */
export interface HookEvents {
  readonly start: string;
  readonly prompt: string;
  readonly before: string;
  readonly after: string;
  readonly stop: string;
  readonly end: string;
}

export interface Vendor {
  readonly name: CliName;
  readonly events: HookEvents;
  /** Writes the vendor's own files, for the user of the scene. */
  readonly configure: (scene: Scene, setup: Setup) => void;
  readonly env: (setup: Setup) => Environment;
  readonly headless: (prompt: string) => readonly string[];
  /** What our tool is called by the model. */
  readonly toolName: (tool: string) => string;
  /** What the model must do first, before it can call one of our tools. */
  readonly beforeTool: (tool: string) => readonly Step[];
  /** The step in which the model writes a file. */
  readonly writeFile: (path: string, text: string) => Step;
  /** The step in which the model looks at a file: a tool that changes nothing and asks nobody. */
  readonly lookAt: (path: string) => CallStep;
  readonly answers: HookAnswers;
}

/** What a hook prints, in this vendor's words. */
export interface HookAnswers {
  readonly inject: (event: string, text: string) => object;
  readonly deny: (reason: string) => object;
  readonly block: (reason: string) => object;
}

export async function runVendor(
  vendor: Vendor,
  scene: Scene,
  setup: Setup,
  args: readonly string[],
): Promise<Ran> {
  return await scene.run(cliPath(vendor.name), args, { env: vendor.env(setup) });
}

/** The same shape in Claude Code and Codex. */
export const claudeAnswers: HookAnswers = {
  inject: (event, text) => ({
    hookSpecificOutput: { hookEventName: event, additionalContext: text },
  }),
  deny: (reason) => ({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  }),
  block: (reason) => ({ decision: 'block', reason }),
};

/** `{ EVENT: [{ hooks: [{ type, command, timeout }] }] }`, as three of the four write it. */
export function hookTable(vendor: HookEvents, command: string, timeout: number): object {
  const hook = { type: 'command', name: 'synod', command, timeout };
  return Object.fromEntries(Object.values(vendor).map((event) => [event, [{ hooks: [hook] }]]));
}
