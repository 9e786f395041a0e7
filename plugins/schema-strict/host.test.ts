/** schema-strict as it is used: linked into node_modules, found, and in the way of a bad input. */

import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openFolder, openTestHost, type TestHost, verdicts } from '../host-kit.test.fixture.ts';

const here = dirname(fileURLToPath(import.meta.url));

async function openWithPlugin(env: Record<string, string>): Promise<TestHost> {
  const cwd = openFolder();
  mkdirSync(join(cwd, 'node_modules'));
  symlinkSync(here, join(cwd, 'node_modules', 'synod-schema-strict'));
  return openTestHost([], { cwd, discover: true, env });
}

const SCHEMAS_DIR = 'SOX_PLUGIN_IO_SOX_SCHEMA_STRICT_SCHEMAS_DIR';

test('[P20] it takes the schema_validator slot and refuses with validation_error', async () => {
  const { host, run, stored } = await openWithPlugin({ [SCHEMAS_DIR]: join(here, 'test-schemas') });
  expect(host.order.indexOf('io.sox.schema-strict')).toBe(3);
  expect(host.order).not.toContain('schema_validator');

  const bad = await run({ input: { channel: 'a', body: 'text' } });
  expect(bad.reply).toEqual({
    error: {
      error_code: 'validation_error',
      message: 'the input does not match send.input.schema.json',
      detail: { violations: [{ field: 'body', issue: 'must be object' }] },
    },
  });
  expect(verdicts(bad.trace)).toEqual(['io.sox.schema-strict error']);
  expect(stored).toEqual([]);

  const good = await run({ input: { channel: 'a', body: {} } });
  expect(good.reply).toEqual({ ok: { stored: 1 } });
});

test('[P21] a plain install starts and validates against what is shipped', async () => {
  const { lines, run } = await openWithPlugin({});
  expect(lines.filter((line) => !line.startsWith('info'))).toEqual([]);
  const { reply } = await run({ operation: 'replay', input: { channel: 'a', since: -1 } });
  expect(reply).toMatchObject({
    error: {
      error_code: 'validation_error',
      message: 'the input does not match replay.input.schema.json',
      detail: { violations: [{ field: 'since', issue: 'must be >= 0' }] },
    },
  });
});

test('[P21] with a folder that is not there the host does not start', async () => {
  await expect(openWithPlugin({ [SCHEMAS_DIR]: '/nowhere' })).rejects.toMatchObject({
    code: 'plugin_startup_failed',
    message: expect.stringContaining(SCHEMAS_DIR),
  });
});
