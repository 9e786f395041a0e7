/**
 * The bare loop on JetStream: the least that a hub could do which keeps its log there. It takes the same frames over
 * the same sockets, puts all that waits into one message behind the last sequence of the space's stream, one append
 * under way for each space, and answers when that is stored. It has no rules, no chain, nobody who follows, and
 * forwards nothing. Started as `jetstream-server.ts STORE`; one ready line on stdout. Asked for `/batch/N`, it puts no more
 * than so many sends into one message from then on. It answers how many appends and sends it has had.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StreamConfig } from '@nats-io/jetstream';
import { WebSocketServer } from 'ws';
import { openLink } from '../../src/log/nats/link.ts';
import { parseNatsUrl } from '../../src/log/nats/place.ts';
import { encodeFrames } from './server-frames.ts';

interface Caller {
  readonly agent: string;
  readonly replies: string[];
  flush(): void;
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly channel: string; readonly body: unknown };
}

/** As the hub's, until it is told another: one append carries so many commands. */
let batchMax = 2_048;
const had = { appends: 0, sends: 0 };

const place = parseNatsUrl(process.argv[2] ?? '');
if (place === null) throw new Error(`${process.argv[2]} is no address of NATS`);
const link = await openLink(place);

async function openSpace(replicas: number): Promise<(call: Call, caller: Caller) => void> {
  const name = `bare-${randomBytes(6).toString('hex')}`;
  const how = { storage: 'file', retention: 'limits', discard: 'new' } as Partial<StreamConfig>;
  await link.manager.streams.add({ name, subjects: [name], num_replicas: replicas, ...how });
  const seqs = new Map<string, number>();
  let queue: { readonly call: Call; readonly caller: Caller }[] = [];
  let isRunning = false;
  let lastSequence = 0;
  let position = 0;

  function decide({ id, params: { channel, body } }: Call, caller: Caller, sentAt: number): string {
    const seq = (seqs.get(channel) ?? 0) + 1;
    seqs.set(channel, seq);
    position += 1;
    const result = `{"sent_at":${sentAt},"message_id":"${position}","seq":${seq},"backpressure":false}`;
    caller.replies.push(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
    const text = JSON.stringify(body);
    return `{"type":"message.sent","at":${sentAt},"by":"${caller.agent}","channel":"${channel}","seq":${seq},"body":${text}}`;
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (queue.length > 0) {
      const batch = queue.slice(0, batchMax);
      queue = queue.slice(batchMax);
      had.appends += 1;
      had.sends += batch.length;
      const sentAt = Date.now() / 1000;
      const entries = batch.map(({ call, caller }) => decide(call, caller, sentAt));
      const options = { msgID: `${name}.${lastSequence}`, expect: { lastSequence } };
      lastSequence = (await link.js.publish(name, entries.join('\n'), options)).seq;
      for (const caller of new Set(batch.map(({ caller: one }) => one))) caller.flush();
    }
    isRunning = false;
  }

  return (call, caller) => {
    queue.push({ call, caller });
    if (isRunning) return;
    isRunning = true;
    setImmediate(run);
  };
}

const spaces = new Map<string, ReturnType<typeof openSpace>>();
const { replicas } = place;

function spaceOf({ headers }: IncomingMessage): ReturnType<typeof openSpace> {
  const name = String(headers['x-sox-namespace'] ?? 'default');
  const known = spaces.get(name) ?? openSpace(replicas);
  spaces.set(name, known);
  return known;
}

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
const server = createServer(({ url = '' }, response) => {
  const asked = /^\/batch\/([1-9]\d*)$/.exec(url);
  if (asked !== null) batchMax = Number(asked[1]);
  response.end(JSON.stringify(had));
});
server.on('upgrade', async (request, socket, head) => {
  const accept = await spaceOf(request);
  sockets.handleUpgrade(request, socket, head, (ws) => {
    const agent = String(request.headers['x-sox-agent-id']);
    const replies: string[] = [];
    const flush = (): void => void socket.write(encodeFrames(replies.splice(0)));
    const caller: Caller = { agent, replies, flush };
    ws.on('message', (bytes) => accept(JSON.parse(String(bytes)) as Call, caller));
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`{"ready":true,"url":"http://127.0.0.1:${port}"}\n`);
});
process.on('SIGTERM', () => process.exit(0));
