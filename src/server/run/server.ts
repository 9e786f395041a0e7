/**
 * The composition root: one process, one data directory, every door. It takes the
 * directory's lock before it touches anything in it, and says it is ready only when
 * every door is open.
 */

import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert } from '../../core/law/assert.ts';
import type { Hub } from '../../hub/hub.ts';
import { lockDirectory } from '../../log/lock.ts';
import { createMcpTools } from '../../wire/mcp/tools.ts';
import { operationList } from '../../wire/operations/table.ts';
import { createDesk } from '../desk/desk.ts';
import { createFailureReport } from '../desk/failure.ts';
import { createPace } from '../desk/pace.ts';
import { DEFAULT_SPACE } from '../desk/spaces.ts';
import { createFanOut } from '../doors/fan-out.ts';
import { createHostLimit } from '../doors/host-limit.ts';
import { createHttpDoor } from '../doors/http.ts';
import type { McpDoor } from '../doors/mcp/door.ts';
import { createOpsDoor } from '../doors/ops.ts';
import { createOriginCheck } from '../doors/origin-check.ts';
import { createPageDoor } from '../doors/page/door.ts';
import { createSseDoor } from '../doors/sse.ts';
import type { SynapseOptions } from '../doors/synapse/door.ts';
import { createWebSocketDoor } from '../doors/websocket.ts';
import { createHookDoor } from '../hooks/door.ts';
import type { WakeTimes } from '../hooks/hooks.ts';
import { openPluginHost } from '../plugins/host.ts';
import type { PluginRegistry } from '../plugins/registry.ts';
import { createSearch } from '../search/search.ts';
import type { HubBus } from './bus.ts';
import { realClock } from './clock.ts';
import { clusterOf } from './cluster-of.ts';
import type { Config } from './config.ts';
import { ensureSecret, secretPath } from './credential.ts';
import { requireDefaultSpace } from './default-space-only.ts';
import { createDoorServer } from './door-server.ts';
import { comers, faultRefusal, spaceSettings } from './from-config.ts';
import { heedCluster } from './heed-cluster.ts';
import { makeDirectory, writeHubFile } from './hub-dir.ts';
import { listen, listenAsLocalhost, openSocket, shut } from './listen.ts';
import type { NoticesOptions } from './notices.ts';
import { indexPathOf } from './open-log.ts';
import { openRecord } from './open-record.ts';
import { openSynapse } from './open-synapse.ts';
import { openHubPast } from './past.ts';
import { createPhone } from './phone.ts';
import { createPlatform } from './platform.ts';
import { openRelay } from './relay.ts';
import { publicShape } from './relay-line.ts';
import { synapseShape } from './relay-synapse.ts';
import type { ServerLog } from './server-log.ts';
import { openSpaces } from './spaces.ts';
import { readStoreSize } from './store-size.ts';
import { openHubTelemetry } from './telemetry.ts';
import { traceDesk } from './traced-desk.ts';
import { createHubTurns } from './turns.ts';
import { packageVersion } from './version.ts';
import { createVitals } from './vitals.ts';

/** From the sources and from what was built of them alike. */
const PAGE_DIR = fileURLToPath(new URL('../../../dist/web', import.meta.url));

export interface ServerHooks {
  readonly log?: ServerLog;
  /** Plugins of the program that embeds the hub. */
  readonly plugins?: PluginRegistry;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How often a WebSocket is asked whether its peer is there. */
  readonly pingMs?: number;
  /** How often an event stream says that it is there. */
  readonly keepaliveMs?: number;
  /** How long a reader that was cut off may take to read why. */
  readonly slowFarewellMs?: number;
  /** How long an answer may lie without a byte of it taken, for tests. */
  readonly unreadMs?: number;
  /** How often a sample is taken of how the hub is doing. */
  readonly vitalsMs?: number;
  /** How long the waking of idle agents waits, for tests. */
  readonly wake?: WakeTimes;
  /** How long notices gather and wait, for tests. */
  readonly notices?: Pick<NoticesOptions, 'gatherMs' | 'retryMs'>;
  /** Where the built page lies, for tests. */
  readonly pageDir?: string;
  /** How long after its opening a log is walked, for tests. */
  readonly verifyAfterMs?: number;
  /** How long the door for a phone stands unasked for, for tests. */
  readonly phoneMs?: number;
  /** Bounds and times of the Synapse door. */
  readonly synapse?: Partial<Omit<SynapseOptions, 'desk' | 'origins' | 'report' | 'hub' | 'token'>>;
}

export interface RunningServer {
  readonly url: string;
  readonly socketPath: string | null;
  /** `ws://…`, when the Synapse door is open. */
  readonly synapseUrl: string | null;
  /** The file with the token that the Synapse door asks for, when the hub made it. */
  readonly synapseTokenPath: string | null;
  /** The socket of the bus inside, when there is one. */
  readonly busPath: string | null;
  /** Has it read its config again; nothing without a bus. */
  reloadBus(): Promise<void>;
  readonly dir: string;
  readonly pid: number;
  close(): Promise<void>;
}

export async function startServer(config: Config, hooks: ServerHooks = {}): Promise<RunningServer> {
  const startedAt = performance.now();
  const log = hooks.log ?? (() => {});
  const vitals = createVitals(hooks.vitalsMs);
  const report = createFailureReport((line, cause) => {
    vitals.noteFailure();
    log('error', line, cause);
  }, randomUUID);
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
    const told = config.telemetry && (await openHubTelemetry(config.telemetry, version, log));
    closers.push(async () => told?.close());
    const telemetry = told?.telemetry ?? null;
    const record = openRecord(config, log, report, hooks.verifyAfterMs);
    closers.push(() => record.close());
    const cluster = await clusterOf(config, version, report, (line) => log('warn', line));
    closers.push(() => cluster?.close());
    requireDefaultSpace(config, cluster);
    const spaces = await openSpaces({
      record,
      store: config.store,
      dir: config.dir,
      clock: realClock,
      settings: spaceSettings(config),
      typedChannels: config.settings.typedChannels,
      named: (config.agents ?? []).flatMap(({ namespace }) => namespace ?? []),
      onTrouble: report,
      cluster,
      onAppended: vitals.noteAppend,
    });
    closers.push(() => spaces.close());

    const credential = await ensureSecret(config.dir, 'owner');
    let bus: HubBus | null = null;
    const past = openHubPast({ store: config.store, dir: config.dir, spaces, report });
    closers.push(() => past.close());
    const search = createSearch({
      pathOf: (space) => indexPathOf(config.store, config.dir, space),
      onTrouble: (what, cause) => log('error', what, cause),
    });
    closers.push(() => search.close());
    spaces.onOpened((hub) => search.follow(hub));
    spaces.onRemoved((space) => search.forget(space));
    spaces.onRested((space) => search.forget(space));
    const platform = createPlatform(() => turns, {
      ...{ vitals, past, record: record.view, search, cluster },
      phone: { open: (wish) => phone.open(wish), close: () => phone.close() },
    });
    const turns = createHubTurns({
      ...{ dir: config.dir, roots: config.turns.roots, spaces },
      named: new Map(Object.entries(config.turns.runners)),
      agents: (config.agents ?? []).flatMap(({ managed, ...agent }) =>
        managed === undefined ? [] : { ...agent, managed },
      ),
      env: hooks.env ?? process.env,
      ...{ telemetry, servers: cluster ?? null },
      ...{ newSecret: platform.newSecret, digest: platform.digest },
      warn: (line) => log('warn', line),
      onFailure: report,
    });
    const plugins: string[] = [];
    let pageUrl = '';
    const parts = createDesk({
      identity: {
        mode: config.auth,
        ownerCredential: credential,
        agents: comers(config.agents),
      },
      spaces,
      about: {
        ...{ version, startedAt, plugins, heartbeatTtl: config.settings.heartbeatTtl },
        pageUrl: () => pageUrl,
      },
      nodeId: randomUUID(),
      callsPerSecond: config.settings.rateLimit,
      fault: config.faultInject && faultRefusal(config.faultInject),
      isStoreOk: () => spaces.isStoreOk(),
      report,
      platform,
    });
    spaces.onOpened(parts.attend);
    if (cluster !== undefined) {
      const unusedMs = config.closeUnusedAfterMs;
      closers.push(heedCluster({ cluster, spaces, unusedMs, clock: realClock, uses: parts.uses }));
    }
    const openHubs = (): Hub[] => spaces.list().flatMap(({ name }) => spaces.find(name) ?? []);
    const connections = () => ({ websocket: websocket.size, sse: sse.size });
    const metrics =
      config.metrics &&
      (await (
        await import('../doors/metrics.ts')
      ).createMetrics(parts.desk, {
        ...{ hubs: openHubs, connections },
        slowReaders: () => websocket.slowReaders + sse.slowReaders,
        more: async () => ((await bus?.readMetrics()) ?? '') + (cluster?.metrics() ?? ''),
      }));
    const counted = vitals.count(metrics?.desk ?? parts.desk);
    const pace = createPace();
    const fanOut = createFanOut(pace);
    const desk = pace.paced(telemetry === null ? counted : traceDesk(counted, telemetry));
    const host = await openPluginHost({
      builtins: parts.builtins,
      cwd: config.plugins.from ?? config.dir,
      env: hooks.env ?? process.env,
      allow: config.plugins.allow,
      discover: config.plugins.from !== null,
      skipMismatched: config.plugins.skipMismatched,
      registry: hooks.plugins,
      log,
    });
    closers.push(() => host.close());
    parts.usePlugins(host);
    plugins.push(...host.order);

    for (const [to, shape] of [
      [config.relay, publicShape],
      [config.synapseRelay, synapseShape],
    ] as const) {
      if (to === null) continue;
      const hub = spaceOf(spaces.find(DEFAULT_SPACE));
      const relay = await openRelay({ ...to, shape, hub, nodeId: desk.nodeId, log });
      closers.push(() => relay.close());
    }

    if (config.mirror !== null) {
      const { openMirrors } = await import('./mirrors.ts');
      const mirrors = openMirrors(config.mirror, spaces, log);
      closers.push(() => mirrors.close());
    }

    if (config.notices !== null) {
      const { openNotices } = await import('./notices.ts');
      const env = hooks.env ?? process.env;
      const notices = openNotices({ ...config.notices, ...hooks.notices, spaces, log, env });
      closers.push(() => notices.close());
    }

    if (config.bus !== null) {
      const { openHubBus } = await import('./bus.ts');
      const hub = spaceOf(spaces.find(DEFAULT_SPACE));
      const env = hooks.env ?? process.env;
      bus = await openHubBus({ path: config.bus, dir: config.dir, hub, env, log });
      closers.push(() => bus?.close());
    }
    const busPath = bus?.socketPath ?? null;

    const origins = createOriginCheck({
      allowedHosts: [config.host, ...config.allowedHosts],
      corsOrigins: config.corsOrigins,
    });
    // Most hubs are asked by other doors first; the MCP SDK is loaded when somebody speaks it.
    let mcp: Promise<McpDoor> | null = null;
    const openMcp = async (): Promise<McpDoor> => {
      const { createMcpDoor } = await import('../doors/mcp/door.ts');
      return createMcpDoor({
        desk,
        tools: createMcpTools(operationList),
        version,
        follow: (space, listener) =>
          spaces.find(space)?.watch.events((_world, _first, events) => listener(events)) ?? null,
        onRemoved: (listener) => void spaces.onRemoved(listener),
        onError: (cause) => log('warn', 'an MCP exchange failed', cause),
        report,
      });
    };
    const warn = (line: string): void => log('warn', line);
    const hookDoor = createHookDoor({
      ...{ desk, spaces, dir: config.dir, env: hooks.env ?? process.env, wake: hooks.wake },
      ...{ warn, report },
    });
    closers.push(() => hookDoor.close());
    const page = createPageDoor({ desk, dir: hooks.pageDir ?? PAGE_DIR });
    const http = createHttpDoor({
      ...{ desk, origins, report, version, credential },
      hooks: hookDoor.handle,
      page,
      async mcp(...visit) {
        mcp ??= openMcp();
        return (await mcp).handle(...visit);
      },
      metrics: metrics && { token: config.metrics?.token ?? null, read: metrics.read },
    });
    const ops = createOpsDoor({ desk, origins, report });
    const { slowFarewellMs, keepaliveMs, pingMs } = hooks;
    const onCutOff = vitals.cutOffs(warn);
    const toMany = { desk, origins, report, onCutOff, fanOut, slowFarewellMs };
    const sse = createSseDoor({ ...toMany, keepaliveMs });
    const hostLimit = createHostLimit(config.hostRateLimit);
    const websocket = createWebSocketDoor({ ...toMany, hostLimit, pingMs });

    vitals.begin({
      ...{ hubs: openHubs, connections, bus: () => bus?.bus ?? null },
      store: (space) => readStoreSize(config.store, config.dir, space),
    });
    closers.push(() => vitals.close());

    const phone = createPhone({
      ...{ desk, page, version, hostLimit, report, onCutOff, fanOut, phoneMs: hooks.phoneMs },
      ...{ dir: config.dir, port: () => port },
    });
    closers.push(async () => void (await phone.close()));

    const doors = { http, ops, sse, websocket, hostLimit, unreadMs: hooks.unreadMs };
    const openDoor = (isOwnerSocket: boolean): Server => createDoorServer(doors, isOwnerSocket);

    const tcp = openDoor(false);
    await listen(tcp, { host: config.host, port: config.port });
    closers.push(() => shut(tcp));
    const at = tcp.address() as AddressInfo;
    const { port } = at;
    const twin = openDoor(false);
    const isLocalhost = await listenAsLocalhost(twin, at, warn);
    closers.push(() => shut(twin));
    const socketPath = config.isSocketOn
      ? await openSocket(openDoor(true), config.dir, closers, log)
      : null;
    const { synapse } = config;
    const isTokenOurs = synapse?.auth === 'token' && synapse.token === null;
    const synapseToken = isTokenOurs
      ? await ensureSecret(config.dir, 'synapse')
      : (synapse?.token ?? null);
    const synapsePort =
      config.synapse === null
        ? null
        : await openSynapse(config.host, config.synapse, closers, {
            ...{ hostLimit, desk, origins, report, onCutOff, fanOut, token: synapseToken },
            hub: spaceOf(spaces.find(DEFAULT_SPACE)),
            ...config.synapse.limits,
            ...hooks.synapse,
          });
    // These end before the servers are shut, or the servers would wait for them.
    closers.push(async () => (await mcp)?.close());
    closers.push(() => websocket.close());
    closers.push(() => sse.close());
    closers.push(() => spaces.endWaits());
    closers.push(() => hookDoor.endWaits());

    const shown = config.host.includes(':') ? `[${config.host}]` : config.host;
    const url = `http://${shown}:${port}`;
    pageUrl = isLocalhost ? `http://localhost:${port}` : url;
    cluster?.announce(url);
    const synapseUrl = synapsePort === null ? null : `ws://${shown}:${synapsePort}`;
    await writeHubFile(config.dir, {
      url,
      socket: socketPath,
      ...(synapseUrl !== null && { synapse: synapseUrl }),
      ...(busPath !== null && { bus: busPath }),
      pid: process.pid,
      since: new Date().toISOString(),
      version,
    });
    closers.push(() => rm(join(config.dir, 'hub.json'), { force: true }));
    hookDoor.prepare();
    closers.push(() => turns.close());
    await turns.start({ desk, url, bus: () => bus?.bus ?? null });
    const reloadBus = async (): Promise<void> => bus?.reload();
    return {
      ...{ url, socketPath, synapseUrl, busPath, reloadBus },
      synapseTokenPath: isTokenOurs ? secretPath(config.dir, 'synapse') : null,
      ...{ dir: config.dir, pid: process.pid, close: closeAll },
    };
  } catch (cause) {
    await closeAll();
    throw cause;
  }
}

/** The default space is opened before any door, where one was wanted in it. */
function spaceOf(hub: Hub | null): Hub {
  assert(hub !== null, 'the default space is open');
  return hub;
}
