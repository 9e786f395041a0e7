/** The schemas that come with schema-strict: whole, as SOX has them, and never narrower than the hub's fields. */

import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { findOperation } from '../../src/wire/operations/table.ts';
// @ts-expect-error: plain JavaScript, as a plugin in node_modules must be
import createSchemaStrict from './plugin.js';
// @ts-expect-error: the same
import { compileSchemas, findSchemasDir } from './schemas.js';

const cwd = tmpdir();
const validators = compileSchemas(findSchemasDir({ cwd }));
const SOX = [...validators.keys()];

test('[P21] every operation of SOX has a shipped schema, so nothing is warned of', () => {
  const lines: string[] = [];
  createSchemaStrict({ cwd, log: (_level: string, line: string) => lines.push(line) });
  expect(lines).toEqual([]);
  expect(SOX).toHaveLength(15);
});

test.each(SOX)('[P21] the shipped schema of %s knows the fields the hub knows', (name) => {
  const operation = findOperation(name);
  expect(operation?.name).toBe(name);
  const input = operation?.input ?? z.never();
  const { properties } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  const shipped = Object.keys(validators.get(name).schema.properties);
  // SOX's own MCP tool has another word for the channels of unsubscribe; the hub takes both.
  expect(shipped.filter((field) => field !== 'patterns').sort()).toEqual(
    Object.keys(properties ?? {}).sort(),
  );
});

test.each([
  ['send', { channel: 'a', body: {}, reply_to: null, ttl_ms: 5 }],
  ['recv', {}],
  ['recv', { channels: null, wait_ms: 0 }],
  ['subscribe', { pattern: 'team/*' }],
  ['unsubscribe', { channels: ['team/*'] }],
  ['unsubscribe', { patterns: ['team/*'] }],
  ['replay', { channel: 'a' }],
  ['channels_collect', { reply_to: '1', count: 1, timeout: 0.1 }],
])('[P21] the shipped schemas take what SOX takes: %s %j', (operation, input) => {
  expect(validators.get(operation)(input)).toBe(true);
});

test.each([
  ['send', { channel: 'a', body: 'text' }],
  ['send', { channel: 'a', body: {}, sender: 'eve' }],
  ['recv', { max_messages: 1001 }],
  ['subscribe', { pattern: 'dm/*' }],
  ['subscribe', { pattern: 'group/a*' }],
  ['unsubscribe', {}],
  ['list_channels', { since: 1 }],
  ['list_agents', { status_filter: ['online', 'online'] }],
  ['channels_ack', { message_id: '1', status: 'accept' }],
  ['channels_heartbeat', { status: 'stale' }],
  ['group_invite', { group_id: 'group/a' }],
])('[P21] the shipped schemas refuse what SOX refuses: %s %j', (operation, input) => {
  expect(validators.get(operation)(input)).toBe(false);
});
