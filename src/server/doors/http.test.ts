/** The HTTP door: what surrounds an operation. Operations themselves are shown in test/e2e/doors.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchReply, openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';
import { operationList } from '../../wire/operations/table.ts';

let hub: RunningHub;
beforeAll(async () => {
  hub = await openRunningHub();
});
afterAll(() => hub.close());

describe('questions anybody may ask', () => {
  test('health says that the store answers, without a credential', async () => {
    const { status, body } = await fetchReply(`${hub.url}/health`);
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'ok',
      protocol_version: '1.0',
      store_ok: true,
      uptime_s: expect.any(Number),
    });
  });

  test('[O1] the OpenAPI document has a route for every operation that HTTP serves', async () => {
    const { status, body } = await fetchReply(`${hub.url}/openapi.json`);
    expect([status, body.openapi.startsWith('3.')]).toEqual([200, true]);
    const served = operationList.filter((one) => !one.isStreaming);
    for (const { name } of served) {
      expect(body.paths).toHaveProperty([`/v1/ops/${name}`, 'post', 'requestBody']);
    }
  });
});

describe('an operation', () => {
  test('[O1] answers to its SOX name, its id and its tool name alike', async () => {
    for (const name of ['list_channels', 'channels.list_channels', 'channels__list_channels']) {
      expect((await hub.post(name, {}, hub.as('ada'))).status).toBe(200);
    }
  });

  test('[O1] takes no body for an empty object, and answers JSON that nobody keeps', async () => {
    const { status, headers } = await hub.post('list_channels', '', hub.as('ada'));
    expect(status).toBe(200);
    expect(headers['content-type']).toContain('application/json');
    expect(headers['cache-control']).toBe('no-store');
  });

  test('[O1] is asked by POST alone; what is not there is not found', async () => {
    for (const [method, path] of [
      ['GET', '/v1/ops/send'],
      ['PUT', '/v1/ops/send'],
      ['POST', '/v1/ops/'],
      ['GET', '/v1'],
      ['POST', '/v1/stream'],
      ['GET', '/../credential'],
      ['GET', '/%2e%2e/credential'],
    ] as const) {
      const { status, body } = await fetchReply(`${hub.url}${path}`, {
        method,
        headers: hub.as('ada'),
      });
      expect([method, path, status]).toEqual([method, path, 404]);
      expect(body.error_code).toBe('validation_error');
    }
  });

  test('shows its trace when asked, and only then', async () => {
    const plain = await hub.post('whoami', {}, hub.as('ada'));
    expect(plain.body).not.toHaveProperty('metadata');
    const headers = { ...hub.as('ada'), 'x-sox-trace': '1', 'x-correlation-id': 'mine' };
    const traced = await hub.post('whoami', {}, headers);
    expect(traced.body.metadata.correlation_id).toBe('mine');
    expect(traced.body.metadata.pipeline_trace.length).toBeGreaterThan(0);
  });

  test('[O3] asked too often is refused with the time to come back', async () => {
    const limited = await openRunningHub({ file: { rate_limit: 2 } });
    const replies = [];
    for (let n = 0; n < 4; n++) replies.push(await limited.post('whoami', {}, limited.as('ada')));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 429, 429]);
    const { body, headers } = replies[3] ?? { body: {}, headers: {} };
    expect(body.error_code).toBe('rate_limited');
    expect(body.retry_after).toBeGreaterThan(Date.now() / 1000 - 5);
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    // Each agent has a measure of its own.
    expect((await limited.post('whoami', {}, limited.as('bob'))).status).toBe(200);
    await limited.close();
  });
});
