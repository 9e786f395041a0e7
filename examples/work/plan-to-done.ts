/**
 * A plan from its first task to its last: what waits, what is ready, who holds it, and what the next
 * holder finds. Run it in a clone with `node_modules/.bin/node examples/work/plan-to-done.ts`; it needs
 * no hub, tells what happens, and fails if it happens otherwise.
 */
import type { Client } from '../../src/client/index.ts';
import { check, openScene, refusalOf, say } from './scene.ts';

await using scene = await openScene();
const [planner, worker] = [await scene.agent('planner'), await scene.agent('worker')];

async function readyTasks(agent: Client): Promise<string> {
  const { tasks } = await agent.call('plan.board', { ready: true });
  return tasks.map(({ task_id }) => task_id).join(', ');
}

await planner.call('plan.declare', { task_id: 'build', title: 'Build it' });
const needs = { task_id: 'test', title: 'Test it', depends_on: ['build'] };
await planner.call('plan.declare', needs);
check((await readyTasks(worker)) === 'build', 'a task waits for what it needs');
say('planner declares build, and test, which needs it. Ready: build.');

await worker.call('claims.take', { task_id: 'build', worktree: 'shop', paths: ['src'] });
const other = { task_id: 'docs', worktree: 'shop', paths: ['src/readme.md'] };
const refused = await refusalOf(planner.call('claims.take', other));
check(refused.code === 'claim.overlap', 'a folder covers what is in it');
say('worker claims build with src/; planner asks for a file in it and is refused.');

await worker.call('claims.update', { task_id: 'build', status: 'done' });
await worker.call('claims.release', { task_id: 'build', evidence: 'commit 1234' });
check((await readyTasks(worker)) === 'test', 'what is done frees what needed it');
say('worker is done with build. Ready: test.');

await worker.call('claims.take', { task_id: 'test' });
await worker.call('claims.checkpoint', { task_id: 'test', checkpoint: 'half of them are green' });
await worker.call('claims.release', { task_id: 'test' });
const { claim } = await planner.call('claims.take', { task_id: 'test' });
check(claim.checkpoint === 'half of them are green', 'a checkpoint outlives its holder');
say(`worker gives test back half way; planner takes it and finds: ${claim.checkpoint}.`);

await planner.call('claims.update', { task_id: 'test', status: 'done' });
check((await readyTasks(planner)) === '', 'nothing is left');
say('planner is done with test, and the plan with it.');
