/**
 * Programs of chance, stopped at moments of chance: whatever they were made of, what the code was told before is
 * told to it again in the same order, and goes on from there.
 */
import { expect, test } from 'vitest';
import { type WorkflowContext, workflow } from '../../src/flow/index.ts';
import { type Chance, createChance } from '../../src/testing/chance.ts';
import { openKit } from './kit.ts';

type Program =
  | { readonly kind: 'step' | 'sleep' | 'fails'; readonly name: string; readonly turns: number }
  | { readonly kind: 'all' | 'race' | 'seq'; readonly parts: readonly Program[] };

function draw(chance: Chance, depth: number, path = 'p'): Program {
  if (depth === 0 || chance.int(0, 3) === 0) {
    const kind = chance.pick(['step', 'step', 'step', 'sleep', 'fails'] as const);
    return { kind, name: path, turns: chance.int(0, 6) };
  }
  const parts = Array.from({ length: chance.int(2, 4) }, (_, i) =>
    draw(chance, depth - 1, `${path}.${i}`),
  );
  return { kind: chance.pick(['all', 'race', 'seq'] as const), parts };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What the code is told goes to `tell`, in the order in which it is told. */
async function run(
  ctx: WorkflowContext,
  program: Program,
  tell: (text: string) => void,
): Promise<string> {
  switch (program.kind) {
    case 'step':
    case 'fails': {
      const { kind, name, turns } = program;
      const work = async (): Promise<string> => {
        for (let i = 0; i < turns; i++) await turn();
        if (kind === 'fails') throw new Error('no');
        return name;
      };
      const said = await ctx.step(name, work).catch(() => `${name}!`);
      tell(said);
      return said;
    }
    case 'sleep':
      await ctx.sleep(program.name, program.turns * 300);
      tell(program.name);
      return program.name;
    case 'seq': {
      let all = '';
      for (const part of program.parts) all += await run(ctx, part, tell);
      return all;
    }
    case 'all':
      return (await Promise.all(program.parts.map((part) => run(ctx, part, tell)))).join();
    case 'race': {
      const won = await Promise.race(program.parts.map((part) => run(ctx, part, tell)));
      tell(`won ${won}`);
      return won;
    }
  }
}

test('[FW2] what the code was told before it is told again in the same order, wherever it was stopped', async () => {
  let restarts = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const chance = createChance(seed);
    const program = draw(chance, 3);
    const { open, time } = await openKit();
    const tellings: string[][] = [];
    const chaos = workflow('chaos', async (ctx) => {
      const told: string[] = [];
      tellings.push(told);
      await ctx.step('first', () => null);
      let isOver = false;
      // What is left of a race when the run is over is told that it is over.
      const result = await run(ctx, program, (text) => void (isOver || told.push(text)));
      isOver = true;
      await ctx.step('last', () => null);
      return result;
    });
    let flow = open([chaos]);
    const started = await flow.start(chaos, null, { id: `seed-${seed}` });
    for (let stops = chance.int(1, 4); stops > 0; stops--) {
      for (let turns = chance.int(0, 60); turns > 0; turns--) await turn();
      if (chance.int(0, 1) === 0) await time.pass(chance.int(0, 900));
      await flow.close();
      flow = open([chaos]);
      restarts++;
    }
    await time.pass(60_000);
    const state = await started.state();
    expect([seed, state.state, state.stuck?.difference]).toEqual([seed, 'completed', undefined]);
    for (let i = 1; i < tellings.length; i++) {
      const [before = [], after = []] = [tellings[i - 1], tellings[i]];
      const common = Math.min(before.length, after.length);
      expect([seed, ...after.slice(0, common)]).toEqual([seed, ...before.slice(0, common)]);
    }
  }
  expect(restarts).toBeGreaterThan(60);
});
