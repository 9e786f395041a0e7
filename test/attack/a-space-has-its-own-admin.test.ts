/** An administrator's token is for one space: it opens, lists and makes no other. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub();
  await hub.owned.ask('spaces_create', { name: 'secret-project' });
});
afterAll(() => hub.close());

test.each([
  ['spaces_list', {}],
  ['spaces_create', { name: 'mine-too' }],
  ['spaces_remove', { name: 'secret-project' }],
])('[SP5] %s is refused to the administrator of one space', async (operation, input) => {
  const refused = await hub.spaceAdmin.refusal(operation, input);
  expect(refused).toMatchObject({
    error_code: 'identity_failure',
    detail: { reason: 'access.denied' },
  });
  expect(refused.message).toContain('the hub’s owner');
});

test('[SP5] the owner lists every space, and none that an administrator asked for', async () => {
  const { spaces } = await hub.owned.ask('spaces_list');
  expect(spaces.map(({ name }: { name: string }) => name)).toEqual(['default', 'secret-project']);
});
