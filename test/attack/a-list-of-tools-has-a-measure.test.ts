/**
 * A list of all tools is two hundred kilobytes, and no call, so that nothing counted it: a hundred of them in one batch of five
 * kilobytes held the hub up for a second, as often as an untrusted token liked.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttackedHub, type Holder, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub();
});
afterAll(() => hub.close());

const LIST = { jsonrpc: '2.0', method: 'tools/list' };
/** More than three times what may be asked at once, so that a slow machine does not earn it back meanwhile. */
const MANY = 100;

function ask(by: Holder, body: unknown): Promise<Response> {
  const headers = { ...by.headers, 'content-type': 'application/json' };
  const accept = 'application/json, text/event-stream';
  return fetch(`${hub.url}/mcp?tools=all`, {
    method: 'POST',
    headers: { ...headers, accept } as Record<string, string>,
    body: JSON.stringify(body),
  });
}

test('[MC18] a batch of lists is refused, and one of each is answered', async () => {
  const batch = Array.from({ length: MANY }, (_, id) => ({ ...LIST, id }));
  const refused = await ask(hub.untrusted, batch);
  expect(refused.status).toBe(400);
  expect(JSON.stringify(await refused.json()).length).toBeLessThan(10_000);
  const each = ['tools/list', 'resources/list', 'resources/templates/list'];
  const answered = await ask(
    hub.untrusted,
    each.map((method, id) => ({ ...LIST, method, id })),
  );
  expect(await answered.json()).toHaveLength(each.length);
});

test('[MC18] one by one they have a measure of their own, each agent its own, and the owner’s none', async () => {
  const times = async (by: Holder) => {
    const statuses: number[] = [];
    for (let id = 0; id < MANY; id++) {
      const answer = await ask(by, { ...LIST, id });
      await answer.arrayBuffer();
      statuses.push(answer.status);
    }
    return statuses;
  };
  const asked = await times(hub.untrusted);
  expect(asked.slice(0, 20)).toEqual(Array(20).fill(200));
  expect(asked).toContain(429);
  const last = await ask(hub.untrusted, { ...LIST, id: 1 });
  expect(await last.json()).toMatchObject({ error: { data: { error_code: 'rate_limited' } } });
  // It may still do its work.
  await hub.untrusted.ask('group_list');
  expect((await ask(hub.agent, { ...LIST, id: 1 })).status).toBe(200);
  expect(new Set(await times(hub.owned))).toEqual(new Set([200]));
});
