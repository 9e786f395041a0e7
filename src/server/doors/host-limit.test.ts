/** The limit per remote address: every request, upgrade and frame counts, and a refusal says when to come again. */
import { afterEach, describe, expect, test } from 'vitest';
import { openRpcSocket, turnedAway } from '../../../test/e2e/rpc-socket.ts';
import { fetchReply, openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';
import { createHostLimit } from './host-limit.ts';

let hub: RunningHub | null = null;
afterEach(() => hub?.close());

describe('the bucket of a host', () => {
  test('[HL1] has two seconds of burst, refills, and is one for both ways to write an address', () => {
    let now = 1_000_000;
    const limit = createHostLimit(5, () => now);
    for (let i = 0; i < 10; i++)
      expect(limit.check(i % 2 ? '10.0.0.1' : '::ffff:10.0.0.1')).toBeNull();
    expect(limit.check('10.0.0.1')).toMatchObject({ refused: 'rate.limited', retryAt: now + 200 });
    expect(limit.check('10.0.0.2')).toBeNull();
    now += 200;
    expect(limit.check('10.0.0.1')).toBeNull();
    expect(limit.check('10.0.0.1')).not.toBeNull();
  });

  test('[HL1] is off unless configured, and the owner’s socket has no address', () => {
    const off = createHostLimit(null);
    const on = createHostLimit(1, () => 0);
    for (let i = 0; i < 100; i++) {
      expect(off.check('::1')).toBeNull();
      expect(on.check(undefined)).toBeNull();
    }
  });
});

describe('over real sockets', () => {
  test('[HL1] HTTP requests and upgrades are refused with 429, loopback included; the Unix socket is not', async () => {
    hub = await openRunningHub({ file: { host_rate_limit: 2 } });
    const statuses: number[] = [];
    for (let i = 0; i < 8; i++) statuses.push((await fetchReply(`${hub.url}/health`)).status);
    expect(statuses.slice(0, 4)).toEqual([200, 200, 200, 200]);
    const refused = await fetchReply(`${hub.url}/health`);
    expect(refused).toMatchObject({
      status: 429,
      body: { error_code: 'rate_limited', detail: { reason: 'rate.limited', per_second: 2 } },
    });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(refused.body.retry_after).toBeGreaterThan(Date.now() / 1000 - 1);
    expect(await turnedAway(hub.url, hub.as('ada'))).toMatchObject({
      status: 429,
      body: { error_code: 'rate_limited' },
    });
    const { socketPath } = hub;
    expect((await fetchReply('http://x/health', { socketPath })).status).toBe(200);
  });

  test('[HL1] WebSocket frames count; a limited frame is answered and nothing of it is carried out', async () => {
    hub = await openRunningHub({ file: { host_rate_limit: 3 } });
    const ada = await openRpcSocket(hub.url, hub.as('ada'));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        ada.call('channels.send', { channel: 'c', body: { n } }),
      ),
    );
    const ok = answers.filter(({ result }) => result !== undefined);
    const limited = answers.filter(({ error }) => error?.data.detail.reason === 'rate.limited');
    expect(ok.length + limited.length).toBe(20);
    expect(ok.length).toBeLessThanOrEqual(6);
    expect(limited[0].error).toMatchObject({
      code: -32_035,
      data: { retry_after: expect.any(Number) },
    });
    expect(ok.map(({ result }) => result.seq)).toEqual(ok.map((_, i) => i + 1));
    ada.ws.send(
      '[{"jsonrpc":"2.0","id":1,"method":"hub.whoami"},{"jsonrpc":"2.0","method":"hub.whoami"}]',
    );
    expect(await ada.frame()).toMatchObject([{ id: 1, error: { code: -32_035 } }]);
    await ada.close();
  });
});
