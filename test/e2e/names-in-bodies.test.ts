/**
 * One agent's names are never read as another's, at any door, going in or coming out. Everything is
 * compared as text: what reads JSON here is what is in question.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRpcSocket } from './rpc-socket.ts';
import { fetchReply, openRunningHub, type RunningHub } from './running-hub.ts';

let hub: RunningHub;
beforeAll(async () => {
  hub = await openRunningHub();
});
afterAll(() => hub.close());

/** What a hostile agent says, what another says in the same place, and how the hub writes that. */
const HOSTILE = String.raw`{"y":1,"caf\\":1}`;
const SAID = String.raw`{"y":1,"caf\n":1}`;

type Say = (agent: string, channel: string, body: string) => Promise<void>;
const DOORS: Record<string, Say> = {
  async HTTP(agent, channel, body) {
    const { status } = await hub.post('send', sendOf(channel, body), hub.as(agent));
    expect(status).toBe(200);
  },
  async WebSocket(agent, channel, body) {
    const socket = await openRpcSocket(hub.url, hub.as(agent));
    const method = '"jsonrpc":"2.0","method":"send","id":"raw"';
    socket.ws.send(`{${method},"params":${sendOf(channel, body)}}`);
    expect(await socket.frame()).toMatchObject({ id: 'raw', result: {} });
    await socket.close();
  },
  async MCP(agent, channel, body) {
    const call = `{"name":"channels__send","arguments":${sendOf(channel, body)}}`;
    const { text } = await fetchReply(`${hub.url}/mcp`, {
      method: 'POST',
      headers: {
        ...hub.as(agent),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${call}}`,
    });
    expect(text).toContain('"result"');
    expect(text).not.toContain('"isError":true');
  },
};

test.each(Object.entries(DOORS))('[M12] at the door %s, and read again', async (door, say) => {
  const channel = `names-${door.toLowerCase()}`;
  await hub.ask('reader', 'subscribe', { pattern: channel });
  await say('mallory', channel, HOSTILE);
  await say('ada', channel, SAID);
  const replayed = await hub.post('replay', { channel }, hub.as('reader'));
  expect(replayed.text).toContain(`"body":${SAID}`);
  const received = await hub.post('recv', {}, hub.as('reader'));
  expect(received.text).toContain(`"body":${SAID}`);
});

function sendOf(channel: string, body: string): string {
  return `{"channel":"${channel}","body":${body}}`;
}
