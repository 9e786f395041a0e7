/**
 * A bus as a program runs it: config in, workers up, one door open, until a signal or the end of
 * input. SIGTERM and SIGINT drain, a second one ends it now [BD10]; SIGHUP takes a new config, and
 * one that cannot be used changes nothing [BD11]. It ends when every worker is gone.
 */
import { openWorker } from '../process/open-worker.ts';
import { createGate, TOKEN_CHARS_MIN } from './auth.ts';
import type { Bus, BusLogLine } from './bus.ts';
import type { BusConfig } from './config.ts';
import { createBus } from './create-bus.ts';
import { type Door, openStdio, type StdioOptions } from './door.ts';
import { type ListenAddress, openListener } from './listen.ts';
import { ListenError, type TcpAddress } from './listen-address.ts';
import { openMetrics } from './metrics.ts';
import type { ConfigSource } from './read-config.ts';
import { reloadFrom } from './reload-config.ts';
import { type BusSignals, catchSignals } from './signals.ts';
import { workerSpecOf } from './worker-spec.ts';

export interface ServeBusOptions extends Omit<StdioOptions, 'bus'> {
  readonly door: 'stdio' | ListenAddress;
  readonly onLog: (line: BusLogLine) => void;
  readonly config: BusConfig;
  /** Where the config came from: read again at SIGHUP. */
  readonly source: ConfigSource;
  readonly metrics: TcpAddress | null;
  /** A token that lets in over TCP, beside those of the config. */
  readonly token: string | null;
  /** What the workers' environments are taken from. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What every pool takes over of it, beside what the pool names. */
  readonly envAllow: readonly string[];
}

/** What a bus gets that was told twice to stop. */
const HURRY_MS = 1_000;

/** Runs until it is told to stop; ends when everything is delivered and every worker is gone. */
export async function serveBus(options: ServeBusOptions): Promise<BusEnd> {
  const { onLog, token } = options;
  const log: Log = (level, text) => onLog({ level, text });
  if (token !== null && token.length < TOKEN_CHARS_MIN) {
    throw new ListenError(
      'bus.address',
      `SYNOD_BUS_TOKEN must have at least ${TOKEN_CHARS_MIN} characters; make one with: openssl rand -hex 32`,
    );
  }
  const bus = createBus({
    config: options.config,
    openWorker(pool, index, events, limits) {
      const own = { ...pool, envAllow: [...pool.envAllow, ...options.envAllow] };
      return openWorker(workerSpecOf(own, limits, options.environment), index, events);
    },
    onLog,
    onClient: (label, event) => log('debug', `[client=${label}] ${event}`),
    isPrivate: options.door === 'stdio',
  });
  const gate = createGate(() => bus.config.clients, token);
  const signals = catchSignals();
  const opened: { close(): Promise<void> }[] = [];
  let end: BusEnd = 'drained';
  try {
    if (options.metrics !== null) {
      const metrics = await openMetrics(bus, options.metrics);
      opened.push(metrics);
      log('info', `metrics at ${metrics.url}`);
    }
    // The address is taken before any worker is started: one that is in use then costs nothing.
    const listener =
      options.door === 'stdio'
        ? null
        : await openListener({ ...options, bus, gate, address: options.door });
    const starting = bus.start().then(() => 'started');
    const door = listener ?? openStdio({ ...options, bus });
    opened.unshift(door);
    if ((await Promise.race([starting, signals.stop])) === 'started') {
      signals.reloadWith(() => reloadFrom({ bus, door, source: options.source, log }));
      log('info', `ready on ${door.address}`);
      end = await run(bus, door, signals, log);
    } else starting.catch(() => {});
  } finally {
    signals.reloadWith(null);
    if (end === 'drained') {
      await bus.stop(0);
      for (const each of opened) await each.close();
    }
    signals.release();
  }
  log('info', end === 'drained' ? 'stopped' : 'stopped before everything was answered');
  return end;
}

/** `cut`: a second signal ended it, and what is left ends with the process. */
export type BusEnd = 'drained' | 'cut';

type Log = (level: BusLogLine['level'], text: string) => void;

async function run(bus: Bus, door: Door, signals: BusSignals, log: Log): Promise<BusEnd> {
  const why = await Promise.race([signals.stop, door.ended]);
  signals.reloadWith(null);
  door.stopAccepting();
  log('info', `${why}: draining`);
  const drained = bus.stop().then((): BusEnd => 'drained');
  // After the end of input a signal may still come.
  const impatient = why.startsWith('SIG') ? signals.again : signals.stop;
  const hurried = impatient.then(async (signal): Promise<BusEnd> => {
    log('warn', `${signal}: stopping now`);
    const late = new Promise<BusEnd>((resolve) => setTimeout(resolve, HURRY_MS, 'cut').unref());
    return Promise.race([bus.stop(0).then((): BusEnd => 'drained'), late]);
  });
  return Promise.race([drained, hurried]);
}
