import { describe, expect, test } from 'vitest';
import { isRefusal } from '../../core/law/decider.ts';
import { type Operation, toolName } from '../operation.ts';
import { operationList } from '../operations/table.ts';
import { SOX_OPERATIONS } from '../sox.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { toToolResult } from './result.ts';
import { createMcpTools } from './tools.ts';

const tools = createMcpTools(operationList);

function listed(toolset: string) {
  const list = tools.list(toolset);
  if (isRefusal(list)) throw new Error(list.message);
  return list;
}

describe('the tool list', () => {
  test('[MC2] the default set costs under 3,000 tokens, and its primer fits in 2 KB', () => {
    // What is in _meta is for the client; no model is shown it.
    const text = JSON.stringify({ tools: listed('core').map(({ _meta, ...shown }) => shown) });
    // Four characters a token is the usual measure; the margin is for tokenizers that do worse.
    expect(text.length).toBeLessThan(11_800);
    expect(Buffer.byteLength(INSTRUCTIONS)).toBeLessThan(2048);
    for (const { description = '' } of listed('all')) expect(description.length).toBeLessThan(300);
  });

  test('[MC2] the default set is what an agent needs every day', () => {
    expect(listed('core').map(({ name }) => name)).toEqual([
      'channels__send',
      'channels__recv',
      'channels__subscribe',
      'channels__list_agents',
      'channels__ack',
      'inbox__peek',
      'claims__take',
      'claims__release',
      'plan__board',
      'plan__update',
      'plan__progress',
      'agents__tell',
    ]);
  });

  test('[HD9] Claude Code is asked to show the default set at once, and only that', () => {
    const core = new Set(listed('core'));
    for (const tool of listed('all')) {
      expect(tool._meta?.['anthropic/alwaysLoad']).toBe(core.has(tool) ? true : undefined);
    }
  });

  test('[MC2] schemas are small: no dialect, title or bound that says nothing', () => {
    const text = JSON.stringify(listed('all'));
    for (const noise of ['$schema', '9007199254740991', 'minLength', '{"type":"null"}']) {
      expect(text).not.toContain(noise);
    }
  });

  test('[MC2] a field that may be null says so in its type', () => {
    const send = listed('core').find(({ name }) => name === 'channels__send');
    expect(send?.inputSchema).toEqual({
      type: 'object',
      properties: {
        channel: { type: 'string', description: expect.any(String) },
        body: { type: 'object' },
        correlation_id: { type: ['string', 'null'] },
        reply_to: { type: ['string', 'null'], description: expect.any(String) },
        quote: { type: 'boolean' },
        reopen: { type: 'boolean' },
        idempotency_key: { type: ['string', 'null'], description: expect.any(String) },
        ttl_ms: {
          type: ['integer', 'null'],
          description: expect.any(String),
          minimum: 1,
          maximum: expect.any(Number),
        },
      },
      required: ['channel', 'body'],
      additionalProperties: false,
    });
  });

  test('[MC3] every operation without a stream is a tool, in the order of the table', () => {
    const expected = operationList
      .filter(({ isStreaming }) => !isStreaming)
      .map(({ id }) => id.replace('.', '__'));
    expect(listed('all').map(({ name }) => name)).toEqual(expected);
    expect(tools.find('stream__open')).toBeUndefined();
  });

  test('[MC3] every tool has both schemas and says all four hints', () => {
    for (const tool of listed('all')) {
      expect(tool.name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
      expect(tool.inputSchema.type).toBe('object');
      expect(tool.outputSchema?.type).toBe('object');
      expect(Object.keys(tool.annotations ?? {})).toEqual([
        'readOnlyHint',
        'destructiveHint',
        'idempotentHint',
        'openWorldHint',
      ]);
    }
  });

  test('[MC3] a toolset is named by sets, by tools or both, and keeps the order of the table', () => {
    const names = (toolset: string) => listed(toolset).map(({ name }) => name);
    expect(names('')).toEqual(names('core'));
    expect(names('group__join, channels__send')).toEqual(['channels__send', 'group__join']);
    expect(names('groups,core')).toEqual([
      ...names('core').slice(0, 5),
      ...names('groups'),
      ...names('core').slice(5),
    ]);
    expect(names('work')).toContain('claims__wait');
    expect(names('more')).toContain('channels__replay');
    expect(names('core,groups,work,more,admin')).toEqual(names('all'));
    expect(names('channels__group_join')).toEqual(['group__join']);
    expect(names('all').length).toBeGreaterThan(names('core,groups,work,more').length);
  });

  test('[MC17] the set sox is SOX’s fifteen, and who is shown just those is told SOX’s name', () => {
    expect(listed('sox').map(({ name }) => name)).toHaveLength(SOX_OPERATIONS.length);
    for (const name of SOX_OPERATIONS) {
      const operation = operationList.find((one) => one.name === name);
      expect(tools.list(toolName(operation as Operation))).toEqual([
        expect.toSatisfy((tool) => listed('sox').includes(tool)),
      ]);
    }
    expect(tools.serverName(listed('sox'))).toBe('sox-protocol');
    for (const other of ['core', 'all', 'sox,core', 'channels__send']) {
      expect(tools.serverName(listed(other))).toBe('synod');
    }
  });

  test('[MC3] an unknown toolset is refused by name', () => {
    const refusal = tools.list('core,nope');
    expect(refusal).toMatchObject({
      refused: 'input.invalid',
      message: expect.stringContaining('"nope"'),
    });
  });

  test('[MC3] an alias can be called and is never listed', () => {
    expect(tools.find('channels__group_create')?.id).toBe('group.create');
    expect(listed('all').map(({ name }) => name)).not.toContain('channels__group_create');
  });
});

function textOf({ content: [first] }: ReturnType<typeof toToolResult>): unknown {
  return JSON.parse(first?.type === 'text' ? first.text : '');
}

describe('a tool result', () => {
  test('[MC5] a refusal names other operations as the tools they are', () => {
    const error = {
      error_code: 'validation_error',
      message: 'held by ada; wait for it with claims.wait {"task_id": "a.take"}, see docs.html',
    };
    expect(textOf(toToolResult({ error }))).toEqual({
      ...error,
      message: 'held by ada; wait for it with claims__wait {"task_id": "a.take"}, see docs.html',
    });
  });

  test('[MC4] says the same as structure and as text', () => {
    const ok = { message_id: '7', seq: 1 };
    expect(toToolResult({ ok })).toEqual({
      content: [{ type: 'text', text: '{"message_id":"7","seq":1}' }],
      structuredContent: ok,
    });
  });

  test('[MC4] what a reader cannot see is escaped in the text, and means the same', () => {
    const body = { note: 'a\u202eb\u009bc\u{e0041}d\u200be\u2028' };
    const result = toToolResult({ ok: { body } });
    const [first] = result.content;
    const text = first?.type === 'text' ? first.text : '';
    expect(text).toContain('a\\u202eb\\u009bc\\udb40\\udc41d\\u200be\\u2028');
    expect(JSON.parse(text)).toEqual({ body });
    expect(result.structuredContent).toEqual({ body });
  });

  test('[MC5] a refusal is a result that carries the envelope and the trace', () => {
    const error = {
      error_code: 'validation_error',
      message: 'no',
      detail: { reason: 'input.invalid' },
    };
    const metadata = { correlation_id: 'c', pipeline_trace: [] };
    expect(toToolResult({ error, metadata })).toEqual({
      isError: true,
      content: [{ type: 'text', text: JSON.stringify(error) }],
      _meta: { 'sox/metadata': metadata },
    });
  });
});
