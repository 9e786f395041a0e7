/**
 * A peer: one client of the bus, as the router sees it; a socket, our own stdio, or the program the
 * bus is embedded in. The door writes and reads; the router decides who may be written to, and when
 * reading must pause.
 */
import type { ByteLine } from '../process/byte-line.ts';

/**
 * Who is behind a connection, in the words of the reference's `_ext.identity`. Only the bus may say
 * `bus`: what a client claims of itself travels on as `self`, whatever it wrote.
 */
export interface Identity {
  readonly subjectId: string;
  readonly role: string;
  readonly assertedBy: 'self' | 'bus';
}

export interface Peer {
  /** For logs and audit: `unix#3`. */
  readonly label: string;
  /** What the door knows about who this is; the client cannot change it. */
  readonly identity: Identity | null;
  /** Queues a message for it. Never drops; the router watches `queuedBytes`. */
  send(line: ByteLine): void;
  /** Bytes that `send` took and the other side has not. */
  readonly queuedBytes: number;
  /** Stops and starts reading what it sends. */
  setReading(isOn: boolean): void;
  /** Ends the connection, after what is queued if `isGraceful`. The door then calls `closed`. */
  close(reason: PeerClosing, isGraceful: boolean): void;
}

/** Why a connection ended: the words of the reference's lifecycle event, and ours. */
export type PeerClosing = 'closed' | 'error' | 'timeout' | 'draining';

/** What a door calls. */
export interface Attachment {
  /** One whole frame, not yet checked. */
  receive(line: ByteLine): void;
  /** A frame over `max_input_buffer` was skipped; the door goes on at the next one. */
  tooLarge(bytes: number, framing: 'ndjson' | 'length'): void;
  /** A frame whose bytes are no UTF-8 was thrown away; the door goes on at the next one. */
  garbled(): void;
  /** The other side took something: the router looks at `queuedBytes` again. */
  drained(): void;
  /**
   * Requests of this client without an answer. A client may end its sending side and still wait
   * (`printf … | nc -N -U bus.sock`): the door keeps the connection until this is 0.
   */
  readonly owed: number;
  /** Requests of this client that the bus itself answered, with an error. */
  readonly refused: number;
  /** Notifications that this client was given again because it attached: each counts as a message of it. */
  readonly replayed: number;
  /** The connection is gone. Safe to call twice. */
  closed(reason: PeerClosing): void;
}
