/**
 * The composition root: one process, one data directory, every door. It takes the
 * directory's lock before it touches anything in it, and says it is ready only when
 * every door is open.
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { type Refusal, refuse } from '../core/decider.ts';
import { createDesk } from '../desk/desk.ts';
import { unavailable } from '../log/disk.ts';
import { lockDirectory } from '../log/lock.ts';
import { openPluginHost } from '../plugin/host.ts';
import type { PluginRegistry } from '../plugin/registry.ts';
import { createGuard } from '../transport/guard.ts';
import { createHttpDoor } from '../transport/http.ts';
import { createMcpDoor } from '../transport/mcp/door.ts';
import { createMcpTools, DEFAULT_TOOLSET } from '../transport/mcp/tools.ts';
import { createSseDoor } from '../transport/sse.ts';
import { createWebSocketDoor } from '../transport/websocket.ts';
import { operationList } from '../wire/operations/table.ts';
import { realClock } from './clock.ts';
import type { Config } from './config.ts';
import type { FaultCode } from './config-file.ts';
import { ensureCredential } from './credential.ts';
import { openSpaces } from './spaces.ts';
import { packageVersion } from './version.ts';

export type ServerLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  line: string,
  cause?: unknown,
) => void;

export interface ServerHooks {
  readonly log?: ServerLog;
  /** Plugins of the program that embeds the hub. */
  readonly plugins?: PluginRegistry;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where plugins are looked for. */
  readonly cwd?: string;
  /** How often a WebSocket is asked whether its peer is there. */
  readonly pingMs?: number;
  /** How often an event stream says that it is there. */
  readonly keepaliveMs?: number;
}

export interface RunningServer {
  readonly url: string;
  readonly socketPath: string | null;
  readonly dir: string;
  readonly pid: number;
  close(): Promise<void>;
}

/** Longer names do not fit into a socket address everywhere. */
const SOCKET_PATH_BYTES_MAX = 100;

export async function startServer(config: Config, hooks: ServerHooks = {}): Promise<RunningServer> {
  const startedAt = performance.now();
  const log = hooks.log ?? (() => {});
  const closers: (() => void | Promise<void>)[] = [];
  // Closing runs backwards through what was opened, also when opening failed half way.
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    await makeDirectory(config.dir);
    const lock = lockDirectory(config.dir);
    closers.push(() => lock.release());
    const version = packageVersion();
    const spaces = await openSpaces({
      store: config.store,
      dir: config.dir,
      clock: realClock,
      settings: spaceSettings(config),
      typedChannels: config.settings.typedChannels,
      named: (config.agents ?? []).flatMap(({ namespace }) => namespace ?? []),
      onTrouble: (what, cause) => log('error', what, cause),
    });
    closers.push(() => spaces.close());

    const plugins: string[] = [];
    const parts = createDesk({
      identity: {
        mode: config.auth,
        ownerCredential: await ensureCredential(config.dir),
        agents:
          config.agents &&
          new Map(config.agents.map(({ id, namespace }) => [id, namespace ?? null])),
      },
      spaces,
      about: { version, startedAt, plugins, heartbeatTtl: config.settings.heartbeatTtl },
      nodeId: randomUUID(),
      callsPerSecond: config.settings.rateLimit,
      fault: config.faultInject && faultRefusal(config.faultInject),
      isStoreOk: () => spaces.isStoreOk(),
      onTrouble: (what, cause) => log('error', what, cause),
    });
    const { desk } = parts;
    const host = await openPluginHost({
      builtins: parts.builtins,
      cwd: hooks.cwd ?? process.cwd(),
      env: hooks.env ?? process.env,
      allow: config.plugins.allow,
      discover: config.plugins.discover,
      skipMismatched: config.plugins.skipMismatched,
      registry: hooks.plugins,
      log,
    });
    closers.push(() => host.close());
    parts.usePlugins(host);
    plugins.push(...host.order);

    const guard = createGuard({
      allowedHosts: [config.host, ...config.allowedHosts],
      corsOrigins: config.corsOrigins,
    });
    const mcp = createMcpDoor({
      desk,
      tools: createMcpTools(operationList),
      version,
      onError: (cause) => log('warn', 'an MCP exchange failed', cause),
    });
    const http = createHttpDoor({
      desk,
      guard,
      version,
      mcp: (request, caller, toolset) => mcp.handle(request, caller, toolset ?? DEFAULT_TOOLSET),
    });
    const sse = createSseDoor(desk, guard, hooks);
    const websocket = createWebSocketDoor(desk, guard, hooks);

    const openDoor = (isOwnerSocket: boolean): Server => {
      const listener = getRequestListener((request) => http(request, isOwnerSocket));
      const route: RequestListener = (request, response) => {
        if (/^\/v1\/stream(\?|$)/.test(request.url ?? '') && request.method === 'GET') {
          sse.handle(request, response, isOwnerSocket).catch((cause) => {
            log('error', 'a stream failed', cause);
            response.destroy();
          });
        } else void listener(request, response);
      };
      const server = createServer(
        {
          headersTimeout: 10_000,
          keepAliveTimeout: 65_000,
          // Some clients offer HTTP/2 with every request; they are answered in what we speak.
          shouldUpgradeCallback: ({ headers }) => /^websocket$/i.test(headers.upgrade ?? ''),
        },
        route,
      );
      server.on('upgrade', (request, socket, head) => {
        websocket.upgrade(request, socket, head, isOwnerSocket);
      });
      server.on('clientError', (_, socket) => {
        const answer = 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n';
        if (socket.writable) socket.end(answer, () => socket.destroy());
        else socket.destroy();
      });
      return server;
    };

    const tcp = openDoor(false);
    await listen(tcp, { host: config.host, port: config.port });
    closers.push(() => shut(tcp));
    const socketPath = config.isSocketOn
      ? await openSocket(openDoor(true), config.dir, closers, log)
      : null;
    // These end before the servers are shut, or the servers would wait for them.
    closers.push(() => mcp.close());
    closers.push(() => websocket.close());
    closers.push(() => sse.close());

    const { port } = tcp.address() as AddressInfo;
    const shown = config.host.includes(':') ? `[${config.host}]` : config.host;
    const url = `http://${shown}:${port}`;
    await writeHubFile(config.dir, {
      url,
      socket: socketPath,
      pid: process.pid,
      since: new Date().toISOString(),
      version,
    });
    closers.push(() => rm(join(config.dir, 'hub.json'), { force: true }));
    return { url, socketPath, dir: config.dir, pid: process.pid, close: closeAll };
  } catch (cause) {
    await closeAll();
    throw cause;
  }
}

async function makeDirectory(dir: string): Promise<void> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unavailable(dir, 'make the data directory', cause);
  }
}

function spaceSettings({ settings }: Config): Parameters<typeof openSpaces>[0]['settings'] {
  const { backpressureMode, queueLimit, idempotencyTtlMs } = settings;
  return {
    ...(backpressureMode !== null && { backpressureMode }),
    ...(queueLimit !== null && { queueLimit }),
    ...(idempotencyTtlMs !== null && { idempotencyTtlMs }),
  };
}

/** What SOX's `fault_inject` makes every operation answer. */
function faultRefusal(fault: FaultCode): Refusal {
  const message = `injected by fault_inject: ${fault}`;
  switch (fault) {
    case 'store_unavailable':
      return refuse('store.unavailable', message);
    case 'internal_error':
      return refuse('internal', message);
    case 'rate_limited':
      return { ...refuse('rate.limited', message), retryAt: Date.now() + 1000 };
  }
}

async function openSocket(
  server: Server,
  dir: string,
  closers: (() => void | Promise<void>)[],
  log: ServerLog,
): Promise<string | null> {
  const path = join(dir, 'hub.sock');
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) {
    log('warn', `no Unix socket: ${path} is too long a name for one; the TCP door is open`);
    return null;
  }
  // We hold the directory's lock, so a socket file that is there was left by a dead hub.
  await rm(path, { force: true });
  await listen(server, { path });
  await chmod(path, 0o600);
  closers.push(async () => {
    await shut(server);
    await rm(path, { force: true });
  });
  return path;
}

function listen(
  server: Server,
  where: { host: string; port: number } | { path: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // A socket file is made under a closed umask: nobody may connect before its mode is set.
    const before = process.umask(0o177);
    server.listen(where, () => {
      server.off('error', reject);
      resolve();
    });
    process.umask(before);
  });
}

function shut(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    // Long waits are ended by their doors; whatever is left after a moment is cut.
    setTimeout(() => server.closeAllConnections(), 500).unref();
  });
}

async function writeHubFile(dir: string, value: object): Promise<void> {
  const path = join(dir, 'hub.json');
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, `${JSON.stringify(value)}\n`, { mode: 0o600 });
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true });
    throw unavailable(path, 'write', cause);
  }
}
