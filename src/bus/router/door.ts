/**
 * A door: where clients come in. `listen.ts` opens the one for many clients; here is the one for a
 * single client, our own stdin and stdout. When either ends, the client wants nothing more: the bus
 * finishes what it has, delivers it as far as it is read, and ends [BD8].
 */
import type { Readable, Writable } from 'node:stream';
import type { Bus } from './bus.ts';
import type { KnownClient, TransportConfig } from './config.ts';
import { openConnection } from './connection.ts';

export interface Door {
  /** Where it is reached: the path, host and port, or `stdio`. */
  readonly address: string;
  /** Settles, with the reason, when the door itself wants the bus to end. */
  readonly ended: Promise<string>;
  /** Why these must not become the clients of the config; null when they may. */
  objection(clients: readonly KnownClient[]): string | null;
  /** Closes connections that would not be let in now, or would be known as somebody else. */
  recheck(): void;
  /** Lets no more clients in; those inside stay. */
  stopAccepting(): void;
  /** Ends every connection, after what is queued, and removes the socket file. */
  close(): Promise<void>;
}

export interface StdioOptions {
  readonly bus: Bus;
  readonly framing: TransportConfig['framing'];
  readonly input: Readable;
  readonly output: Writable;
}

export function openStdio({ bus, framing, input, output }: StdioOptions): Door {
  const { promise, resolve } = Promise.withResolvers<string>();
  const connection = openConnection({
    label: 'stdio',
    identity: null,
    input,
    output,
    framing,
    messageBytesMax: bus.config.limits.messageBytesMax,
    onInputEnd: () => resolve('end of input'),
    isBorrowed: true,
  });
  void connection.closed.then((why) => resolve(`the client is gone (${why})`));
  const attachment = bus.attach(connection);
  if (attachment === null) connection.close('error', true);
  else connection.open(attachment);
  return {
    address: 'stdio',
    ended: promise,
    objection: () => null,
    recheck() {},
    stopAccepting() {},
    async close() {
      connection.close('draining', true);
      await connection.closed;
      input.pause();
      // An open stdin would keep the process alive.
      if ('unref' in input) (input as unknown as { unref(): void }).unref();
    },
  };
}
