import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { operationList } from '../../wire/operations/table.ts';
import { narrowSchema } from './narrow-schema.ts';

/** So often that a narrow schema is worth it. */
const HOT = 201;

function heat(schema: z.ZodType): void {
  for (let n = 0; n < HOT; n++) narrowSchema(schema, null);
}

const values = fc.oneof(
  fc.constantFrom<unknown>('general', 'm7', '', 'agent-1', 'src/a.ts', 0, 1, 60, -1, 1.5, null),
  fc.constantFrom<unknown>(true, false, undefined, {}, { text: 'hello' }, [], ['a'], [{}], 'open'),
);

test('[O2] whatever a narrow schema takes the whole one takes alike, for every operation', () => {
  let taken = 0;
  for (const { input: schema } of operationList) {
    heat(schema);
    const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    const fields = fc.dictionary(fc.constantFrom(...names, 'unknown'), values, { maxKeys: 5 });
    fc.assert(
      fc.property(fields, (input) => {
        const parsed = narrowSchema(schema, input)?.safeParse(input);
        if (parsed?.success !== true) return;
        taken++;
        const whole = schema.safeParse(input);
        expect(whole.success).toBe(true);
        // As text too: in the same order, and nothing left in the place of what is absent.
        expect(JSON.stringify(parsed.data)).toBe(JSON.stringify(whole.data));
        expect(parsed.data).toEqual(whole.data);
      }),
      { numRuns: 60 },
    );
  }
  expect(taken).toBeGreaterThan(100);
});

test('[O2] defaults are filled in, and what looks at several fields has no narrow schema', () => {
  const defaults = z.strictObject({
    channel: z.string(),
    limit: z.int().default(50),
    after: z.string().optional(),
  });
  heat(defaults);
  expect(narrowSchema(defaults, { channel: 'c' })?.parse({ channel: 'c' })).toEqual({
    channel: 'c',
    limit: 50,
  });
  const together = defaults.refine(({ after, limit }) => after === undefined || limit > 0);
  heat(together);
  expect(narrowSchema(together, { channel: 'c' })).toBe(null);
  const loose = z.object({ channel: z.string(), after: z.string().optional() });
  heat(loose);
  expect(narrowSchema(loose, { channel: 'c' })).toBe(null);
});

test('[O2] fields in ever other orders make no more than a few narrow schemas', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];
  const schema = z.strictObject(
    Object.fromEntries([...names, 'rest'].map((name) => [name, z.int().optional()])),
  );
  heat(schema);
  const made = new Set(names.map((name) => narrowSchema(schema, { [name]: 1 })));
  expect(made.size).toBe(9);
  expect(made.has(null)).toBe(true);
});
