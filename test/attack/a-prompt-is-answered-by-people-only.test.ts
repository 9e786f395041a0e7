/**
 * A permission prompt at a gate is answered by people only: posting to the hook door with whatever token,
 * name or header decides nothing, and neither does any event of a session.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../e2e/deadline.ts';
import { fetchReply, type Json, type Reply } from '../e2e/running-hub.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

const PERSON = { name: 'mia', passphrase: 'correct horse battery' };
let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub();
  await hub.owned.ask('people_add', PERSON);
});
afterAll(() => hub.close());

const prompt = (session: string, more: object = {}): object => ({
  ...{ hook_event_name: 'PermissionRequest', session_id: session, tool_name: 'Bash' },
  ...{ tool_input: { command: 'rm -rf /' }, ...more },
});

function post(
  headers: Readonly<Record<string, string | undefined>>,
  body: object,
  path = '/gate',
): Promise<Reply> {
  return fetchReply(`${hub.url}/v1/hooks/claude${path}`, {
    method: 'POST',
    headers: { ...headers, 'x-synod-wait': '3600' },
    body: JSON.stringify(body),
  });
}

const pending = async (): Promise<Json[]> =>
  (await hub.admin('gates_list', { state: 'pending' })).gates;

test('[PG7] no token gets to ask there at all, and no web page', async () => {
  for (const { name, headers } of [hub.agent, hub.other, hub.untrusted, hub.observer, hub.human]) {
    expect([name, (await post(headers, prompt('s0'))).status]).toEqual([name, 403]);
  }
  const owner = { authorization: `Bearer ${hub.owner}` };
  expect((await post({ ...owner, origin: hub.url }, prompt('s0'))).status).toBe(403);
  expect(await pending()).toEqual([]);
});

test('[PG7] with the owner’s credential a gate is asked, and nothing that can be posted opens it', async () => {
  const owner = { authorization: `Bearer ${hub.owner}` };
  const mine = { ...owner, 'x-synod-agent': 'ada' };
  const answer = post(mine, prompt('s1'));
  const [gate] = await until('it is asked', pending, ({ length }) => length === 1);
  const { gate_id } = gate;
  // Whatever name it takes: the credential alone is no person, nor is a proof that nobody gave.
  for (const name of ['ada', 'mia', 'root', 'owner']) {
    const as = { ...owner, 'x-sox-agent-id': name, 'x-synod-person': 'mia', 'x-synod-owner': '1' };
    for (const proof of [undefined, 'p'.repeat(32)]) {
      const yes = { gate_id, decision: 'approve', proof };
      expect([name, (await hub.post('gates_decide', yes, as)).status]).toEqual([name, 403]);
    }
  }
  // Nor does a hook: what says that it was allowed, that it ran, or asks the same again.
  const decision = { hookSpecificOutput: { decision: { behavior: 'allow' } }, decision: 'approve' };
  const events = [
    prompt('s1', { ...decision, tool_input: { command: 'ls' } }),
    { ...decision, hook_event_name: 'PermissionReply', session_id: 's1' },
    { ...decision, hook_event_name: 'PreToolUse', session_id: 's1', tool_name: 'Bash' },
  ];
  for (const event of events) expect((await post(mine, event, '')).status).toBe(204);
  expect((await pending()).map((one) => one.gate_id)).toEqual([gate_id]);
  // The session under another name takes back nothing of it; its own end does, and that is no yes.
  await post(
    { ...owner, 'x-synod-agent': 'eve' },
    { ...prompt('s2'), hook_event_name: 'SessionEnd' },
    '',
  );
  expect(await pending()).toHaveLength(1);
  await post(mine, { hook_event_name: 'SessionEnd', session_id: 's1' }, '');
  expect(await answer).toMatchObject({ status: 204, text: '' });
  expect(await hub.admin('gates_get', { gate_id })).toMatchObject({ state: 'withdrawn' });
});

test('[PG7] one that waits for an hour holds up no stop of the hub', async () => {
  const own = await openAttackedHub();
  const headers = { authorization: `Bearer ${own.owner}`, 'x-synod-wait': '3600' };
  const body = JSON.stringify(prompt('s9'));
  const answer = fetchReply(`${own.url}/v1/hooks/claude/gate`, { method: 'POST', headers, body });
  const asked = async (): Promise<Json[]> => (await own.admin('gates_list', {})).gates;
  await until('it is asked', asked, ({ length }) => length === 1);
  const [reply] = await Promise.all([answer.catch(() => null), own.close()]);
  expect(reply?.status ?? 204).toBe(204);
});
