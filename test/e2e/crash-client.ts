/**
 * A process of its own that loads a hub until the hub dies: `sender` keeps several sends under way
 * on one WebSocket, `drainer` drains over HTTP. Each writes one line for everything it was told, so
 * that its parent knows exactly what the hub has acknowledged.
 */
import { writeSync } from 'node:fs';
import { WebSocket } from 'ws';

const [, , role, url = '', credential = '', name = '', start = '0'] = process.argv;
const headers = { authorization: `Bearer ${credential}`, 'x-sox-agent-id': name };
const IN_FLIGHT = 32;

function tell(line: object): void {
  // A synchronous write: what was told is told, whatever happens next.
  writeSync(1, `${JSON.stringify(line)}\n`);
}

function send(): void {
  let n = Number(start);
  const ws = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, { headers });
  const next = (): void => {
    const params = { channel: `crash/${name}`, body: { n: ++n, pad: 'x'.repeat(200) } };
    ws.send(JSON.stringify({ jsonrpc: '2.0', id: n, method: 'channels.send', params }));
  };
  ws.on('open', () => {
    for (let i = 0; i < IN_FLIGHT; i++) next();
  });
  ws.on('message', (raw) => {
    const { id, result } = JSON.parse(raw.toString());
    if (result === undefined) return;
    tell({ n: id, message_id: result.message_id, seq: result.seq });
    next();
  });
  ws.on('error', () => process.exit(0));
  ws.on('close', () => process.exit(0));
}

async function drain(): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/v1/ops/recv`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ wait_ms: 1_000, max_messages: 40, include_meta: false }),
    });
    const { messages } = (await response.json()) as { messages: { message_id: string }[] };
    tell({ drained: messages.map(({ message_id }) => message_id) });
  }
}

if (role === 'sender') send();
else drain().catch(() => process.exit(0));
