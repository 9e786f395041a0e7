/** What the command line says of the Synapse door, with real processes. */
import { expect, test } from 'vitest';
import { connectSynapse } from '../conformance/synapse/synapse-client.ts';
import { openHome } from './cli-run.ts';

test('[CL16] the first screen names the door, and the guide’s command for other machines lets them in by that name', async () => {
  const home = openHome();
  // The guide, to the letter but for the ports.
  const args = ['serve', '--host', '0.0.0.0', '--allow-host', 'hub.example.org', '--synapse=0'];
  const token = 'a secret of eight or more';
  const hub = home.start([...args, '--port=0'], { env: { SYNAPSE_TOKEN: token } });
  const [, port = ''] = await hub.printed(
    /Synapse clients come to ws:\/\/0\.0\.0\.0:(\d+) with the token you gave/,
  );
  const url = `ws://127.0.0.1:${port}`;
  const named = await connectSynapse(url, 'sylvia', {
    headers: { host: 'hub.example.org' },
    token,
  });
  await named.next('welcome');
  await named.close();
  const other = connectSynapse(url, 'eve', { headers: { host: 'other.example.org' }, token });
  await expect(other).rejects.toThrow('HTTP 421');
  await home.close();
});

test('[CL16] up says that a hub that runs has no door, status where it is, and a taken port is blamed on its flag', async () => {
  const home = openHome();
  await home.json(['up', '--port', '0']);
  const without = await home.run(['up', '--synapse', '0']);
  expect(without.code).toBe(0);
  expect(without.stdout).toContain('it has no door for Synapse clients: stop it with "synod down"');
  expect(without.stderr).toContain('these say nothing to it: --synapse;');
  expect(await home.json(['status'])).toMatchObject({ synapse: null });
  await home.run(['down']);
  const { synapse } = await home.json(['up', '--port', '0', '--synapse', '0']);
  expect(synapse).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
  expect((await home.run(['status'])).stdout).toMatch(new RegExp(`synapse +${synapse}`));
  const second = openHome();
  const { port } = new URL(String(synapse));
  const taken = await second.run(['serve', '--port', '0', '--synapse', port]);
  expect(taken).toMatchObject({ code: 71, stdout: '' });
  expect(taken.stderr).toContain(`hub.port-taken: 127.0.0.1:${port} is in use`);
  expect(taken.stderr).toContain('choose another with --synapse');
  await second.close();
  await home.close();
});

test('[SV8] a target of very many names, and a worktree of slashes, are answered at once, and the next who asks too', async () => {
  const home = openHome();
  const { synapse } = await home.json([
    'up',
    '--port',
    '0',
    '--synapse',
    '0',
    '--synapse-token',
    'none',
  ]);
  const eve = await connectSynapse(String(synapse), 'eve');
  await eve.next('welcome');
  const say = (frame: object) => eve.send({ sender: 'eve', target: 'all', timestamp: 1, ...frame });
  say({ type: 'chat', target: '?*x,'.repeat(20_000), payload: 'hello' });
  expect(await eve.next('error')).toMatchObject({
    payload: expect.stringContaining('at most 256'),
  });
  say({ type: 'chat', target: '*'.repeat(100_000), payload: 'hello' });
  expect(await eve.next('error')).toMatchObject({
    payload: expect.stringContaining('256 characters'),
  });
  say({ type: 'claim', task_id: 't', paths: ['a'], worktree: `${'/'.repeat(500_000)}x` });
  await eve.next('claim_granted');
  await eve.close();
  await home.close();
});
