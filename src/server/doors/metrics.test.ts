/** `/metrics` on a running hub: who may read it, and that what it says is what happened. */
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../../../test/e2e/deadline.ts';
import { openEventStream } from '../../../test/e2e/event-stream.ts';
import { openRpcSocket } from '../../../test/e2e/rpc-socket.ts';
import {
  fetchReply,
  type Headers,
  openRunningHub,
  type RunningHub,
} from '../../../test/e2e/running-hub.ts';

let hub: RunningHub | null = null;
afterEach(() => hub?.close());

const TOKEN = 'scrape-me-0123';
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

async function scrape(headers: Headers = bearer(TOKEN)): Promise<Map<string, number>> {
  const { status, text } = await fetchReply(`${hub?.url}/metrics`, { headers });
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
  );
}

describe('who may read', () => {
  test('[ME1] nobody, unless it was asked for', async () => {
    hub = await openRunningHub();
    const { status, body } = await fetchReply(`${hub.url}/metrics`, { headers: hub.as('ada') });
    expect([status, body.detail.reason]).toEqual([404, 'operation.unknown']);
  });

  test('[ME1] with a token of its own, that token alone; else 401 with a challenge', async () => {
    hub = await openRunningHub({ flags: { metrics: TOKEN } });
    for (const headers of [{}, bearer('scrape-me-0124'), bearer(hub.owner), hub.as('ada')]) {
      const refused = await fetchReply(`${hub.url}/metrics`, { headers });
      expect(refused.status).toBe(401);
      expect(refused.headers['www-authenticate']).toBe('Bearer');
      expect(refused.text).not.toContain('synod_up');
    }
    const { status, headers, text } = await fetchReply(`${hub.url}/metrics`, {
      headers: bearer(TOKEN),
    });
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toContain('# TYPE synod_call_duration_seconds histogram');
    const asAgent = await fetchReply(`${hub.url}/v1/ops/whoami`, {
      method: 'POST',
      headers: bearer(TOKEN),
    });
    expect(asAgent.status).toBe(401);
  });

  test('[ME1] without a token, whoever has a credential', async () => {
    hub = await openRunningHub({ flags: { metrics: true } });
    expect((await fetchReply(`${hub.url}/metrics`)).status).toBe(401);
    expect((await scrape(hub.as('ada'))).get('synod_up')).toBe(1);
    const foreign = await fetchReply(`${hub.url}/metrics`, {
      headers: { ...hub.as('ada'), origin: 'https://evil.example' },
    });
    expect(foreign.status).toBe(403);
  });
});

describe('what is said', () => {
  test('[ME2] counts what happened', async () => {
    hub = await openRunningHub({ flags: { metrics: TOKEN } });
    const ada = await openRpcSocket(hub.url, hub.as('ada'));
    const stream = await openEventStream(hub.url, hub.as('bob'), '?channels=c');
    await ada.ask('channels.send', { channel: 'c', body: { n: 1 } });
    await ada.ask('channels.send', { channel: 'c', body: { n: 2 } });
    await ada.call('channels.send', { channel: '' });
    await hub.ask('ada', 'plan_declare', { task_id: 't', title: 'T' });
    await hub.ask('ada', 'claims_take', { task_id: 'work' });
    await hub.ask('ada', 'offers_make', { kind: 'gpu', name: 'a', capacity: 1 });
    const said = await scrape();
    for (const [name, value] of [
      ['synod_up', 1],
      ['synod_queue_depth', 0],
      ['synod_feeds', 1],
      ['synod_connections{door="websocket"}', 1],
      ['synod_connections{door="sse"}', 1],
      ['synod_claims', 1],
      ['synod_offers', 1],
      ['synod_tasks{status="open"}', 1],
      ['synod_tasks{status="done"}', 0],
      ['synod_messages_total', 2],
      ['synod_slow_readers_total', 0],
      ['synod_calls_total{operation="channels.send",outcome="ok"}', 2],
      ['synod_calls_total{operation="channels.send",outcome="refused"}', 1],
      ['synod_calls_total{operation="claims.take",outcome="ok"}', 1],
      ['synod_call_duration_seconds_count', 3],
    ] as const) {
      expect([name, said.get(name)]).toEqual([name, value]);
    }
    for (const name of ['synod_entries', 'synod_agents', 'synod_channels', 'synod_batches_total']) {
      expect([name, (said.get(name) ?? 0) > 0]).toEqual([name, true]);
    }
    expect(said.has('process_cpu_seconds_total')).toBe(true);
    expect(said.get('synod_uptime_seconds')).toBeGreaterThan(0);
    await ada.close();
    stream.close();
    await until('connections are gone', scrape, (now) => {
      return (
        now.get('synod_connections{door="websocket"}') === 0 &&
        now.get('synod_connections{door="sse"}') === 0
      );
    });
  });

  test('[ME2] counts a reader that was cut off', async () => {
    hub = await openRunningHub({ flags: { metrics: TOKEN } });
    const stalled = await openRpcSocket(hub.url, hub.as('ada'));
    await stalled.ask('stream.open', { channels: ['flood'] });
    const tcp = (stalled.ws as unknown as { _socket: Socket })._socket;
    tcp.pause();
    const bob = await openRpcSocket(hub.url, hub.as('bob'));
    const text = 'x'.repeat(500_000);
    await until(
      'the stalled reader is cut off',
      async () => {
        await bob.ask('channels.send', { channel: 'flood', body: { text } });
        return scrape();
      },
      (said) => said.get('synod_slow_readers_total') === 1,
    );
    tcp.resume();
    await stalled.closed;
    await bob.close();
  });

  test('[ME2] a counter does not fall when a space is closed', async () => {
    hub = await openRunningHub({ flags: { metrics: TOKEN } });
    const inBlue = {
      ...hub.as('ada'),
      'x-sox-namespace': 'blue',
      'content-type': 'application/json',
    };
    for (let n = 0; n < 3; n++) {
      const body = JSON.stringify({ channel: 'c', body: { n } });
      const url = `${hub.url}/v1/ops/send`;
      expect((await fetchReply(url, { method: 'POST', headers: inBlue, body })).status).toBe(200);
    }
    const before = await scrape();
    const owner = { ...bearer(hub.owner), 'content-type': 'application/json' };
    const { status } = await fetchReply(`${hub.url}/v1/ops/spaces_remove`, {
      ...{ method: 'POST', headers: owner, body: JSON.stringify({ name: 'blue' }) },
    });
    expect(status).toBe(200);
    const after = await scrape();
    expect([before.get('synod_messages_total'), after.get('synod_messages_total')]).toEqual([3, 3]);
    for (const said of ['synod_batches_total', 'synod_messages_total'])
      expect(after.get(said)).toBeGreaterThanOrEqual(before.get(said) ?? 0);
  });

  test('[ME2] a counter never falls between two scrapes', async () => {
    hub = await openRunningHub({ flags: { metrics: TOKEN } });
    let before = await scrape();
    for (let n = 0; n < 5; n++) {
      await hub.ask('ada', 'send', { channel: `c${n}`, body: { n } });
      const now = await scrape();
      for (const [name, value] of before) {
        if (/^synod_.*_total/.test(name))
          expect([name, (now.get(name) ?? 0) >= value]).toEqual([name, true]);
      }
      before = now;
    }
    expect(before.get('synod_messages_total')).toBe(5);
  });
});
