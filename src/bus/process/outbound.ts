/**
 * What goes to a worker. Lines are collected and written once a tick; whatever the process does not
 * take stays in a queue of ours, and only a little is handed to the stream before it has taken that.
 *
 * So two numbers are true at any time [WO1]: `queuedBytes`, what was sent and not taken; and
 * `handedOver`, the last message of which the process can have seen anything at all.
 */
import type { Writable } from 'node:stream';
import type { ByteLine } from './byte-line.ts';
import { detached, joinLines, oneLine } from './frames.ts';

/** As much as is handed to the stream before it has taken it: about what a pipe holds. */
export const HANDED_BYTES_MAX = 65_536;
/** A line of up to so many bytes is handed over whole: its second piece would wait for another turn. */
const WHOLE_BYTES_MAX = 131_072;
/** So many places at the front of the queue may be empty before it is moved up. */
const GAP_MAX = 1_024;

/** A line as long as half a chunk keeps at most as much again from being freed. */
const LONG_BYTES = 32_768;
/** So many lines are written at once, before the tick is over: the process can begin with them. */
const EARLY_LINES = 16;
const TAKEN = '' as ByteLine;

/** A probe of our own: not numbered, not counted. */
interface Probe {
  readonly line: ByteLine;
  onTaken(): void;
}

export interface OutboundEvents {
  /** The process took something. */
  onTaken(): void;
  /** It will take nothing any more. */
  onBroken(): void;
}

export interface Outbound {
  readonly queuedBytes: number;
  readonly handedOver: number;
  /** The messages above `handedOver`, in order. */
  unsent(): ByteLine[];
  /** Answers the number of the message: 1, 2, 3. */
  push(line: ByteLine): number;
  sendProbe(line: ByteLine, onTaken: () => void): void;
  /** Hands over nothing more; the end of input comes after what was handed over. */
  close(): void;
}

export function createOutbound(pipe: Writable, events: OutboundEvents): Outbound {
  let queue: (ByteLine | Probe)[] = [];
  let head = 0;
  /** How much of the line at the head was handed over: a long one goes in pieces. */
  let offset = 0;
  let numbered = 0;
  let handedOver = 0;
  let queuedBytes = 0;
  let isWriting = false;
  let isScheduled = false;
  let isClosed = false;
  let isBroken = false;

  function schedule(): void {
    if (isScheduled || isWriting || isClosed) return;
    isScheduled = true;
    process.nextTick(flush);
  }

  function flush(): void {
    isScheduled = false;
    if (isWriting || isClosed || head === queue.length) return;
    const { text, ownBytes, probes } = takePiece();
    isWriting = true;
    pipe.write(text, 'latin1', (error) => {
      isWriting = false;
      // The stream says so by its 'error' too.
      if (error) return;
      queuedBytes -= ownBytes;
      for (const probe of probes) probe.onTaken();
      events.onTaken();
      flush();
    });
  }

  /** The next lines that fit together, or the next piece of one that does not fit alone. */
  function takePiece(): { text: string; ownBytes: number; probes: Probe[] } {
    const probes: Probe[] = [];
    const lines: ByteLine[] = [];
    const first = head;
    let bytes = 0;
    let ownBytes = 0;
    while (head < queue.length) {
      const item = queue[head] as ByteLine | Probe;
      const isOwn = typeof item === 'string';
      const line = isOwn ? item : item.line;
      const left = line.length - offset + 1;
      const room = lines.length > 0 ? HANDED_BYTES_MAX - bytes : WHOLE_BYTES_MAX;
      const isWhole = left <= room;
      if (!isWhole && lines.length > 0) break;
      if (isOwn && offset === 0) handedOver += 1;
      if (!isWhole) {
        // Once it is cut in pieces, it cannot be checked as a whole.
        const whole = isOwn && offset === 0 ? oneLine(line) : line;
        if (isOwn) queue[head] = whole;
        queuedBytes += whole.length - line.length;
        const text = whole.slice(offset, offset + HANDED_BYTES_MAX);
        offset += text.length;
        return { text, ownBytes: isOwn ? text.length : 0, probes };
      }
      lines.push(offset === 0 ? line : (line.slice(offset) as ByteLine));
      bytes += left;
      if (isOwn) ownBytes += left;
      else probes.push(item);
      offset = 0;
      head += 1;
    }
    // The places stay for a while, but not what stood there.
    if (head < queue.length) queue.fill(TAKEN, first, head);
    closeGap();
    return { text: joinLines(lines), ownBytes, probes };
  }

  function closeGap(): void {
    if (head === queue.length) queue = [];
    else if (head > GAP_MAX && head * 2 > queue.length) queue = queue.slice(head);
    else return;
    head = 0;
  }

  pipe.on('error', () => {
    // EPIPE: it closed its input, or is gone. Only its exit tells which, so that is waited for.
    isClosed = true;
    if (isBroken) return;
    isBroken = true;
    events.onBroken();
  });

  return {
    get queuedBytes() {
      return queuedBytes;
    },
    get handedOver() {
      return handedOver;
    },
    unsent() {
      // Of a line in pieces the process has seen some.
      const rest = queue.slice(offset === 0 ? head : head + 1);
      return rest.filter((item) => typeof item === 'string');
    },
    push(line) {
      // A short line that must wait would keep the whole chunk it was cut from.
      queue.push(isWriting && line.length < LONG_BYTES ? detached(line) : line);
      queuedBytes += line.length + 1;
      numbered += 1;
      if (queue.length - head >= EARLY_LINES && !isWriting && !isClosed) flush();
      else schedule();
      return numbered;
    },
    sendProbe(line, onTaken) {
      queue.push({ line, onTaken });
      schedule();
    },
    close() {
      isClosed = true;
      if (!isBroken) pipe.end();
    },
  };
}
