/** Codex and the hooks nobody has reviewed: skipped without a word, run once a person has agreed. */
import { afterEach, expect } from 'vitest';
import { liveTest, openStage, type Stage } from './stage.ts';
import { runVendor } from './vendor.ts';
import { codex } from './vendors/codex.ts';
import { openAppServer, readHookStates, trustAsPerson } from './vendors/codex-open.ts';

let stage: Stage | undefined;
afterEach(async () => await stage?.close());

const needs = ['codex'] as const;
/** As a person runs it: without the flag that skips the review. */
const PLAIN = ['exec', '--json', 'hello'];

liveTest(
  '[LV11] Codex runs no hook that was not reviewed, and says nothing of it',
  { needs },
  async () => {
    stage = await openStage(codex);
    const ran = await runVendor(codex, stage.scene, stage.setup, PLAIN);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expect(`${ran.stdout}${ran.stderr}`).not.toMatch(/hook/i);
    expect(stage.probe.records('hook')).toEqual([]);
    const states = await readHookStates(await openAppServer(stage), stage.scene);
    expect(states).toHaveLength(Object.keys(codex.events).length);
    expect(new Set(states.map(({ trust }) => trust))).toEqual(new Set(['untrusted']));
  },
);

liveTest(
  '[LV12] once reviewed they run, until one byte of the command changes',
  { needs },
  async () => {
    stage = await openStage(codex);
    const { scene, setup, probe } = stage;
    trustAsPerson(scene, await readHookStates(await openAppServer(stage), scene));
    await runVendor(codex, scene, setup, PLAIN);
    const fired = probe.records('hook').length;
    expect(fired).toBeGreaterThan(3);

    const hooks = scene.read('home/.codex/hooks.json');
    scene.write('home/.codex/hooks.json', hooks.replaceAll('exec ', 'exec  '));
    await runVendor(codex, scene, setup, PLAIN);
    expect(probe.records('hook')).toHaveLength(fired);
    const states = await readHookStates(await openAppServer(stage), scene);
    expect(new Set(states.map(({ trust }) => trust))).toEqual(new Set(['modified']));

    // The same bytes again need no second review.
    scene.write('home/.codex/hooks.json', hooks);
    await runVendor(codex, scene, setup, PLAIN);
    expect(probe.records('hook')).toHaveLength(2 * fired);
  },
);
