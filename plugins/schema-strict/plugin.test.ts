/** schema-strict by itself: what it refuses, how it says so, and when it will not start. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
// @ts-expect-error: plain JavaScript, as a plugin in node_modules must be
import createSchemaStrict from './plugin.js';

const schemasDir = join(dirname(fileURLToPath(import.meta.url)), 'test-schemas');
let cwd = '';

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'schema-strict-'));
});

afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
});

function caught(run: () => unknown): Error & { violations?: unknown } {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

async function refusalOf(input: unknown): Promise<Error & { violations?: unknown }> {
  const validate = createSchemaStrict({ schemasDir, cwd });
  return validate({ operation: 'send', input }).then(
    () => {
      throw new Error('the input was accepted');
    },
    (error: Error) => error,
  );
}

test('[P20] an input that fits its schema passes unchanged', async () => {
  const validate = createSchemaStrict({ schemasDir, cwd });
  const context = { operation: 'send', input: { channel: 'a', body: { x: 1 } } };
  expect(await validate(context)).toBe(context);
  expect(context).toEqual({ operation: 'send', input: { channel: 'a', body: { x: 1 } } });
});

test('[P20] a refusal names the schema file and lists every violation, sorted by path', async () => {
  const error = await refusalOf({ channel: '', tags: ['a', 1], urgency: 'now', extra: true });
  expect(error.name).toBe('ValidationError');
  expect(error.message).toContain('send.input.schema.json');
  expect(error.violations).toEqual([
    { field: '<root>', issue: "must NOT have additional properties: 'extra'" },
    { field: '<root>', issue: "must have required property 'body'" },
    { field: 'channel', issue: 'must NOT have fewer than 1 characters' },
    { field: 'tags.1', issue: 'must be string' },
    { field: 'urgency', issue: 'must be equal to one of the allowed values: low, normal, high' },
  ]);
});

test('[P20] the list of violations is bounded', async () => {
  const error = await refusalOf({ channel: 'a', body: {}, tags: Array(500).fill(1) });
  expect(error.violations).toHaveLength(100);
});

test('[P20] an operation without a schema passes, and is named in a warning at start-up', async () => {
  const lines: string[] = [];
  const log = (_level: string, line: string) => lines.push(line);
  const validate = createSchemaStrict({ schemasDir, cwd, log });
  const context = { operation: 'recv', input: { anything: 1 } };
  expect(await validate(context)).toBe(context);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('recv');
  expect(lines[0]).not.toContain('send,');
});

test('[P21] the argument beats the environment, which beats the nearest spec/operations', async () => {
  const deep = join(cwd, 'a', 'b');
  mkdirSync(join(cwd, 'spec', 'operations'), { recursive: true });
  mkdirSync(join(cwd, 'other'), { recursive: true });
  mkdirSync(deep, { recursive: true });
  const schema = (type: string) => JSON.stringify({ type });
  writeFileSync(join(cwd, 'spec', 'operations', 'recv.input.schema.json'), schema('array'));
  writeFileSync(join(cwd, 'other', 'recv.input.schema.json'), schema('string'));
  const accepts = async (options: object, input: unknown): Promise<boolean> =>
    createSchemaStrict({ cwd: deep, ...options })({ operation: 'recv', input }).then(
      () => true,
      () => false,
    );
  const config = { schemas_dir: '../../other' };
  expect(await accepts({}, [])).toBe(true);
  expect(await accepts({}, 'text')).toBe(false);
  expect(await accepts({ config }, 'text')).toBe(true);
  expect(await accepts({ config, schemasDir: join(cwd, 'spec', 'operations') }, [])).toBe(true);
});

test('[P21] the search ends eight parents up, at what the plugin ships', async () => {
  mkdirSync(join(cwd, 'spec', 'operations'), { recursive: true });
  writeFileSync(join(cwd, 'spec', 'operations', 'recv.input.schema.json'), '{}');
  const eight = join(cwd, ...'12345678');
  mkdirSync(join(eight, '9'), { recursive: true });
  const call = { operation: 'recv', input: { unheard: 'of' } };
  expect(await createSchemaStrict({ cwd: eight })(call)).toBe(call);
  const shipped = createSchemaStrict({ cwd: join(eight, '9') });
  await expect(shipped(call)).rejects.toThrow('recv.input.schema.json');
});

test('[P21] a spec/operations of something else is passed by', async () => {
  mkdirSync(join(cwd, 'spec', 'operations'), { recursive: true });
  writeFileSync(join(cwd, 'spec', 'operations', 'night-shift.md'), '# Operations');
  const validate = createSchemaStrict({ cwd });
  await expect(validate({ operation: 'send', input: {} })).rejects.toThrow('send.input');
});

test('[P21] a folder that was named and holds no schema stops the start, and says what to set', () => {
  const named = caught(() => createSchemaStrict({ cwd, config: { schemas_dir: 'nowhere' } }));
  expect(named.message).toContain('is not there');
  expect(named.message).toContain('SOX_PLUGIN_IO_SOX_SCHEMA_STRICT_SCHEMAS_DIR');
  const empty = caught(() => createSchemaStrict({ cwd, config: { schemas_dir: '.' } }));
  expect(empty.message).toContain('holds no');
});

test('[P21] missing=warn starts without schemas, and says so', async () => {
  const lines: string[] = [];
  const log = (_level: string, line: string) => lines.push(line);
  const config = { missing: 'warn', schemas_dir: 'nowhere' };
  const validate = createSchemaStrict({ cwd, config, log });
  const context = { operation: 'send', input: 7 };
  expect(await validate(context)).toBe(context);
  expect(lines.join()).toContain('every input passes');
});

test.each([
  ['{', 'not JSON'],
  ['{"type":"nonsense"}', 'send.input.schema.json is not a usable schema'],
  ['{"$ref":"absent.json"}', 'send.input.schema.json is not a usable schema'],
])('[P21] a schema that cannot be used (%s) stops the start', (text, message) => {
  writeFileSync(join(cwd, 'send.input.schema.json'), text);
  expect(caught(() => createSchemaStrict({ cwd, schemasDir: cwd })).message).toContain(message);
});
