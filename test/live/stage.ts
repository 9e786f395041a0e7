/** A vendor on its scene, with a model that plays a script, a hub that runs and a probe between. */
import { test } from 'vitest';
import { type CliName, chosenClis } from './clis.ts';
import { type ModelServer, openModelServer } from './model-server.ts';
import { openProbe, type Probe } from './probe.ts';
import { openScene, type Ran, type Scene } from './scene.ts';
import type { Script } from './script.ts';
import { runVendor, type Setup, type Vendor } from './vendor.ts';
import { claude } from './vendors/claude.ts';
import { codex } from './vendors/codex.ts';
import { gemini } from './vendors/gemini.ts';
import { opencode } from './vendors/opencode.ts';

/** Those this run is about. */
export const vendors: readonly Vendor[] = [claude, codex, gemini, opencode].filter(({ name }) =>
  chosenClis().includes(name),
);
export const AGENT = 'ada';
export const PEER = 'bob';
export const CHANNEL = 'room';

interface LiveOptions {
  readonly skip?: boolean;
  /** Vendors it is about; it is skipped where one of them was not chosen. */
  readonly needs?: readonly CliName[];
  /** Where the usual is too short. */
  readonly timeoutMs?: number;
}

type Body = () => Promise<void>;

/** A test that starts real command lines: only under the settings of this folder. */
export function liveTest(title: string, ...rest: [Body] | [LiveOptions, Body]): void {
  const [options, body] = rest.length === 2 ? rest : [{}, rest[0]];
  const { skip = false, needs = [], timeoutMs } = options;
  const isAway = needs.some((name) => !chosenClis().includes(name));
  const isSkipped = skip || isAway || process.env.SYNOD_LIVE !== '1';
  test(title, { skip: isSkipped, ...(timeoutMs !== undefined && { timeout: timeoutMs }) }, body);
}

export interface Stage {
  readonly scene: Scene;
  readonly model: ModelServer;
  readonly probe: Probe;
  readonly setup: Setup;
  /** Runs the vendor to the end of one prompt. */
  readonly ask: (prompt: string, script: Script) => Promise<Ran>;
  readonly close: () => Promise<void>;
}

/** With `hasHub`, our bridge is registered and a hub runs, where PEER listens to CHANNEL. */
export async function openStage(vendor: Vendor, { hasHub = false } = {}): Promise<Stage> {
  const scene = openScene();
  const model = await openModelServer();
  const probe = openProbe(scene, AGENT);
  scene.atEnd(() => model.close());
  if (hasHub) {
    await scene.synod('up', '--port', '0');
    await scene.synod('subscribe', CHANNEL, '--as', PEER);
  }
  const setup: Setup = { model: model.url, probe, ...(hasHub && { bridge: probe.bridge }) };
  vendor.configure(scene, setup);
  return {
    scene,
    model,
    probe,
    setup,
    ask(prompt, script) {
      model.play(script);
      return runVendor(vendor, scene, setup, vendor.headless(prompt));
    },
    close: () => scene.close(),
  };
}
