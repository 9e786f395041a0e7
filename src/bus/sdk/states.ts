/** The words of the SDK that are numbers or names: states, backends, listeners, counters. */
import type { BusCounts } from '../router/bus.ts';

export const BusState = { CREATED: 0, STARTING: 1, RUNNING: 2, STOPPING: 3, STOPPED: 4 } as const;
export type BusStateName = keyof typeof BusState;
export type BusState = (typeof BusState)[BusStateName];

export const BUS_STATE_NAMES: readonly BusStateName[] = Object.keys(BusState) as BusStateName[];

/** `NATIVE` is the reference's word for `EMBEDDED`. */
export const BackendMode = {
  AUTO: 'auto',
  EMBEDDED: 'embedded',
  NATIVE: 'native',
  SUBPROCESS: 'subprocess',
  SOCKET: 'socket',
  DOCKER: 'docker',
} as const;
export type BackendMode = (typeof BackendMode)[keyof typeof BackendMode];

export type BackendType = 'embedded' | 'subprocess' | 'socket' | 'docker';

export const ListenMode = { NONE: 'none', TCP: 'tcp', UNIX: 'unix' } as const;
export type ListenMode = (typeof ListenMode)[keyof typeof ListenMode];

/** What a subscriber's full queue does: `drop` the newest, or `close` the subscription. */
export const OverflowPolicy = { DROP: 'drop', CLOSE: 'close' } as const;
export type OverflowPolicy = (typeof OverflowPolicy)[keyof typeof OverflowPolicy];

/** What is at the other end: our bus, or one that forwards every `stdio_bus/…` to a worker. */
export const Dialect = ['synod', 'stdio_bus'] as const;
export type Dialect = (typeof Dialect)[number];

/** Stands for a number that this side cannot know. */
export const UNKNOWN_COUNT = -1;

/** In is toward workers, out is toward clients. */
export interface StdioBusStats {
  readonly messagesIn: number;
  readonly messagesOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly workerRestarts: number;
  readonly routingErrors: number;
  readonly clientConnects: number;
  readonly clientDisconnects: number;
}

export type StdioBusCounts = BusCounts;
