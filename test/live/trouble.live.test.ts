/**
 * When Synod fails in the middle of a session: the hub stops, or a credential is good no longer. The
 * agent works on, its model is shown nothing of it, and its command line says nothing.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import { type Installed, type InstalledAgent, openInstalled, uses } from './installed.ts';
import type { Ran } from './scene.ts';
import { type ModelRequest, type Step, textShown } from './script.ts';
import { liveTest, vendors } from './stage.ts';

/** What a harness says of a hook, and what we say at one. */
const TROUBLE = /hook (error|additional|feedback|blocking|failed)|hook_context|blocked by|Synod:/i;

let installed: Installed | undefined;
afterEach(async () => await installed?.close());

/** What was said after the model was asked for one turn, up to when it was asked for another. */
function saidBetween({ model }: InstalledAgent, from: number, to: number): string {
  const turns = model.turns();
  const before = turns.at(from)?.said.length ?? 0;
  return (turns.at(to)?.said ?? [])
    .slice(before)
    .map(({ text }) => text)
    .join('\n');
}

function expectUnharmed({ code, stdout, stderr }: Ran, agent: InstalledAgent, from = 0, to = -1) {
  expect(code, stderr).toBe(0);
  expect(agent.scene.read('project/made.txt')).toBe('made');
  expect(saidBetween(agent, from, to)).not.toMatch(TROUBLE);
  // Codex warns of the flag that stands for a person's review.
  expect(`${stdout}\n${stderr}`.replace(/`--[\w-]+` is enabled[^"]*/g, '')).not.toMatch(/hook/i);
}

describe.each(vendors)('$name', (vendor) => {
  // Gemini keeps from servers every variable that is called a token, so ours never has it.
  const hidesTokens = vendor.name === 'gemini';

  liveTest('[LV32] the hub goes away: the agent works on, and nothing is said', async () => {
    installed = await openInstalled([vendor]);
    const { scene } = installed;
    const [agent] = installed.agents as readonly [InstalledAgent];
    let stopped: Ran | undefined;
    const ran = await agent.run('Make it.', [
      async (): Promise<Step> => {
        stopped = await scene.synod('down');
        return vendor.writeFile(join(scene.project, 'made.txt'), 'made');
      },
      vendor.lookAt(join(scene.project, 'made.txt')),
      uses(agent, 'channels__recv', {}),
      { say: 'made' },
    ]);
    expect(stopped).toMatchObject({ code: 0 });
    expectUnharmed(ran, agent, 0, 2);
    // Whoever uses a tool of ours has a hub again.
    const last = agent.model.turns().at(-1) as ModelRequest;
    expect(textShown(last, 'tool')).toContain('{"messages":[]}');
  });

  liveTest('[LV33] hooks with a credential that is good no longer are silent', async () => {
    // Without a socket the script shows the credential.
    installed = await openInstalled([vendor], ['--no-socket']);
    const { scene, tell, decided } = installed;
    const [agent] = installed.agents as readonly [InstalledAgent];
    const ran = await agent.run('Make it.', [
      async (): Promise<Step> => {
        await tell(vendor.name, 'Nobody will be shown this.');
        writeFileSync(join(scene.hub, 'credential'), 'synod_good_no_longer\n');
        return vendor.writeFile(join(scene.project, 'made.txt'), 'made');
      },
      { say: 'made' },
    ]);
    expect(decided().length).toBeGreaterThan(0);
    expectUnharmed(ran, agent);
  });

  liveTest(
    '[LV34] an agent whose token is revoked is told so by its tool, and works on',
    { skip: hidesTokens },
    async () => {
      installed = await openInstalled([vendor]);
      const { scene } = installed;
      const [agent] = installed.agents as readonly [InstalledAgent];
      const { stdout } = await scene.synod('token', 'create', 'ada', '--json');
      const { token, token_id: id } = JSON.parse(stdout);
      const script = [
        uses(agent, 'channels__recv', {}),
        async (): Promise<Step> => {
          await scene.synod('token', 'revoke', id);
          return uses(agent, 'channels__recv', {});
        },
        vendor.writeFile(join(scene.project, 'made.txt'), 'made'),
        { say: 'made' },
      ];
      const ran = await agent.run('Make it.', script, { SYNOD_TOKEN: token, SYNOD_AGENT: 'ada' });
      const said = agent.model.turns().map((turn) => textShown(turn, 'tool'));
      const first = said.findIndex((text) => text.includes('{"messages":'));
      expect(said[first]).not.toContain('error_code');
      expect(said[first + 1]).toContain('error_code');
      expectUnharmed(ran, agent, first);
    },
  );
});
