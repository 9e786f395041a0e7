import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { Outbox } from './outbox.ts';

/** A reader that takes what it is given when it is told to. */
function createReader(): { stream: Writable; taken: string[]; take(): void } {
  let taking: (() => void) | null = null;
  const taken: string[] = [];
  const stream = new Writable({
    highWaterMark: 4,
    write(chunk: Buffer, _, done) {
      taking = () => {
        taken.push(chunk.toString());
        taking = null;
        done();
      };
    },
  });
  return { stream, taken, take: () => taking?.() };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('[F3] what the reader does not take waits in whole pieces, in order, and is bounded', async () => {
  const { stream, taken, take } = createReader();
  const outbox = new Outbox(stream, 12);
  // One may be large by itself; slow is who has not taken the one before it.
  expect(outbox.write(Buffer.from('a'.repeat(20)))).toBe(true);
  expect(outbox.write(Buffer.from('b'))).toBe(false);
  take();
  await turn();
  expect(outbox.write(Buffer.from('cc'))).toBe(true);
  expect(outbox.waiting).toBe(3);
  const drained = outbox.drained();
  take();
  await turn();
  take();
  await drained;
  expect(taken.join('')).toBe(`${'a'.repeat(20)}bcc`);
});

test('[F3] what is cut off is whole pieces, so that a farewell can follow what was written', async () => {
  const { stream, taken, take } = createReader();
  const outbox = new Outbox(stream, 8);
  outbox.write(Buffer.from('first'));
  outbox.write(Buffer.from('second'));
  expect(outbox.isEmpty).toBe(false);
  outbox.cut();
  expect(outbox.isEmpty).toBe(true);
  const drained = outbox.drained();
  take();
  await drained;
  stream.write('bye');
  take();
  expect(taken).toEqual(['first', 'bye']);
});

test('[F3] waiting page by page leaves no listener behind, and a reader that goes ends the wait', async () => {
  const { stream, take } = createReader();
  const outbox = new Outbox(stream, 100);
  const before = ['drain', 'close'].map((name) => stream.listenerCount(name));
  for (let page = 0; page < 30; page++) {
    outbox.write(Buffer.from('page!'));
    const drained = outbox.drained();
    take();
    await drained;
  }
  expect(['drain', 'close'].map((name) => stream.listenerCount(name))).toEqual(before);
  outbox.write(Buffer.from('the last'));
  const drained = outbox.drained();
  stream.destroy();
  await drained;
});

test('[F7] what waits for a reader is written as it came, and is no copy of its own', async () => {
  const written: Buffer[] = [];
  let taken = (): void => {};
  const take = (chunks: readonly Buffer[], done: () => void): void => {
    written.push(...chunks);
    taken = done;
  };
  const stream = new Writable({
    highWaterMark: 4,
    write: (chunk: Buffer, _, done) => take([chunk], done),
    writev: (chunks, done) =>
      take(
        chunks.map(({ chunk }) => chunk as Buffer),
        done,
      ),
  });
  const outbox = new Outbox(stream, 1024 * 1024);
  const large = Array.from({ length: 8 }, (_, n) => Buffer.alloc(8_000, n));
  for (const piece of large) outbox.write(piece);
  taken();
  await turn();
  expect(written).toHaveLength(large.length);
  for (const [i, piece] of written.entries()) expect(piece).toBe(large[i]);
});

test('[F3] small pieces are joined, and no more of them than are worth a write', async () => {
  const { stream, taken, take } = createReader();
  const outbox = new Outbox(stream, 10 * 1024 * 1024);
  const small = Buffer.alloc(1000, 'x');
  for (let n = 0; n < 200; n++) outbox.write(small);
  for (let n = 0; outbox.waiting > 0 && n < 200; n++) {
    take();
    await turn();
  }
  expect(taken.join('')).toHaveLength(200 * small.length);
  expect(taken.length).toBeLessThan(20);
  expect(Math.max(...taken.map(({ length }) => length))).toBeLessThan(40_000);
});
