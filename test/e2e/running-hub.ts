/**
 * A hub with every door open, in this process and in a directory of its own, and the plainest way
 * to ask it something: one HTTP request, the answer as it came. Closing removes the directory.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, parseConfig } from '../../src/server/run/config.ts';
import { type ServerHooks, startServer } from '../../src/server/run/server.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The JSON of the answer; an empty object when it had none. */
  readonly body: Json;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely; each test asserts what it needs.
export type Json = any;

export type Headers = Readonly<Record<string, string | undefined>>;

export interface RunningHub {
  readonly url: string;
  readonly port: number;
  readonly dir: string;
  readonly socketPath: string;
  /** The owner's credential. */
  readonly owner: string;
  /** What the hub said about itself, by line. */
  readonly log: readonly string[];
  /** Headers that make the owner act as an agent. */
  as(agent: string, space?: string): Record<string, string>;
  /** Asks as the owner, who administers; throws when the hub refuses. */
  admin(operation: string, input?: unknown, space?: string): Promise<Json>;
  /** Asks as an agent; throws when the hub refuses. */
  ask(agent: string, operation: string, input?: unknown, space?: string): Promise<Json>;
  /** Asks with these headers and nothing besides. */
  post(operation: string, input: unknown, headers?: Headers): Promise<Reply>;
  /** Length and head of the log of a space: equal before and after means nothing changed. */
  mark(space?: string): Promise<string>;
  close(): Promise<void>;
}

export interface HubOptions {
  readonly flags?: Readonly<Record<string, unknown>>;
  /** What the config file says. */
  readonly file?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly dir?: string;
  readonly hooks?: ServerHooks;
}

export async function openRunningHub(options: HubOptions = {}): Promise<RunningHub> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'synod-door-')));
  const config = parseConfig({
    flags: { port: '0', dir, discovery: false, synapseToken: 'none', ...options.flags },
    // The key of heads lies outside the data directory, which is home here.
    env: { XDG_STATE_HOME: join(tmpdir(), 'synod-test-state'), ...options.env },
    file: options.file,
    home: dir,
    cwd: dir,
  });
  if (Array.isArray(config)) throw new Error(JSON.stringify(config));
  const log: string[] = [];
  const server = await startServer(config as Config, {
    log: (level, line, cause) => log.push(`${level} ${line} ${cause ?? ''}`),
    env: {},
    ...options.hooks,
  });
  const owner = (await readFile(join(dir, 'credential'), 'utf8')).trim();
  const as = (agent: string, space = 'default'): Record<string, string> => ({
    authorization: `Bearer ${owner}`,
    'x-sox-agent-id': agent,
    'x-sox-namespace': space,
  });
  const post = (operation: string, input: unknown, headers: Headers = {}): Promise<Reply> =>
    fetchReply(`${server.url}/v1/ops/${operation}`, {
      method: 'POST',
      headers,
      body: typeof input === 'string' ? input : JSON.stringify(input),
    });
  const answerTo = async (operation: string, input: unknown, headers: Headers): Promise<Json> => {
    const { status, body, text } = await post(operation, input, headers);
    if (status === 200) return body;
    throw new Error(`${operation} was refused with ${status}: ${text}`);
  };
  const ask = (agent: string, operation: string, input: unknown = {}, space?: string) =>
    answerTo(operation, input, as(agent, space));
  return {
    url: server.url,
    port: Number(new URL(server.url).port),
    dir,
    socketPath: server.socketPath ?? '',
    owner,
    log,
    as,
    ask,
    admin: (operation, input = {}, space = 'default') =>
      answerTo(operation, input, {
        authorization: `Bearer ${owner}`,
        'x-sox-namespace': space,
      }),
    post,
    async mark(space) {
      const { entries, head } = await ask('watcher', 'status', {}, space);
      return `${entries} ${head}`;
    },
    async close() {
      await server.close();
      if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
    },
  };
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Headers;
  readonly body?: string | Buffer;
  /** A Unix socket instead of the address in the URL. */
  readonly socketPath?: string;
}

/** One request on a connection of its own. Unlike fetch it sends any Host and Origin it is told to. */
export function fetchReply(url: string, asked: Asked = {}): Promise<Reply> {
  const { method = 'GET', headers = {}, body, socketPath } = asked;
  const present = Object.entries(headers).filter(([, value]) => value !== undefined);
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        agent: false,
        headers: Object.fromEntries(present) as Record<string, string>,
        ...(socketPath !== undefined && { socketPath }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = /^[[{]/.test(text);
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            body: isJson ? JSON.parse(text) : {},
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
