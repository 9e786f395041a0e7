/**
 * Two coding agents in one repository, and neither touches what the other holds. Run it in a clone
 * with `node_modules/.bin/node examples/work/two-coding-agents.ts`; it needs no hub, tells what
 * happens, and fails if it happens otherwise.
 */
import { check, openScene, refusalOf, say } from './scene.ts';

await using scene = await openScene();
const [api, tests] = [await scene.agent('api-dev'), await scene.agent('test-dev')];
// A label serves where there is no repository; in yours, name its folder or let the CLI do it.
const worktree = 'shop';
say('api-dev and test-dev work in one repository.');

await api.call('claims.take', { task_id: 'api', worktree, paths: ['src/app/**'] });
say('api-dev claims src/app/**.');

const sameFile = { task_id: 'quick-fix', worktree, paths: ['src/app/api.ts'] };
const refused = await refusalOf(tests.call('claims.take', sameFile));
check(refused.code === 'claim.overlap', 'two agents cannot hold one file');
say(`test-dev asks for src/app/api.ts and is refused: ${refused.message.split(';')[0]}.`);

await tests.call('claims.take', { task_id: 'tests', worktree, paths: ['test/**'] });
say('test-dev claims test/** instead: nothing there is held, so both go on at once.');

const wait = tests.call('claims.take', { ...sameFile, wait_ms: 20_000 });
await api.call('agents.tell', { to: 'test-dev', body: { text: 'the API is ready for its tests' } });
const { messages } = await tests.call('channels.recv', { wait_ms: 20_000 });
const [heard] = messages;
check(heard?.sender === 'api-dev', 'a message to one agent reaches it');
say(`test-dev hears from api-dev: ${heard?.body.text}.`);

await api.call('claims.release', { task_id: 'api' });
const { claim } = await wait;
check(claim.owner === 'test-dev', 'who waited gets it');
say(
  'api-dev releases src/app/**, and test-dev, which waited, has src/app/api.ts in the same moment.',
);
