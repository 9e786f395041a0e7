/**
 * The end of a turn, over what `synod install` wrote: while mail is owed the agent is held and told
 * why; once it has read it may go; and who never reads is let go all the same, a bounded time later.
 */
import { afterEach, describe, expect } from 'vitest';
import { STOP_BLOCKS_MAX } from '../../src/wire/policy.ts';
import { BOB, type Installed, type InstalledAgent, openInstalled, uses } from './installed.ts';
import { type ModelRequest, textShown } from './script.ts';
import { liveTest, vendors } from './stage.ts';

const HELD = 'this agent is not finished yet';
const NEWS = 'The port is 8080.';

let installed: Installed | undefined;
afterEach(async () => await installed?.close());

/** What was decided at the ends of turns. Claude Code shows one block in two places. */
function stops({ decided }: Installed): readonly string[] {
  return decided().flatMap(({ rule }) => (rule?.startsWith('stop-') ? [rule] : []));
}

// `opencode run` leaves at the first idle moment: nothing can hold it there [LV7].
const held = vendors.filter(({ name }) => name !== 'opencode');

describe.each(held)('$name', (vendor) => {
  liveTest('[LV26] a stop is blocked while mail is owed, and free after a recv', async () => {
    installed = await openInstalled([vendor]);
    const { tell, receipts } = installed;
    const [agent] = installed.agents as readonly [InstalledAgent];
    let id = '';
    const ran = await agent.run('Work.', [
      async () => {
        id = await tell(vendor.name, NEWS);
        return { say: 'finished too early' };
      },
      uses(agent, 'channels__recv', {}),
      { say: 'really finished' },
    ]);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    const turns = agent.model.turns();
    const [begun = true, ...then] = turns.map((turn) => textShown(turn).includes(HELD));
    expect(begun).toBe(false);
    expect(new Set(then)).toEqual(new Set([true]));
    expect(textShown(turns[1] as ModelRequest)).toContain(vendor.toolName('channels__recv'));
    expect(textShown(turns.at(-1) as ModelRequest, 'tool')).toContain(NEWS);
    expect(await receipts(id, BOB)).toEqual({ [vendor.name]: 'consumed' });
    expect(stops(installed)).toEqual(['stop-blocked']);
  });

  liveTest('[LV27] who never reads is held a bounded number of times; its mail waits', async () => {
    installed = await openInstalled([vendor]);
    const { tell, receipts } = installed;
    const [agent] = installed.agents as readonly [InstalledAgent];
    let id = '';
    const ran = await agent.run('Work.', [
      async () => {
        id = await tell(vendor.name, NEWS);
        return { say: 'finished' };
      },
    ]);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    // Claude Code 2.1.327 asks its model once or twice more than it asks us, with our last words; 2.1.197 did not.
    const { length } = agent.model.turns();
    expect(length).toBeGreaterThanOrEqual(1 + STOP_BLOCKS_MAX);
    expect(length).toBeLessThanOrEqual(2 * (1 + STOP_BLOCKS_MAX));
    const blocks = Array<string>(STOP_BLOCKS_MAX).fill('stop-blocked');
    expect(stops(installed)).toEqual([...blocks, 'stop-given-up']);
    expect((await receipts(id, BOB))[vendor.name]).not.toBe('consumed');
  });
});
