/** A token that asks without end is slowed down, though nobody configured it; the owner's agents are not. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UNTRUSTED_CALLS_PER_SECOND } from '../../src/server/desk/rate-limit.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub();
});
afterAll(() => hub.close());

/** Far more than the burst, so that a slow machine does not earn it back meanwhile. */
const CALLS = UNTRUSTED_CALLS_PER_SECOND * 12;

async function reasons(by: { socket: AttackedHub['untrusted']['socket'] }): Promise<Set<unknown>> {
  const socket = await by.socket();
  const asked = Array.from({ length: CALLS }, () => socket.call('group.list', {}));
  const answers = await Promise.all(asked);
  await socket.close();
  return new Set(answers.map(({ error }) => error?.data?.error_code ?? 'answered'));
}

test('[O3] an untrusted token is told to come back later, and nobody else is', async () => {
  expect(await reasons(hub.untrusted)).toEqual(new Set(['answered', 'rate_limited']));
  await hub.agent.ask('group_list');
  expect(await reasons(hub.owned)).toEqual(new Set(['answered']));
});
