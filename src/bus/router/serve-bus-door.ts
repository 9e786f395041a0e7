/**
 * The one door of a running bus, whichever it is. The address is taken before any worker is started,
 * so that one somebody else has costs nothing; what clients ask meanwhile waits in the bus.
 */
import type { Readable, Writable } from 'node:stream';
import type { Gate } from './auth.ts';
import type { Bus, BusLogLine } from './bus.ts';
import type { KnownClient, TransportConfig } from './config.ts';
import { type ListenAddress, openListener } from './listen.ts';
import { openStdio, type StdioDoor } from './stdio.ts';

export interface DoorOptions {
  readonly bus: Bus;
  readonly door: 'stdio' | ListenAddress;
  readonly framing: TransportConfig['framing'];
  readonly gate: Gate;
  readonly input: Readable;
  readonly output: Writable;
  readonly onLog: (line: BusLogLine) => void;
}

export interface Door {
  readonly where: string;
  /** Settles, with why, when the door itself wants the bus to end. */
  readonly ended: Promise<string>;
  /** The bus is starting: clients may come in. */
  admit(): void;
  stopAccepting(): void;
  objection(clients: readonly KnownClient[]): string | null;
  recheck(): void;
  close(): Promise<void>;
}

export async function openDoor(options: DoorOptions): Promise<Door> {
  const { bus, door: asked, framing, gate, onLog } = options;
  if (asked !== 'stdio') {
    const listener = await openListener({ bus, address: asked, framing, gate, onLog });
    const never = new Promise<string>(() => {});
    return {
      where: listener.address,
      ended: never,
      admit() {},
      stopAccepting: () => listener.stopAccepting(),
      objection: (clients) => listener.objection(clients),
      recheck: () => listener.recheck(),
      close: () => listener.close(),
    };
  }
  const { promise, resolve } = Promise.withResolvers<string>();
  let stdio: StdioDoor | null = null;
  return {
    where: 'stdio',
    ended: promise,
    admit() {
      stdio = openStdio({ bus, framing, input: options.input, output: options.output });
      void stdio.ended.then((why) =>
        resolve(why === 'end of input' ? why : `the client is gone (${why})`),
      );
    },
    stopAccepting() {},
    objection: () => null,
    recheck() {},
    async close() {
      await stdio?.close();
    },
  };
}
