/**
 * One connection: a stream in and a stream out, made into a peer of the bus.
 *
 * What the bus sends in one tick is one write [BD1]; while reading is off nothing is handed over
 * [BD2]; a client that ends its sending side still gets the answers it is owed [BD3], for as long as
 * it is there [BD22]; a graceful close first writes what is queued, for as long as the other side
 * takes it [BD4]. What is no UTF-8 is told to the bus in its turn and goes no further [BD19]. Of one
 * client so many messages are taken in a row, and then the others have their turn [BD23]; who is refused all of them
 * is heard less often [BD24].
 */
import type { Readable, Writable } from 'node:stream';
import type { ByteLine } from '../process/byte-line.ts';
import {
  createLengthSplitter,
  createLineSplitter,
  frameLines,
  joinLines,
} from '../process/frames.ts';
import { AUTH_BYTES_MAX } from './auth.ts';
import type { TransportConfig } from './config.ts';
import type { Attachment, Identity, Peer, PeerClosing } from './peer.ts';
import { PROBE_MS, startProbing } from './probe-line.ts';
import { createUtf8Check, GARBLED } from './utf8.ts';

/** What a stream is given at once: `queuedBytes` is exact to this much. */
const PIECE_BYTES_MAX = 1_048_576;
/** A closing connection that takes nothing for so long is cut. */
const FAREWELL_MS = 5_000;
/** Everything is written and we have said goodbye: so long it may take to say it back. */
const LINGER_MS = 1_000;
/** A chunk holds a thousand short messages: nobody waits for more than so many of another client. */
const TURN_LINES = 64;
/** After so many that were all refused a client waits: what it asks for in vain must not take the processor from others. */
const REFUSED_REST_MS = 2;
const LENGTH_BYTES = 4;
const NEWLINE_BYTES = 1;

export interface ConnectionOptions {
  readonly label: string;
  readonly identity: Identity | null;
  readonly input: Readable;
  readonly output: Writable;
  readonly framing: TransportConfig['framing'];
  readonly messageBytesMax: number;
  /** Takes the first line, when a token must be shown; then calls `open`, or `close`. */
  readonly onIntroduction?: (line: ByteLine | null) => void;
  /** The other side sends no more. Without it the connection ends once nothing is owed. */
  readonly onInputEnd?: () => void;
  /** Only a message shows whether the other side is there, as over TCP. */
  readonly isFar?: boolean;
  /** So long after the end of its sending side a client is first asked whether it is there. */
  readonly probeMs?: number;
  /** Our own stdin and stdout are not ours to close. */
  readonly isBorrowed?: boolean;
}

export interface Connection extends Peer {
  identity: Identity | null;
  /** From now on frames go there. */
  open(attachment: Attachment): void;
  /** Why it ended, once it has. */
  readonly closed: Promise<PeerClosing>;
}

/** So many messages are written at once, before the tick is over: the client can begin with them. */
const EARLY_LINES = 16;

export function openConnection(options: ConnectionOptions): Connection {
  const { input, output, framing, onIntroduction } = options;
  const encode = framing === 'ndjson' ? joinLines : frameLines;
  const overhead = framing === 'ndjson' ? NEWLINE_BYTES : LENGTH_BYTES;
  const { promise: closed, resolve: tellClosed } = Promise.withResolvers<PeerClosing>();
  let attachment: Attachment | null = null;
  let reason: PeerClosing | null = null;
  let introductionBytes = 0;
  let held: ByteLine[] = [];
  let isReading = true;
  /** Messages taken since it last rested, and whether it does so now. Nobody else is at our own stdin. */
  let taken = 0;
  let isResting = false;
  /** How often it had been refused when it rested last. */
  let refused = 0;
  const turnLines = options.isBorrowed ? Number.POSITIVE_INFINITY : TURN_LINES;
  let isInputOver = false;
  let isClosing = false;
  let isOver = false;

  let outbox: ByteLine[] = [];
  let outboxBytes = 0;
  let rest = '';
  let pieceBytes = 0;
  let queuedBytes = 0;
  let isScheduled = false;
  let isWriting = false;
  let farewell: NodeJS.Timeout | undefined;
  let stopProbing: (() => void) | null = null;

  function deliver(lines: ByteLine[]): void {
    for (let i = 0; i < lines.length; i++) {
      if (isClosing || isOver) return;
      if (taken >= turnLines && !isResting) letOthers();
      if (!isReading || isResting) {
        held = held.concat(lines.slice(i));
        return;
      }
      taken += 1;
      const line = lines[i] as ByteLine;
      if (attachment === null) onIntroduction?.(line);
      else if (line === GARBLED) attachment.garbled();
      else {
        const before = attachment.replayed;
        attachment.receive(line);
        taken += attachment.replayed - before;
      }
    }
  }

  const utf8 = createUtf8Check();
  const create = framing === 'ndjson' ? createLineSplitter : createLengthSplitter;
  const splitter = create(options.messageBytesMax, {
    onLines: (lines) => deliver(utf8.screen(lines)),
    onTooLarge(bytes) {
      if (isClosing || isOver) return;
      if (attachment === null) onIntroduction?.(null);
      else attachment.tooLarge(bytes, framing);
    },
  });

  function letOthers(): void {
    isResting = true;
    input.pause();
    const before = refused;
    refused = attachment?.refused ?? 0;
    if (refused - before < turnLines) setImmediate(goOn);
    else setTimeout(goOn, REFUSED_REST_MS);
  }

  function goOn(): void {
    isResting = false;
    taken = 0;
    resume();
  }

  function resume(): void {
    if (!isReading || isResting || isClosing || isOver) return;
    const lines = held;
    held = [];
    deliver(lines);
    if (isReading && !isResting) input.resume();
    if (isInputOver) settle();
  }

  function flush(): void {
    isScheduled = false;
    if (isWriting || isOver || outbox.length === 0) return;
    const text = encode(outbox);
    // A line that other readers would break in two is written a little longer.
    queuedBytes += text.length - outboxBytes;
    outbox = [];
    outboxBytes = 0;
    write(text);
  }

  /** Its answers are all written, and nothing that it said is still to be taken. */
  function isDone(): boolean {
    return isInputOver && held.length === 0 && (attachment?.owed ?? 0) === 0;
  }

  function write(text: string): void {
    isWriting = true;
    const isWhole = text.length <= PIECE_BYTES_MAX;
    const piece = isWhole ? text : text.slice(0, PIECE_BYTES_MAX);
    rest = isWhole ? '' : text.slice(PIECE_BYTES_MAX);
    pieceBytes = piece.length;
    output.write(piece, 'latin1', written);
  }

  function written(error?: Error | null): void {
    isWriting = false;
    if (isOver) return;
    if (error) return over(reasonOf(error));
    queuedBytes -= pieceBytes;
    if (rest !== '') write(rest);
    else if (outbox.length > 0) flush();
    farewell?.refresh();
    attachment?.drained();
    settle();
  }

  /** Ends what can be ended: nothing is left to write, and nothing to wait for. */
  function settle(): void {
    if (isOver || queuedBytes > 0) return;
    if (isClosing) leave();
    else if (options.onInputEnd === undefined && isDone()) connection.close('closed', true);
  }

  /** It may wait for its answers, or be dead: nothing that comes from it will tell. */
  function probe(): void {
    if (isOver || isClosing || options.onInputEnd !== undefined) return;
    stopProbing = startProbing({
      output,
      encode: options.isFar ? encode : null,
      isWriting: () => isWriting || isScheduled,
      firstMs: options.probeMs ?? PROBE_MS,
    });
  }

  function leave(): void {
    if (options.isBorrowed) return over('closed');
    // Closing before the other side has could cost it what it has not read yet.
    if (isInputOver) return over('closed');
    if (output.writableEnded) return;
    output.end();
    clearTimeout(farewell);
    farewell = setTimeout(over, LINGER_MS, 'closed');
  }

  function over(why: PeerClosing): void {
    if (isOver) return;
    isOver = true;
    stopProbing?.();
    clearTimeout(farewell);
    outbox = [];
    held = [];
    rest = '';
    queuedBytes = 0;
    if (!options.isBorrowed) {
      input.destroy();
      output.destroy();
    }
    attachment?.closed(reason ?? why);
    tellClosed(reason ?? why);
  }

  function onData(chunk: Buffer): void {
    utf8.look(chunk);
    splitter.push(chunk);
    if (attachment !== null || isClosing || isOver) return;
    introductionBytes += chunk.length;
    if (introductionBytes > AUTH_BYTES_MAX) onIntroduction?.(null);
  }

  const connection: Connection = {
    label: options.label,
    identity: options.identity,
    closed,
    get queuedBytes() {
      return queuedBytes;
    },
    open(to) {
      attachment = to;
    },
    send(line) {
      if (isOver) return;
      outbox.push(line);
      const bytes = line.length + overhead;
      outboxBytes += bytes;
      queuedBytes += bytes;
      if (isWriting) return;
      if (outbox.length >= EARLY_LINES) {
        flush();
        return;
      }
      if (isScheduled) return;
      isScheduled = true;
      process.nextTick(flush);
    },
    setReading(isOn) {
      if (isOn === isReading) return;
      isReading = isOn;
      if (isOn) process.nextTick(resume);
      else input.pause();
    },
    close(why, isGraceful) {
      if (isOver) return;
      reason ??= why;
      if (!isGraceful) return over(why);
      if (isClosing) return;
      isClosing = true;
      stopProbing?.();
      held = [];
      farewell = setTimeout(over, FAREWELL_MS, why);
      // What still comes is thrown away, so that the other side is not stuck writing it.
      input.resume();
      settle();
    },
  };

  input.on('data', onData);
  input.once('end', () => {
    splitter.end();
    isInputOver = true;
    if (options.onInputEnd && !isClosing) options.onInputEnd();
    settle();
    probe();
  });
  input.on('error', (error) => over(reasonOf(error)));
  input.once('close', () => {
    if (!options.isBorrowed) over('closed');
  });
  if ((output as unknown) !== input) output.on('error', (error) => over(reasonOf(error)));
  return connection;
}

/** The other side going away is how connections end; anything else is an error. */
function reasonOf(error: Error): PeerClosing {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EPIPE' || code === 'ECONNRESET' ? 'closed' : 'error';
}
