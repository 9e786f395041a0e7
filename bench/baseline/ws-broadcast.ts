/**
 * A bare `ws` broadcaster: what most people would write first.
 *
 * It stores nothing and calls `send()` once for each message and listener. It speaks the same few
 * methods as the bare loop, so the same load drives it. One ready line on stdout.
 */
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
const listeners = new Set<WebSocket>();
const seqs = new Map<string, number>();

server.on('connection', (socket, request) => {
  const sender = request.headers['x-sox-agent-id'];
  socket.on('close', () => listeners.delete(socket));
  socket.on('message', (bytes) => {
    const { id, method, params } = JSON.parse(String(bytes));
    if (method === 'stream.open') listeners.add(socket);
    if (method !== 'channels.send') {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
      return;
    }
    const seq = (seqs.get(params.channel) ?? 0) + 1;
    seqs.set(params.channel, seq);
    const sentAt = Date.now() / 1000;
    const message = { ...params, sender, sent_at: sentAt, message_id: String(seq), seq };
    const push = JSON.stringify({ jsonrpc: '2.0', method: 'message', params: message });
    for (const listener of listeners) {
      if (listener.readyState === WebSocket.OPEN) listener.send(push);
    }
    const result = { sent_at: sentAt, message_id: String(seq), seq, backpressure: false };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
});
server.on('listening', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`{"ready":true,"url":"http://127.0.0.1:${port}"}\n`);
});
process.on('SIGTERM', () => process.exit(0));
