/**
 * The bus in this very process: no socket, no copy, and counters that are simply read. Workers are
 * processes, as everywhere, or functions of this program. With a listener other clients come in too.
 */

import type { ByteLine } from '../process/byte-line.ts';
import { openWorker } from '../process/open-worker.ts';
import { createGate } from '../router/auth.ts';
import type { Bus } from '../router/bus.ts';
import { createBus } from '../router/create-bus.ts';
import type { Door } from '../router/door.ts';
import { openListener } from '../router/listen.ts';
import type { ParsedBusConfig } from '../router/parse-config.ts';
import type { Attachment, Peer } from '../router/peer.ts';
import { readBusConfig } from '../router/read-config.ts';
import { workerSpecOf } from '../router/worker-spec.ts';
import type { Backend, BackendEvents, BackendLook } from './backend.ts';
import type { BusDocument } from './bus-document.ts';
import { InvalidArgumentError, TransportError, UnavailableError } from './errors.ts';
import { openFunctionWorker, type WorkerFunction } from './function-worker.ts';
import type { EmbeddedOptions } from './options.ts';
import { type ListenMode, type StdioBusStats, UNKNOWN_COUNT } from './states.ts';

export interface EmbeddedSource {
  /** The config, or where it lies. */
  readonly config: BusDocument | { readonly path: string };
  readonly options: EmbeddedOptions;
}

/** A bus that somebody else runs in this process: joined and left, never started or stopped. */
export interface RunningBus {
  readonly bus: Bus;
}

const HURRY_MS = 0;

export class EmbeddedBackend implements Backend {
  readonly type = 'embedded';
  readonly dialect = 'synod';
  readonly listenMode: ListenMode;
  private readonly source: EmbeddedSource | RunningBus;
  private bus: Bus | null = null;
  private attachment: Attachment | null = null;
  private listener: Door | null = null;
  private events: BackendEvents | null = null;
  private arrived: ByteLine[] = [];
  private arrivedBytes = 0;
  private waiting: ByteLine[] = [];
  private waitingBytes = 0;
  private isReading = true;
  private isCatchingUp = false;
  private isOver = false;

  constructor(source: EmbeddedSource | RunningBus) {
    this.source = source;
    this.listenMode = 'bus' in source ? 'none' : (source.options.listenMode ?? 'none');
  }

  get queuedBytes(): number {
    return this.waitingBytes;
  }

  get messageBytesMax(): number | null {
    return this.bus?.config.limits.messageBytesMax ?? null;
  }

  async open(events: BackendEvents): Promise<void> {
    this.events = events;
    const bus = 'bus' in this.source ? this.source.bus : await this.begin(this.source, events);
    this.bus = bus;
    this.attachment = bus.attach(this.peer());
    if (this.attachment === null) {
      throw new UnavailableError('the bus lets no client in: raise limits.max_clients');
    }
  }

  private async begin(source: EmbeddedSource, events: BackendEvents): Promise<Bus> {
    const { config, options } = source;
    const functions: ReadonlyMap<string, WorkerFunction> =
      'path' in config ? new Map() : config.functions;
    const parsed = 'path' in config ? await readFile(config) : config.parsed;
    for (const warning of parsed.warnings) events.onWarning(`the config: ${warning}`);
    const bus = createBus({
      config: parsed,
      openWorker: (pool, index, workerEvents, limits) => {
        const run = functions.get(pool.id);
        return run === undefined
          ? openWorker(workerSpecOf(pool, limits, process.env), index, workerEvents)
          : openFunctionWorker(pool.id, index, run, workerEvents);
      },
      onLog: ({ level, text }) => events.onLog(level, text),
      isPrivate: this.listenMode === 'none',
    });
    this.bus = bus;
    try {
      // The address first: one that is taken must not cost the start of every worker.
      this.listener = await this.listen(bus, options);
      await bus.start();
    } catch (cause) {
      this.isOver = true;
      await this.listener?.close();
      throw new UnavailableError((cause as Error).message, { cause });
    }
    return bus;
  }

  send(line: ByteLine): boolean {
    if (this.attachment === null || this.isOver) return false;
    if (this.isReading && this.waiting.length === 0) this.attachment.receive(line);
    else {
      this.waiting.push(line);
      this.waitingBytes += line.length;
    }
    return true;
  }

  async stop(timeoutMs: number): Promise<void> {
    if ('bus' in this.source) return this.leave();
    this.listener?.stopAccepting();
    await this.bus?.stop(timeoutMs);
    this.deliver();
    await this.listener?.close();
    this.isOver = true;
  }

  destroy(): void {
    if ('bus' in this.source) return this.leave();
    this.isOver = true;
    this.listener?.stopAccepting();
    // Ends by itself: the workers are told to go now, and are made to within their grace.
    void this.bus?.stop(HURRY_MS).finally(() => this.listener?.close());
  }

  private leave(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.attachment?.closed('closed');
  }

  look(): BackendLook | null {
    if (this.bus === null) return null;
    const stats = this.bus.stats();
    return { stats: camelStats({ ...stats }), counts: this.bus.counts() };
  }

  stderrTail(): readonly string[] {
    return [];
  }

  private async listen(bus: Bus, options: EmbeddedOptions): Promise<Door | null> {
    const { listenMode = 'none', tcpHost = '127.0.0.1', tcpPort, unixPath, token } = options;
    if (listenMode === 'none') return null;
    const address =
      listenMode === 'unix'
        ? { path: unixPath as string }
        : { host: tcpHost, port: tcpPort as number };
    const gate = createGate(() => bus.config.clients, token ?? null);
    const { framing } = bus.config.transport;
    return openListener({
      ...{ bus, address, framing, gate },
      onLog: ({ level, text }) => this.events?.onLog(level, text),
    });
  }

  private peer(): Peer {
    const self = this;
    return {
      label: 'embedded',
      identity: null,
      send: (line) => this.arrive(line),
      get queuedBytes() {
        return self.arrivedBytes;
      },
      setReading: (isOn) => this.setReading(isOn),
      close: (reason) => {
        this.deliver();
        this.attachment?.closed(reason);
        if (this.isOver || this.bus?.state === 'stopping') return;
        this.isOver = true;
        this.events?.onDown(new TransportError(`the bus closed the line (${reason})`), false);
      },
    };
  }

  private arrive(line: ByteLine): void {
    this.arrived.push(line);
    this.arrivedBytes += line.length;
    // What the router says in one go is heard in one go, and never from inside our own call.
    if (this.arrived.length === 1) queueMicrotask(() => this.deliver());
  }

  private deliver(): void {
    if (this.arrived.length === 0) return;
    const lines = this.arrived;
    this.arrived = [];
    this.arrivedBytes = 0;
    this.events?.onLines(lines);
    this.attachment?.drained();
  }

  private setReading(isOn: boolean): void {
    this.isReading = isOn;
    // The router may change its mind at every line it takes.
    if (this.isCatchingUp) return;
    this.isCatchingUp = true;
    let taken = 0;
    while (this.isReading && taken < this.waiting.length) {
      const line = this.waiting[taken++] as ByteLine;
      this.waitingBytes -= line.length;
      this.attachment?.receive(line);
    }
    this.waiting.splice(0, taken);
    this.isCatchingUp = false;
  }
}

async function readFile(source: { readonly path: string }): Promise<ParsedBusConfig> {
  try {
    return await readBusConfig(source);
  } catch (cause) {
    throw new InvalidArgumentError((cause as Error).message, { cause });
  }
}

const STAT_NAMES: Readonly<Record<keyof StdioBusStats, string>> = {
  messagesIn: 'messages_in',
  messagesOut: 'messages_out',
  bytesIn: 'bytes_in',
  bytesOut: 'bytes_out',
  workerRestarts: 'worker_restarts',
  routingErrors: 'routing_errors',
  clientConnects: 'client_connects',
  clientDisconnects: 'client_disconnects',
};

/** The wire's names in ours; what is not there is not known. */
export function camelStats(said: Readonly<Record<string, unknown>>): StdioBusStats {
  const entries = Object.entries(STAT_NAMES).map(([name, wire]) => [name, numberOf(said[wire])]);
  return Object.fromEntries(entries) as Record<keyof StdioBusStats, number>;
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : UNKNOWN_COUNT;
}
