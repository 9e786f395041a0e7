/** Waiting for a person over MCP, in both eras, at a real hub. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../test/e2e/deadline.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';
import { listChannels } from '../operations/channels.ts';
import { gateAsk, gateGet } from '../operations/gates.ts';
import { nextRound, roundOf } from './gate-rounds.ts';

const PERSON = { name: 'mia', passphrase: 'correct horse battery' };

test('[GT13] rounds share what was asked for, and a forged state asks for no more than that', () => {
  const first = roundOf(gateAsk, { action: 'a', subject: 's', wait_ms: 80_000 }, undefined);
  expect(first).toMatchObject({ input: { action: 'a', wait_ms: 10_000 }, leftMs: 70_000 });
  const pending = { ok: { gate_id: 'g1', state: 'pending' } };
  const asked = nextRound(first, pending);
  expect(asked).toMatchObject({ resultType: 'input_required', requestState: 'g1 70000 10000' });
  const second = roundOf(gateAsk, { action: 'a', subject: 's', wait_ms: 80_000 }, 'g1 70000 10000');
  expect(second).toMatchObject({ operation: gateGet, input: { gate_id: 'g1', wait_ms: 10_000 } });
  expect(nextRound({ ...second, leftMs: 0 }, pending)).toBeNull();
  expect(nextRound(second, { ok: { gate_id: 'g1', state: 'denied' } })).toBeNull();
  const forged = roundOf(gateGet, { gate_id: 'g1', wait_ms: 1_000 }, 'g9 999999 999999');
  expect((forged.input as Json).wait_ms).toBeLessThanOrEqual(300_000);
  for (const state of [undefined, 7, '; drop', 'g1 -1 1']) {
    expect(roundOf(gateGet, { gate_id: 'g1', wait_ms: 800 }, state).input).toEqual({
      gate_id: 'g1',
      wait_ms: 250,
    });
  }
  expect(roundOf(listChannels, { wait_ms: 5 }, 'g1 1 1').leftMs).toBeNull();
});

describe.each([
  ['legacy', 'legacy' as const],
  ['modern', { pin: '2026-07-28' } as const],
])('a client of the %s era', (era, mode) => {
  let hub: RunningHub;
  let client: Client;
  let results: Json[];
  beforeAll(async () => {
    hub = await openRunningHub();
    await hub.admin('people_add', PERSON);
    results = [];
    const spy: typeof fetch = async (...given) => {
      const response = await fetch(...given);
      if (String((given[1]?.body as string | undefined) ?? '').includes('tools/call')) {
        results.push(await response.clone().text());
      }
      return response;
    };
    client = new Client({ name: 'asker', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(
      new StreamableHTTPClientTransport(new URL('/mcp', hub.url), {
        requestInit: { headers: hub.as('ada') },
        fetch: spy,
      }),
    );
  });
  afterAll(async () => {
    await client.close();
    await hub.close();
  });

  test('[GT13] hears the decision of a person it waited for', async () => {
    const wish = { action: 'push', subject: 'main', wait_ms: 20_000 };
    const told = client.callTool({ name: 'gates__ask', arguments: wish });
    const { proof } = await hub.admin('people_prove', PERSON);
    const [gate] = await until(
      'it is asked',
      async () => (await hub.admin('gates_list')).gates,
      (gates) => gates.length > 0,
    );
    const no = { gate_id: gate.gate_id, decision: 'deny', reason: 'not today', proof };
    await hub.admin('gates_decide', no);
    const { structuredContent } = await told;
    expect(structuredContent).toMatchObject({ state: 'denied', decided_by: 'mia' });
  });

  test('[GT13] is told that nobody decided, after as long as it asked, by one gate', async () => {
    results.length = 0;
    const wish = { action: 'pull', subject: 'main', wait_ms: 600 };
    const { structuredContent } = await client.callTool({ name: 'gates__ask', arguments: wish });
    expect(structuredContent).toMatchObject({ state: 'pending', action: 'pull' });
    expect(results.some((text) => text.includes('input_required'))).toBe(era === 'modern');
    expect((await hub.admin('gates_list', { state: 'all' })).gates).toHaveLength(2);
  });
});
