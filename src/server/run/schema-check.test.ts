import { expect, test } from 'vitest';
import { createSchemaCheck } from './schema-check.ts';

const schemaOf = (name: string): string =>
  JSON.stringify({
    ...{ $id: 'https://example.org/one', type: 'object', required: [name] },
    properties: { [name]: { type: 'string', maxLength: 20 }, tags: { items: { type: 'integer' } } },
  });

test('[T5] a small schema takes its caller little: sixty of one moment are within its share', () => {
  const checks = createSchemaCheck(() => 0);
  for (let i = 0; i < 60; i++) expect(checks.problem(schemaOf(`field${i}`), 'ada')).toBeNull();
});

test('[T1] each schema is held against its draft, and two of one $id are kept apart', () => {
  const checks = createSchemaCheck();
  const who = { whose: 'ada', isTrusted: true };
  for (const name of ['a', 'b']) {
    expect(checks.check(schemaOf(name), { [name]: 'x' }, who)).toEqual({
      violations: [],
      count: 0,
    });
    expect(checks.check(schemaOf(name), { tags: ['x'] }, who)).toMatchObject({ count: 2 });
  }
  const wrong = { type: 'nonsense', properties: { a: { minLength: -1 } } };
  const draft = 'https://json-schema.org/draft/2020-12/schema';
  for (const schema of [wrong, { ...wrong, $schema: draft }])
    expect(checks.problem(JSON.stringify(schema), 'ada')).toMatch(
      /^schema is invalid: .*minLength must be >= 0.*type must be equal to one of/,
    );
  const other = JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#' });
  expect(checks.problem(other, 'ada')).toMatch(/no schema with key or ref/);
  expect(checks.problem(JSON.stringify({ $schema: 7 }), 'ada')).toMatch(/must be a string/);
  expect(checks.problem('7', 'ada')).toMatch(/must be object or boolean/);
  // A schema of schemas is one as well.
  expect(checks.check(JSON.stringify({ $ref: draft }), { type: 'string' }, who)).toMatchObject({
    count: 0,
  });
});
