/**
 * The two MCP doors, spoken through the MCP project's own client.
 *
 * Over HTTP each agent has one connection and is known by its headers. Over
 * stdio each agent has one `synod mcp` process, known by its arguments and
 * environment. Both close with the door. An answer counts only if its structured
 * content and its text say the same.
 */

import { isDeepStrictEqual } from 'node:util';

import {
  type CallToolResult,
  Client,
  type JsonSchemaType,
  type JsonSchemaValidator,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';

import {
  type Answer,
  CALL_TIMEOUT_MS,
  type Call,
  type Door,
  type DoorOptions,
  identityHeaders,
} from './door.ts';
import { isObject } from './match.ts';
import { environment, SYNOD } from './server.ts';
import type { Operation } from './story.ts';

type McpDoorName = 'mcp-http' | 'mcp-stdio';

const TOOLS: Readonly<Record<Operation, string>> = {
  send: 'channels__send',
  recv: 'channels__recv',
  subscribe: 'channels__subscribe',
  unsubscribe: 'channels__unsubscribe',
  list_channels: 'channels__list_channels',
  list_agents: 'channels__list_agents',
  channels_ack: 'channels__ack',
  channels_heartbeat: 'channels__heartbeat',
  replay: 'channels__replay',
  channels_collect: 'channels__collect',
  group_create: 'group__create',
  group_invite: 'group__invite',
  group_join: 'group__join',
  group_leave: 'group__leave',
  group_list_members: 'group__list_members',
};

interface Connection {
  readonly client: Client;
  close(): Promise<void>;
}

export function openMcpDoor(name: McpDoorName, options: DoorOptions): Door {
  const connections = new Map<string, Promise<Connection>>();
  const connect = (call: Call) => {
    // A bridge declares its version when it starts, so another version is another connection.
    const key = JSON.stringify([call.agent, call.clientVersion]);
    const known = connections.get(key);
    if (known !== undefined) return known;
    const opened = name === 'mcp-http' ? overHttp(call, options) : overStdio(call, options);
    connections.set(key, opened);
    return opened;
  };
  return {
    async call(call) {
      const { client } = await connect(call);
      const result = await client.callTool(
        {
          name: TOOLS[call.op],
          arguments: { ...call.input },
          ...(name === 'mcp-http' ? { _meta: requestMeta(call, options) } : {}),
        },
        { timeout: CALL_TIMEOUT_MS },
      );
      return readAnswer(call.op, result);
    },
    async close() {
      const opened = await Promise.allSettled(connections.values());
      await Promise.all(
        opened.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)),
      );
    },
  };
}

function requestMeta(call: Call, options: DoorOptions): Record<string, unknown> {
  return {
    ...(call.clientVersion === undefined ? {} : { 'sox/client_version': call.clientVersion }),
    ...(options.trace ? { 'sox/trace': true } : {}),
  };
}

async function overHttp(call: Call, options: DoorOptions): Promise<Connection> {
  const transport = new StreamableHTTPClientTransport(new URL('/mcp?tools=sox', options.url), {
    requestInit: { headers: { ...identityHeaders(call.agent, options) } },
  });
  const client = await connectClient(transport, options);
  return {
    client,
    async close() {
      await transport.terminateSession();
      await client.close();
    },
  };
}

async function overStdio(call: Call, options: DoorOptions): Promise<Connection> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [SYNOD, 'mcp', '--as', call.agent, '--url', options.url, '--tools', 'sox'],
    env: {
      ...environment('/nonexistent'),
      // The fixtures count every operation and presence event.
      SOX_NO_PRESENCE: '1',
      ...(options.space === undefined ? {} : { SOX_NAMESPACE: options.space }),
      ...(call.clientVersion === undefined ? {} : { SOX_CLIENT_VERSION: call.clientVersion }),
      ...(options.trace ? { SOX_TRACE: '1' } : {}),
    },
    stderr: 'pipe',
  });
  let log = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const client = await connectClient(transport, options).catch((cause: unknown) => {
    throw new Error(`the bridge of ${call.agent} did not start; stderr: ${log}`, { cause });
  });
  return { client, close: () => client.close() };
}

const ajv = new AjvJsonSchemaValidator();
const known = new Map<string, JsonSchemaValidator<unknown>>();
/** Every answer is held to the schema its server lists; the same schema is compiled once. */
const jsonSchemaValidator = {
  getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const text = JSON.stringify(schema);
    const validator = known.get(text) ?? ajv.getValidator<T>(schema);
    known.set(text, validator);
    return validator as JsonSchemaValidator<T>;
  },
};

async function connectClient(transport: Transport, options: DoorOptions): Promise<Client> {
  const about = { name: 'sox-conformance', version: '1.0.0' };
  const client = new Client(about, { jsonSchemaValidator });
  await client.connect(transport, { timeout: CALL_TIMEOUT_MS });
  if (options.listsTools) {
    const { tools } = await client.listTools(undefined, { timeout: CALL_TIMEOUT_MS });
    const offered = new Set(tools.map((tool) => tool.name));
    const missing = Object.values(TOOLS).filter((name) => !offered.has(name));
    if (missing.length > 0) throw new Error(`the server does not offer ${missing.join(', ')}`);
  }
  return client;
}

function readAnswer(op: Operation, result: CallToolResult): Answer {
  const { structuredContent, isError = false } = result;
  const [first] = result.content;
  const said: unknown = first?.type === 'text' ? JSON.parse(first.text) : undefined;
  // An error is said in text alone: clients hold structure to the tool's output schema.
  const output = isError && structuredContent === undefined ? said : structuredContent;
  if (!isObject(output)) {
    throw new Error(`${op} answered no structured content: ${JSON.stringify(result)}`);
  }
  if (!isDeepStrictEqual(said, output)) {
    throw new Error(
      `${op} says one thing as text, another as structure: ${JSON.stringify(result)}`,
    );
  }
  if (isError !== 'error_code' in output) {
    throw new Error(`${op} answered isError ${isError} with ${JSON.stringify(output)}`);
  }
  const metadata = result._meta?.['sox/metadata'];
  return { isError, output, trace: isObject(metadata) ? metadata.pipeline_trace : undefined };
}
