/** One question to one server, and what is known after it: done, not done, never sent, or nobody knows. */
import { request } from 'node:http';
import type { Json } from '../e2e/running-hub.ts';
import type { ChaosServer } from './servers.ts';

export type Reply =
  | { readonly kind: 'done'; readonly body: Json; readonly copy: string }
  /** Refused: nothing was changed. */
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string }
  | { readonly kind: 'lost' };

export type Ask = (
  server: ChaosServer,
  agent: string,
  operation: string,
  input: unknown,
  timeoutMs: number,
) => Promise<Reply>;

/** Asks with the credential of the server's owner. */
export const OWNER = 'owner';

const NOT_SENT: Reply = { kind: 'refused', reason: 'not.sent', message: 'nobody is there' };
const LOST: Reply = { kind: 'lost' };

export const askIn =
  (space: string): Ask =>
  (server, agent, operation, input, timeoutMs) => {
    const { url, copy } = server;
    if (url === null) return Promise.resolve(NOT_SENT);
    const text = JSON.stringify(input);
    return new Promise((resolve) => {
      const sent = request(
        `${url}/v1/ops/${operation}`,
        {
          ...{ method: 'POST', agent: false, signal: AbortSignal.timeout(timeoutMs) },
          headers: { ...headersOf(server, agent), 'x-sox-namespace': space },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', () => resolve(LOST));
          response.on('end', () => {
            resolve(replyOf(response.statusCode ?? 0, Buffer.concat(chunks).toString(), copy));
          });
        },
      );
      sent.on('error', (error: NodeJS.ErrnoException) =>
        resolve(error.code === 'ECONNREFUSED' ? NOT_SENT : LOST),
      );
      sent.end(text);
    });
  };

function headersOf(server: ChaosServer, agent: string): Record<string, string> {
  const json = { 'content-type': 'application/json' };
  if (agent !== OWNER) return { ...json, 'x-sox-agent-id': agent };
  return { ...json, authorization: `Bearer ${server.credential}`, 'x-synod-owner': '1' };
}

function replyOf(status: number, text: string, copy: string): Reply {
  let body: Json;
  try {
    body = JSON.parse(text);
  } catch {
    return LOST;
  }
  if (status === 200) return { kind: 'done', body, copy };
  const reason: unknown = body.detail?.reason;
  if (typeof reason !== 'string' || reason === 'store.unknown' || reason === 'internal')
    return LOST;
  return { kind: 'refused', reason, message: String(body.message) };
}
