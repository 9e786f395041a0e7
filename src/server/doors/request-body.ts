/**
 * The body of a request, for every door that speaks HTTP: read whole, in its turn where it is large [SV7], or not at
 * all. What says that it is larger than may be is not read; what does not say so is counted as it comes.
 */
import type { IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { readJson } from '../../core/law/json.ts';
import { intake } from './intake.ts';

/** A request larger than this is not read; a body of a message has its own, smaller bound. */
export const REQUEST_BYTES_MAX: number = 4 * 1024 * 1024;
/** What is still coming when the answer is given is let pass by for so long, and so much of it. */
const DRAIN_MS = 500;
const DRAIN_BYTES_MAX = 64 * 1024 * 1024;

export type ReadBody = Buffer | 'cut' | 'too large';

export function readBody(request: IncomingMessage): Promise<ReadBody> {
  const expected = Number(request.headers['content-length'] ?? 0);
  if (expected > REQUEST_BYTES_MAX) return Promise.resolve('too large');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const incoming = intake.open(request, expected);
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > REQUEST_BYTES_MAX) {
        chunks.length = 0;
        resolve('too large');
      } else chunks.push(chunk);
      incoming.took(chunk.length);
    });
    request.on('end', () => {
      incoming.end();
      const [only] = chunks;
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
    });
    request.on('error', () => resolve('cut'));
    request.on('close', () => {
      incoming.end();
      resolve('cut');
    });
    // It closed while its credential was being looked at.
    if (request.destroyed) resolve('cut');
  });
}

export function parseJson(body: ReadBody): { readonly value: unknown } | Refusal {
  if (body === 'cut') return refuse('input.not-json', 'the request ended before its body did');
  if (body === 'too large') return tooLarge();
  if (body.byteLength === 0) return { value: {} };
  try {
    return { value: readJson(UTF8.decode(body)) };
  } catch {
    return refuse('input.not-json', 'the request body is not JSON; send an object, e.g. {}', {
      violations: [{ field: '<root>', issue: 'is not JSON' }],
    });
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function tooLarge(): Refusal {
  return refuse('body.too-large', `a request has at most ${REQUEST_BYTES_MAX} bytes`, {
    max_bytes: REQUEST_BYTES_MAX,
  });
}

/** Who still sends may hear the answer, and does not hold the connection. */
export function passBy(request: IncomingMessage): void {
  let bytes = 0;
  const timer = setTimeout(() => request.destroy(), DRAIN_MS);
  const incoming = intake.open(request);
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DRAIN_BYTES_MAX) request.destroy();
    else incoming.took(chunk.length);
  });
  request.on('error', () => {});
  request.on('close', () => {
    clearTimeout(timer);
    incoming.end();
  });
}
