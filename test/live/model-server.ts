/**
 * A model of our own on loopback, for the vendors' command lines to talk to.
 *
 * It speaks four APIs, plays a script and keeps every request, so that a test can tell what the
 * model was shown. It listens on 127.0.0.1 only, asks for no key, and keeps at most REQUESTS_MAX.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { anthropic } from './dialects/anthropic.ts';
import { chat } from './dialects/chat.ts';
import { gemini } from './dialects/gemini.ts';
import { responses } from './dialects/responses.ts';
import {
  type Answer,
  type Dialect,
  type FailStep,
  findTool,
  isTurn,
  type ModelRequest,
  type Script,
  type Step,
  type Thought,
} from './script.ts';

const DIALECTS: readonly Dialect[] = [anthropic, responses, chat, gemini];
const REQUESTS_MAX = 10_000;
/** How often in a script something else is done because a tool is not there yet. */
const MEANWHILE_MAX = 50;

export interface ModelServer {
  /** `http://127.0.0.1:PORT`, without a path. */
  readonly url: string;
  /** Every request understood, in order of arrival. */
  readonly requests: readonly ModelRequest[];
  /** Those in which the agent's turn was asked for. */
  readonly turns: () => readonly ModelRequest[];
  /** Paths nobody here speaks, answered 404. */
  readonly strange: readonly string[];
  readonly play: (script: Script) => void;
  /** The first turn, from `from` on, that passes; refuses after the deadline. */
  readonly waitForTurn: (
    passes: (request: ModelRequest) => boolean,
    options?: { readonly from?: number; readonly timeoutMs?: number },
  ) => Promise<ModelRequest>;
  readonly close: () => Promise<void>;
}

interface Waiter {
  readonly passes: (request: ModelRequest) => boolean;
  readonly resolve: (request: ModelRequest) => void;
}

export async function openModelServer(script: Script = []): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const strange: string[] = [];
  const waiters = new Set<Waiter>();
  let decide = createPlayer(script);
  let answered = 0;

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (message.url ?? '/').split('?')[0] ?? '/';
    const body = parseJson(await readText(message));
    const request = readRequest(path, body);
    if (request === null || requests.length >= REQUESTS_MAX) {
      strange.push(`${message.method ?? '?'} ${path}`);
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"not spoken here"}}');
      return;
    }
    const dialect = DIALECTS.find(({ name }) => name === request.dialect);
    requests.push(request);
    for (const waiter of waiters) {
      if (!isTurn(request) || !waiter.passes(request)) continue;
      waiters.delete(waiter);
      waiter.resolve(request);
    }
    answered += 1;
    const id = String(answered);
    const step = await decide(request);
    if ('fail' in step) {
      response.writeHead(step.fail, { 'content-type': 'application/json', ...step.headers });
      response.end(JSON.stringify(step.body));
      return;
    }
    const written = dialect?.write(answerOf(step, request), request, id);
    response.writeHead(200, { 'content-type': written?.contentType ?? 'text/plain' });
    response.end(written?.text);
  }

  const server = createServer((message, response) => {
    serve(message, response).catch((error: unknown) => {
      strange.push(String(error));
      response.writeHead(500).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    strange,
    turns: () => requests.filter(isTurn),
    play(next) {
      decide = createPlayer(next);
    },
    waitForTurn(passes, { from = 0, timeoutMs = 30_000 } = {}) {
      const seen = requests.filter(isTurn).slice(from).find(passes);
      if (seen !== undefined) return Promise.resolve(seen);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiters.delete(waiter);
          reject(new Error(`no such turn in ${timeoutMs} ms, of ${requests.length} requests`));
        }, timeoutMs);
        const waiter: Waiter = {
          passes,
          resolve(request) {
            clearTimeout(timer);
            resolve(request);
          },
        };
        waiters.add(waiter);
      });
    },
    async close() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

function readRequest(path: string, body: unknown): ModelRequest | null {
  for (const dialect of DIALECTS) {
    const read = dialect.read(path, body);
    if (read !== null) return { ...read, atMs: performance.now() };
  }
  return null;
}

/** A list goes on with each turn; a side errand never uses up a step. */
function createPlayer(script: Script): Thought {
  if (typeof script === 'function') return (request) => (isTurn(request) ? script(request) : OK);
  const left = [...script];
  let put = 0;
  return async (request) => {
    if (!isTurn(request)) return OK;
    const next = left.shift() ?? { say: 'done' };
    const step = typeof next === 'function' ? await next(request) : next;
    const { meanwhile } = 'call' in step ? step : {};
    if (meanwhile === undefined || !('call' in step)) return step;
    if (findTool(request, step.call) !== undefined || put >= MEANWHILE_MAX) return step;
    put += 1;
    left.unshift(step);
    return meanwhile;
  };
}

const OK: Step = { say: 'ok' };

function answerOf(step: Exclude<Step, FailStep>, request: ModelRequest): Answer {
  if ('say' in step) return { kind: 'say', text: step.say };
  const tool = findTool(request, step.call);
  // The turn ends with a sentence the test can see, instead of a call nobody can carry out.
  return tool === undefined
    ? { kind: 'say', text: `no tool ${step.call} was offered` }
    : { kind: 'call', tool, args: step.args };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
