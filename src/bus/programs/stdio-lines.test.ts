import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMessageReader, type LineOutput, serveLines } from './stdio-lines.ts';

const message = fc.dictionary(
  fc.string({ maxLength: 8 }).filter((key) => key !== '__proto__'),
  fc.jsonValue({ maxDepth: 2, noNullPrototype: true } as fc.JsonSharedConstraints),
);

test('[WP1] lines are the same wherever the chunks fall', () => {
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 8 }),
      fc.array(fc.nat(200), { maxLength: 30 }),
      fc.boolean(),
      (messages, cuts, isOpenEnded) => {
        const text = messages.map((one) => JSON.stringify(one)).join('\r\n');
        const whole = isOpenEnded ? text : `${text}\n\n`;
        const taken: unknown[] = [];
        const notes: string[] = [];
        const reader = createMessageReader(
          (note) => notes.push(note),
          (one) => taken.push(one),
        );
        let rest = Buffer.from(whole);
        for (const cut of cuts) {
          reader.push(rest.subarray(0, cut));
          rest = rest.subarray(cut);
        }
        reader.push(rest);
        reader.end();
        expect(taken).toEqual(messages.map((one) => JSON.parse(JSON.stringify(one))));
        expect(notes).toEqual([]);
      },
    ),
  );
});

test('[WP2] a line that is no message is told without its content, and the next one is read', () => {
  const taken: unknown[] = [];
  const notes: string[] = [];
  const reader = createMessageReader(
    (note) => notes.push(note),
    (one) => taken.push(one),
  );
  reader.push(Buffer.from('secret{\n[1,2]\n"text"\n{"a":1}\n'));
  expect(taken).toEqual([{ a: 1 }]);
  expect(notes).toHaveLength(3);
  expect(notes.join()).not.toContain('secret');
});

test('[WP3] what is sent in one tick is written once, and reading stops while nobody reads', async () => {
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark: 16 });
  let writes = 0;
  let taken = 0;
  const write = output.write.bind(output) as (...given: unknown[]) => boolean;
  output.write = ((...given: unknown[]) => {
    if (given[0] !== '') writes += 1;
    return write(...given);
  }) as typeof output.write;
  const done = serveLines(
    (out: LineOutput) => ({
      take(one) {
        taken += 1;
        out.send({ got: one.n });
        out.send({ again: one.n });
      },
    }),
    { input, output, note: () => {}, onStop: () => () => {} },
  );
  input.write('{"n":1}\n{"n":2}\n');
  await new Promise((resolve) => setImmediate(resolve));
  expect([taken, writes]).toEqual([2, 1]);
  input.write('{"n":3}\n');
  await new Promise((resolve) => setImmediate(resolve));
  input.write('{"n":4}\n');
  await new Promise((resolve) => setImmediate(resolve));
  expect(taken).toBeLessThan(4);
  let text = '';
  output.on('data', (chunk) => {
    text += chunk;
  });
  input.end();
  await done;
  expect(taken).toBe(4);
  expect(text.trim().split('\n')).toHaveLength(8);
});
