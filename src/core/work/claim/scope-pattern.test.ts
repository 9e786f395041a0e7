import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileAny, compilePath } from './scope-pattern.ts';

const names = fc.oneof(
  fc.constantFrom('src', 'Docs', 'a.ts', 'b.test.TS', '.', '..', '.env', '', '*', '**', '[id].tsx'),
  fc.constantFrom('c:', 'x.', '.a.b', '{a,b}', 'é', 'two words', 'a-b', '@scope', 'A+b', 'v1.2.3'),
  fc.string({ unit: fc.constantFrom(...'abYZ09_.-@+ :*?[{'), maxLength: 6 }),
);

test('[SC3] a plain path is compiled to just what any path is', () => {
  fc.assert(
    fc.property(
      fc.array(names, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      (parts, isFolder) => {
        const text = `${parts.join('/')}${isFolder ? '/' : ''}`;
        expect(compilePath(text)).toEqual(compileAny(text));
      },
    ),
    { numRuns: 3_000 },
  );
});
