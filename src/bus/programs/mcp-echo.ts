/**
 * A tiny MCP tool server: echo, reverse, uppercase, delay, error. For trying clients, and for the
 * MCP servers a test hands to an agent. It offers one resource, so that links can be read too.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Server, type Tool } from '@modelcontextprotocol/server';
import { isObject, type JsonObject, textAt } from '../process/json-object.ts';
import { serveMcp } from './mcp-wire.ts';
import type { LineIo } from './stdio-lines.ts';

const DELAY_MS_MAX = 60_000;
const RESOURCE = { uri: 'echo://hello', name: 'hello', mimeType: 'text/plain' };
const HINTS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

interface EchoTool {
  readonly description: string;
  readonly properties: NonNullable<Tool['inputSchema']['properties']>;
  readonly required: string[];
  run(input: JsonObject, signal: AbortSignal): Promise<string> | string;
}

const text = { type: 'string', description: 'the text' };
const ofText = (description: string, run: (text: string) => string): EchoTool => ({
  description,
  properties: { text },
  required: ['text'],
  run: (input) => run(wanted(input)),
});

const TOOLS: Readonly<Record<string, EchoTool>> = {
  echo: ofText('Says the text back.', (given) => given),
  reverse: ofText('Says the text backwards.', (given) => Array.from(given).reverse().join('')),
  uppercase: ofText('Says the text in capitals.', (given) => given.toUpperCase()),
  delay: {
    description: 'Says the text back after a while.',
    properties: { text, ms: { type: 'integer', minimum: 0, maximum: DELAY_MS_MAX } },
    required: ['text', 'ms'],
    async run(input, signal) {
      const { ms } = input;
      if (!Number.isInteger(ms) || (ms as number) < 0 || (ms as number) > DELAY_MS_MAX) {
        throw new Error(`ms must be a whole number from 0 to ${DELAY_MS_MAX}`);
      }
      await wait(ms as number, undefined, { signal });
      return wanted(input);
    },
  },
  error: {
    description: 'Fails with the message.',
    properties: { message: { type: 'string' } },
    required: [],
    run(input) {
      throw new Error(textAt(input, 'message') ?? 'asked to fail');
    },
  },
};

function wanted(input: JsonObject): string {
  const given = textAt(input, 'text');
  if (given === undefined) throw new Error('text must be a string');
  return given;
}

export function runMcpEcho(version: string, io: LineIo): Promise<void> {
  return serveMcp({ create: () => createServer(version) }, io);
}

function createServer(version: string): Server {
  const server = new Server(
    { name: 'synod-mcp-echo', version },
    { capabilities: { tools: {}, resources: {} } },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(TOOLS).map(
      ([name, { description, properties, required }]): Tool => ({
        ...{ name, description, annotations: HINTS },
        inputSchema: { type: 'object', properties, required },
      }),
    ),
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = Object.hasOwn(TOOLS, params.name) ? TOOLS[params.name] : undefined;
    try {
      if (tool === undefined) throw new Error(`there is no tool ${JSON.stringify(params.name)}`);
      const input = isObject(params.arguments) ? params.arguments : {};
      const said = await tool.run(input, mcpReq.signal);
      return { content: [{ type: 'text', text: said }] };
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      return { content: [{ type: 'text', text: said }], isError: true };
    }
  });
  server.setRequestHandler('resources/list', () => ({ resources: [RESOURCE] }));
  server.setRequestHandler('resources/read', ({ params }) => {
    if (params.uri !== RESOURCE.uri) throw new Error(`there is only ${RESOURCE.uri}`);
    return { contents: [{ ...RESOURCE, text: 'hello from an MCP resource' }] };
  });
  return server;
}
