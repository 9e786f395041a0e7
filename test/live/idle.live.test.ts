/**
 * An idle agent and its mail, over what `synod install` wrote: it is woken by the means its harness has,
 * reads, and the receipts say so. Nobody types anything, and nobody is woken by its own words.
 */
import { afterEach, describe, expect } from 'vitest';
import {
  BOB,
  hasRested,
  type Installed,
  type InstalledAgent,
  openInstalled,
  uses,
} from './installed.ts';
import { STARTS_MS, seen } from './patience.ts';
import { textShown } from './script.ts';
import { liveTest } from './stage.ts';
import { hasTerminal, openTerminal } from './terminal.ts';
import { claude } from './vendors/claude.ts';
import { openClaude } from './vendors/claude-open.ts';
import { codex } from './vendors/codex.ts';
import { openCodexTerminal } from './vendors/codex-open.ts';
import { opencode } from './vendors/opencode.ts';

const ROOM = 'team/plan';
const OWN = 'I work on the lexer.';
const NEWS = 'The build is red.';

let installed: Installed | undefined;
afterEach(async () => await installed?.close());

describe.each([
  {
    vendor: claude,
    means: 'claude-socket',
    skip: false,
    open: async (agent: InstalledAgent) => openClaude(agent, []).say('Begin.'),
  },
  {
    vendor: codex,
    means: 'codex-app-server',
    skip: !hasTerminal,
    open: (agent: InstalledAgent) => openCodexTerminal(agent, 'Begin.'),
  },
  {
    vendor: opencode,
    means: 'plugin',
    skip: !hasTerminal,
    open: async ({ scene, setup }: InstalledAgent) =>
      openTerminal(scene, 'opencode', ['--prompt', 'Begin.'], opencode.env(setup)),
  },
])('$vendor.name', ({ vendor, means, skip, open }) => {
  const needs = [vendor.name];

  liveTest(
    '[LV29] an idle session is woken by mail, and only by that',
    { needs, skip, timeoutMs: 2 * STARTS_MS },
    async () => {
      installed = await openInstalled([vendor]);
      const { tell, receipts, decided } = installed;
      const [agent] = installed.agents as readonly [InstalledAgent];
      agent.model.play([
        uses(agent, 'channels__subscribe', { pattern: ROOM }),
        uses(agent, 'channels__send', { channel: ROOM, body: { text: OWN } }),
        { say: 'waiting' },
        uses(agent, 'channels__recv', {}),
        { say: 'read it' },
      ]);
      await open(agent);
      await seen('the session is idle', () => hasRested(decided(), vendor.name, 1), STARTS_MS);
      const id = await tell(vendor.name, NEWS);
      const turn = await agent.model.waitForTurn((each) => textShown(each).includes(`| ${NEWS}`));
      expect(textShown(turn, 'user')).toContain(`--- message 1: from "${BOB}" (`);
      // Had its own words been a reason, they would stand there too.
      expect(textShown(turn)).not.toContain(`| ${OWN}`);
      await seen('it is idle again', () => hasRested(decided(), vendor.name, 2));
      expect(await receipts(id, BOB)).toEqual({ [vendor.name]: 'consumed' });
      const wakes = decided().filter(({ event }) => event === 'wake');
      expect(wakes.map(({ action }) => action)).toEqual(['handed-over', 'confirmed']);
      expect(wakes[0]?.reason).toMatch(new RegExp(`^${means} wake-\\S+, 1 messages$`));
      expect(textShown(agent.model.turns().at(-1) ?? turn, 'tool')).toContain(NEWS);
    },
  );
});

liveTest(
  '[LV36] on a channel an idle session is woken by its name only',
  { needs: ['claude'] },
  async () => {
    installed = await openInstalled([claude]);
    const { scene, decided } = installed;
    const [agent] = installed.agents as readonly [InstalledAgent];
    agent.model.play([uses(agent, 'channels__subscribe', { pattern: ROOM }), { say: 'waiting' }]);
    openClaude(agent, []).say('Begin.');
    await seen('the session is idle', () => hasRested(decided(), 'claude', 1));
    await scene.synod('send', ROOM, 'hi', '--as', BOB);
    await scene.synod('send', ROOM, '@claude, look', '--as', BOB);
    const turn = await agent.model.waitForTurn((each) => textShown(each).includes('@claude, look'));
    expect(textShown(turn)).toContain('| hi');
    const [wake] = decided().filter(({ event }) => event === 'wake');
    // Had the greeting been a reason, it would have come alone.
    expect(wake?.reason).toMatch(/^claude-socket wake-\S+, 2 messages$/);
  },
);
