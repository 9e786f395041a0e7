/** An answer of the desk as HTTP says it: a status, headers and JSON that nobody keeps. */

import type { Answer } from '../desk/answer.ts';
import { outputText } from '../desk/output-text.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

export function replyTo(answer: Answer): Reply {
  const metadata = answer.metadata === undefined ? null : { metadata: answer.metadata };
  if ('ok' in answer) {
    return reply(200, outputText(metadata === null ? answer.ok : { ...answer.ok, ...metadata }));
  }
  const { error, sound } = answer;
  const more: Record<string, string> = {};
  if (sound.http === 401) more['www-authenticate'] = 'Bearer';
  if (error.retry_after !== undefined) {
    more['retry-after'] = String(Math.max(1, Math.ceil(error.retry_after - Date.now() / 1000)));
  }
  return reply(sound.http, JSON.stringify({ ...error, ...metadata }), more);
}

export function reply(status: number, text: string, more?: Record<string, string>): Reply {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', ...more };
  return { status, headers, text };
}

/** For an origin that is allowed by name. */
export function cors(origin: string): [string, string][] {
  return [
    ['access-control-allow-origin', origin],
    ['access-control-expose-headers', 'mcp-session-id, retry-after'],
    ['vary', 'origin'],
  ];
}
