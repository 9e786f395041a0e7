/**
 * A real HTTP server that speaks the chat completions dialect, well or badly, by the word the last
 * user message begins with. It remembers what it was asked.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChatAsked {
  readonly authorization: string | undefined;
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
    readonly [name: string]: unknown;
  };
}

export interface ChatServer {
  readonly url: string;
  readonly asked: ChatAsked[];
  /** The prompts whose client hung up before the end. */
  readonly hungUp: string[];
  close(): Promise<void>;
}

type Behaviour = (response: ServerResponse, prompt: string) => Promise<void> | void;

export async function openChatServer(): Promise<ChatServer> {
  const asked: ChatAsked[] = [];
  const hungUp: string[] = [];
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const body = JSON.parse(text) as ChatAsked['body'];
    asked.push({ authorization: request.headers.authorization, body });
    const prompt = promptOf(body.messages.at(-1)?.content);
    response.once('close', () => {
      if (!response.writableFinished) hungUp.push(prompt);
    });
    if (request.url === '/elsewhere') return stream(response, prompt);
    await (BEHAVIOURS[prompt.split(' ')[0] ?? ''] ?? stream)(response, prompt);
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    hungUp,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function promptOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return (content as { text?: string }[]).map(({ text = '' }) => text).join('');
}

const piece = (content: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\r\n\r\n`;
const finish = (reason: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: reason }] })}\n\n`;

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** Byte by byte: every cut a network can make. */
async function trickle(response: ServerResponse, text: string): Promise<void> {
  for (const byte of Buffer.from(text)) {
    if (!response.write(Buffer.from([byte]))) await once(response, 'drain');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function fail(status: number, headers: Record<string, string>, body: string): Behaviour {
  return (response) => {
    response.writeHead(status, headers).end(body);
  };
}

const stream: Behaviour = async (response, prompt) => {
  begin(response);
  response.write(': a comment\n\n');
  for (const word of `you said ${prompt}`.split(/(?<= )/)) response.write(piece(word));
  response.end(`${finish('stop')}data: [DONE]\n\n`);
};

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  async trickle(response) {
    begin(response);
    await trickle(response, `${piece('drops ')}${piece('äöü🦊')}${finish('stop')}data: [DONE]\n\n`);
    response.end();
  },
  cut(response) {
    begin(response);
    response.write(piece('half of '));
    setImmediate(() => response.destroy());
  },
  'end-early'(response) {
    begin(response);
    response.end(piece('half of '));
  },
  silent() {},
  'silent-later'(response) {
    begin(response);
    response.write(piece('some'));
  },
  async endless(response) {
    begin(response);
    while (!response.destroyed) {
      response.write(piece('and on '));
      // As a model does: a word, and some time until the next.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  },
  length(response) {
    begin(response);
    response.end(`${piece('too long')}${finish('length')}data: [DONE]\n\n`);
  },
  filter(response) {
    begin(response);
    response.end(`${finish('content_filter')}data: [DONE]\n\n`);
  },
  whole(response) {
    const message = { role: 'assistant', content: 'all at once' };
    const body = { choices: [{ index: 0, message, finish_reason: 'stop' }] };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  },
  garbage(response) {
    begin(response);
    response.end('data: {"choices": oops\n\n');
  },
  'error-inside'(response) {
    begin(response);
    response.end(`${piece('well, ')}data: {"error":{"message":"the model fell over"}}\n\n`);
  },
  401: fail(401, {}, '{"error":{"message":"no such key: sk-secret"}}'),
  404: fail(404, {}, '{"error":"no such model"}'),
  429: fail(429, { 'retry-after': '7' }, '{"error":{"message":"slow down"}}'),
  500: fail(500, {}, '<html>oh no</html>'),
  redirect: fail(307, { location: '/elsewhere' }, ''),
};
