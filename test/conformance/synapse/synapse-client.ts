/**
 * A Synapse 0.43 client, written from the protocol digest alone: it sends flat JSON frames and
 * reads what comes. It is strict where the original's is: a frame of 1 MiB or more, or one that
 * is no JSON object, is an error.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { anyOf } from '../../cluster/shared-store.ts';
import { within } from '../../e2e/deadline.ts';
import type { Json } from '../../e2e/running-hub.ts';

export interface SynapseClient {
  readonly name: string;
  /** Everything that came, oldest first. */
  readonly frames: Json[];
  readonly closed: Promise<{ code: number; reason: string }>;
  send(frame: Record<string, unknown>): void;
  sendText(text: string): void;
  /** The next frame of this type (that fits), among those not yet taken. */
  next(type: string, fits?: (frame: Json) => boolean): Promise<Json>;
  /** Sends a frame and waits for one of this type that comes after. */
  ask(frame: Record<string, unknown>, type: string, fits?: (frame: Json) => boolean): Promise<Json>;
  /** Stops and starts reading the socket. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

export const HUB_TYPES_SEEN: Set<string> = new Set();
export const CLIENT_TYPES_SENT: Set<string> = new Set();

export async function synapseUrl(dir: string): Promise<string> {
  return (JSON.parse(await readFile(join(dir, 'hub.json'), 'utf8')) as { synapse: string }).synapse;
}

export interface ConnectOptions {
  readonly token?: string;
  readonly takeover?: boolean;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  /** False: the socket is opened and nothing is said. */
  readonly isBinding?: boolean;
}

export async function connectSynapse(
  url: string,
  name: string,
  options: ConnectOptions = {},
): Promise<SynapseClient> {
  const ws = new WebSocket(`${anyOf(url)}${options.path ?? '/'}`, {
    headers: options.headers ?? {},
  });
  const frames: Json[] = [];
  const waiting = new Set<() => void>();
  const taken = new Set<Json>();
  let failure: Error | null = null;
  ws.on('message', (raw) => {
    const text = raw.toString();
    if (Buffer.byteLength(text) >= 1024 * 1024) failure = new Error('a frame of 1 MiB came');
    const frame = JSON.parse(text) as Json;
    HUB_TYPES_SEEN.add(frame.type);
    frames.push(frame);
    for (const look of [...waiting]) look();
  });
  ws.on('error', () => {});
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.on('close', (code, reason) => {
      resolve({ code, reason: reason.toString() });
      for (const look of [...waiting]) look();
    });
  });
  const opened = new Promise<void>((resolve, reject) => {
    ws.on('open', resolve);
    ws.on('unexpected-response', (_, response) => reject(new Error(`HTTP ${response.statusCode}`)));
    void closed.then(() => resolve());
  });
  await within(`a Synapse socket for ${name}`, opened);

  const client: SynapseClient = {
    name,
    frames,
    closed: within(`the end of ${name}`, closed, 3_600_000),
    send(frame) {
      CLIENT_TYPES_SENT.add(String(frame.type));
      ws.send(
        JSON.stringify({
          sender: name,
          target: 'all',
          payload: '',
          timestamp: Date.now() / 1000,
          ...frame,
        }),
      );
    },
    sendText: (text) => ws.send(text),
    next(type, fits = () => true) {
      let look = (): void => {};
      const found = new Promise<Json>((resolve, reject) => {
        look = () => {
          const frame = frames.find((one) => one.type === type && !taken.has(one) && fits(one));
          if (failure !== null) reject(failure);
          else if (frame !== undefined) {
            taken.add(frame);
            resolve(frame);
          } else if (ws.readyState === WebSocket.CLOSED) {
            reject(new Error(`${name} was closed before ${type} came`));
          }
        };
        waiting.add(look);
        look();
      });
      return within(`${type} for ${name}`, found).finally(() => waiting.delete(look));
    },
    ask(frame, type, fits = () => true) {
      const before = new Set(frames);
      const answer = client.next(type, (one) => !before.has(one) && fits(one));
      client.send(frame);
      return answer;
    },
    pause: () => ws.pause(),
    resume: () => ws.resume(),
    async close() {
      ws.close();
      await within(`the close of ${name}`, closed).catch(() => ws.terminate());
    },
  };
  client.closed.catch(() => {});
  if (options.isBinding !== false) {
    client.send({
      type: 'heartbeat',
      target: 'System',
      payload: 'online',
      ...(options.token !== undefined && { token: options.token }),
      ...(options.takeover && { takeover: true }),
    });
    // Whatever the hub does with it, something comes: a roster, a refusal, or the end.
    await Promise.race([client.next('presence_update', (one) => one.agent === name), closed]);
  }
  return client;
}
