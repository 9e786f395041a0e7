/**
 * A hub with every door open, in this process and in a directory of its own, and the plainest way
 * to ask it something: one HTTP request, the answer as it came. Closing removes the directory.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, parseConfig } from '../../src/server/run/config.ts';
import { startServer } from '../../src/server/run/server.ts';
import { isForCluster, openRunningCluster } from '../cluster/running-cluster.ts';
import type { Headers, HubOptions, Json, Reply, RunningHub } from './running-hub-types.ts';

export type { Headers, HubOptions, Json, Reply, RunningHub } from './running-hub-types.ts';

/** One hub; in `npm run test:cluster` three that pass for one. */
export async function openRunningHub(options: HubOptions = {}): Promise<RunningHub> {
  return isForCluster(options) ? openRunningCluster(options, openOne) : openOne(options);
}

async function openOne(options: HubOptions): Promise<RunningHub> {
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
  const { store, serverName } = config as Config;
  if (store?.startsWith('nats:') && serverName !== null)
    await (await import('../nats/enrol.ts')).enrol(store, dir, serverName);
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
