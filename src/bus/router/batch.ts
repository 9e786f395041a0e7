/**
 * A JSON-RPC batch: an array of messages, answered with one array once every request in it has its
 * answer [BU9]. A batch without a request gets no answer; an empty one is an invalid request.
 */
import type { ByteLine } from '../process/byte-line.ts';

export interface Batch {
  /** Counts a request that will be answered. */
  expect(): void;
  /** Takes one answer; the last one sends the array. */
  answer(line: ByteLine): void;
  /** Everything in the batch was read: sends the array if nothing is left to wait for. */
  close(): void;
}

export function createBatch(send: (line: ByteLine) => void): Batch {
  const answers: ByteLine[] = [];
  let expected = 0;
  let isClosed = false;

  const sendWhenWhole = (): void => {
    if (isClosed && expected > 0 && answers.length === expected) {
      send(`[${answers.join(',')}]` as ByteLine);
    }
  };

  return {
    expect() {
      expected += 1;
    },
    answer(line) {
      answers.push(line);
      sendWhenWhole();
    },
    close() {
      isClosed = true;
      sendWhenWhole();
    },
  };
}
