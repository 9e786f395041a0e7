import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createReadersText } from './readers-text.ts';

test('[R12] readers are written as JSON has them, whoever had the message before', () => {
  const names = fc.array(fc.constantFrom('ada', 'bob', 'b"b'), { maxLength: 3 });
  fc.assert(
    fc.property(fc.array(fc.oneof(names, fc.constant(null))), (pages) => {
      const text = createReadersText();
      for (const readers of pages) expect(text(readers)).toBe(JSON.stringify(readers));
    }),
  );
});
