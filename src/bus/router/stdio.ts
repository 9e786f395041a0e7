/**
 * The door for one client: our own stdin and stdout. When either ends, the client wants nothing
 * more: the bus finishes what it has, delivers it as far as somebody reads, and goes [BD8].
 */
import type { Readable, Writable } from 'node:stream';
import type { Bus } from './bus.ts';
import type { TransportConfig } from './config.ts';
import { openConnection } from './connection.ts';
import type { PeerClosing } from './peer.ts';

export interface StdioOptions {
  readonly bus: Bus;
  readonly framing: TransportConfig['framing'];
  readonly input: Readable;
  readonly output: Writable;
}

export interface StdioDoor {
  /** The client has ended its side, or is gone: time to drain. */
  readonly ended: Promise<'end of input' | PeerClosing>;
  /** Ends it after what is queued is written. */
  close(): Promise<void>;
}

export function openStdio({ bus, framing, input, output }: StdioOptions): StdioDoor {
  const { promise, resolve } = Promise.withResolvers<'end of input' | PeerClosing>();
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
  void connection.closed.then(resolve);
  const attachment = bus.attach(connection);
  if (attachment === null) connection.close('error', true);
  else connection.open(attachment);
  return {
    ended: promise,
    async close() {
      connection.close('draining', true);
      await connection.closed;
      input.pause();
      // An open stdin would keep the process alive.
      if ('unref' in input) (input as unknown as { unref(): void }).unref();
    },
  };
}
