/**
 * The bare loop: the least that a durable hub could do, and what ours is measured against.
 *
 * It parses each frame, commits one SQLite transaction a batch (WAL, FULL), encodes each outgoing
 * frame once, and gives a socket all its frames in one write. It has no rules: no limits, no
 * patterns, no access, no cursors but recv's. Started as `bare-loop.ts DIR`; one ready line on stdout.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';

import { encodeFrames } from './server-frames.ts';

/** What the batch owes one caller: its replies so far, and how to hand them over. */
type Caller = { agent: string; replies: string[]; flush(replies: string[]): void };
type Call = { id?: number; method: string; params: Record<string, unknown> };

const db = new DatabaseSync(join(process.argv[2] ?? '.', 'bare.sqlite'));
db.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
  CREATE TABLE log(position INTEGER PRIMARY KEY, channel TEXT, seq INTEGER, text TEXT);
  CREATE TABLE cursor(agent TEXT PRIMARY KEY, position INTEGER)`);
const insert = db.prepare('INSERT INTO log VALUES (?, ?, ?, ?)');
const advance = db.prepare('INSERT OR REPLACE INTO cursor VALUES (?, ?)');
const readAfter = db.prepare('SELECT text FROM log WHERE position > ? LIMIT ?');

const seqs = new Map<string, number>();
const cursors = new Map<string, number>();
const listeners = new Set<Duplex>();
let position = 0;
let queue: { call: Call; caller: Caller }[] = [];

/** One recv or replay: whatever is stored after a position, as one JSON list. */
function list(after: number, limit: number): { text: string; count: number } {
  const rows = readAfter.all(after, limit) as { text: string }[];
  return { text: `{"messages":[${rows.map((row) => row.text).join()}]}`, count: rows.length };
}

function decide({ method, params }: Call, agent: string, sentAt: number, pushes: string[]): string {
  if (method === 'channels.send') {
    const channel = params.channel as string;
    const seq = (seqs.get(channel) ?? 0) + 1;
    seqs.set(channel, seq);
    position += 1;
    const text = `{"channel":"${channel}","sender":"${agent}","body":${JSON.stringify(params.body)},"sent_at":${sentAt},"message_id":"${position}","seq":${seq},"position":${position}}`;
    insert.run(position, channel, seq, text);
    if (listeners.size > 0) pushes.push(`{"jsonrpc":"2.0","method":"message","params":${text}}`);
    return `{"sent_at":${sentAt},"message_id":"${position}","seq":${seq},"backpressure":false}`;
  }
  if (method === 'channels.replay') {
    return list(Number(params.since) - 1, Number(params.limit)).text;
  }
  if (method === 'channels.recv') {
    const after = cursors.get(agent) ?? 0;
    const { text, count } = list(after, Number(params.max_messages));
    cursors.set(agent, after + count);
    advance.run(agent, after + count);
    return text;
  }
  return '{}';
}

function commit(): void {
  const batch = queue;
  queue = [];
  const callers = new Set<Caller>();
  const pushes: string[] = [];
  const sentAt = Date.now() / 1000;
  db.exec('BEGIN');
  for (const { call, caller } of batch) {
    const result = decide(call, caller.agent, sentAt, pushes);
    caller.replies.push(`{"jsonrpc":"2.0","id":${call.id ?? 0},"result":${result}}`);
    callers.add(caller);
  }
  db.exec('COMMIT');
  if (pushes.length > 0) {
    const bytes = encodeFrames(pushes);
    for (const socket of listeners) socket.write(bytes);
  }
  for (const caller of callers) {
    caller.flush(caller.replies);
    caller.replies = [];
  }
}

function accept(call: Call, caller: Caller): void {
  if (queue.push({ call, caller }) === 1) setImmediate(commit);
}

const agentOf = (request: IncomingMessage) => String(request.headers['x-sox-agent-id']);
const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
const server = createServer(async (request, response) => {
  let text = '';
  for await (const piece of request) text += piece;
  const flush = ([reply = '{}']: string[]) => {
    response.setHeader('content-type', 'application/json').end(reply);
  };
  if (request.method !== 'POST') return flush([]);
  const method = `channels.${request.url?.split('/').at(-1)}`;
  accept({ method, params: JSON.parse(text) }, { agent: agentOf(request), replies: [], flush });
});
server.on('upgrade', (request, socket, head) => {
  sockets.handleUpgrade(request, socket, head, (ws) => {
    const flush = (replies: string[]) => socket.write(encodeFrames(replies));
    const caller: Caller = { agent: agentOf(request), replies: [], flush };
    ws.on('message', (bytes) => {
      const call = JSON.parse(String(bytes)) as Call;
      if (call.method === 'channels.subscribe') cursors.set(caller.agent, position);
      if (call.method === 'stream.open') listeners.add(socket);
      accept(call, caller);
    });
    ws.on('close', () => listeners.delete(socket));
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`{"ready":true,"url":"http://127.0.0.1:${port}"}\n`);
});
process.on('SIGTERM', () => process.exit(0));
