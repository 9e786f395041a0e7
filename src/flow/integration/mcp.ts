/**
 * The tools of an MCP server as integrations, named `server.tool`. The server is reached by way of a guard;
 * its tools are those it had when it was registered, with the schemas they had then: what it says of them
 * later changes nothing [IG6]. The official client is an optional peer, loaded when it is asked for.
 */
import type {
  CallToolResult,
  Client,
  jsonSchemaValidator,
  Tool,
} from '@modelcontextprotocol/client';
import type { Guard } from '../../guard/guard.ts';
import type { Policy } from '../../guard/policy.ts';
import { currentTrace } from '../../telemetry/scope.ts';
import type { Integration } from './definition.ts';
import { IntegrationError } from './integration-error.ts';
import type { Integrations } from './integrations.ts';
import { createChildTransport, createGuardedFetch, type McpProgram } from './mcp-transport.ts';

const CONNECT_MS = 15_000;
const TOOLS_MAX = 256;
const PAGES_MAX = 32;

/**
 * How tools that come from a document or a server may be called; the same for all of them.
 *
 * @example
 * ```ts
 * const bounds: ToolBounds = { timeoutMs: 5_000, concurrency: 2, retries: 1 };
 * ```
 */
export type ToolBounds = Pick<
  Integration,
  'timeoutMs' | 'concurrency' | 'rate' | 'retries' | 'idempotent' | 'breaker'
>;

/**
 * Which MCP server is connected, and what it may do.
 *
 * @example
 * ```ts
 * const guard = createGuard({ execute: [{ program: 'mcp-files', args: ['/srv/docs'] }] });
 * const docs: McpOptions = {
 *   ...{ name: 'docs', guard, only: ['search'] },
 *   server: { program: 'mcp-files', args: ['/srv/docs'] },
 * };
 * ```
 */
export interface McpOptions extends ToolBounds {
  /** What its tools are named after. */
  readonly name: string;
  readonly server:
    | McpProgram
    | { readonly url: string; readonly headers?: Readonly<Record<string, string>> };
  /** What the connection itself may do: start the program, or reach the address. */
  readonly guard: Guard;
  /** The tools wanted; absent: all of them. */
  readonly only?: readonly string[];
  /** What whoever calls a tool must have; absent: the leave to reach that server. */
  readonly capabilities?: Policy;
}

/**
 * An MCP server whose tools are integrations until it is closed.
 *
 * @example
 * ```ts
 * const told = ({ names, skipped }: McpConnection): string =>
 *   `${names.length} tools, ${skipped.length} left out`;
 * ```
 */
export interface McpConnection {
  /** Names of the integrations. */
  readonly names: readonly string[];
  /** Tools that could not be registered, and why. */
  readonly skipped: readonly { readonly tool: string; readonly why: string }[];
  /** Ends the connection, and the integrations with it. */
  close(): Promise<void>;
}

/**
 * @example
 * ```ts
 * const files = await registerMcp(integrations, {
 *   name: 'files',
 *   server: { program: 'files-mcp', args: ['/srv/app'] },
 *   guard,
 * });
 * await integrations.invoke('files.read', { path: 'README.md' }, { as: 'ada' });
 * ```
 */
export async function registerMcp(
  integrations: Integrations,
  options: McpOptions,
): Promise<McpConnection> {
  const { name, server, guard, only } = options;
  const client = await open(server, guard);
  const names: string[] = [];
  const skipped: { tool: string; why: string }[] = [];
  async function close(): Promise<void> {
    for (const one of names.splice(0)) integrations.unregister(one);
    await client.close();
  }
  try {
    const version = client.getServerVersion()?.version ?? '0';
    for (const tool of await listTools(client)) {
      if (only !== undefined && !only.includes(tool.name)) continue;
      try {
        const integration = integrationOf(client, tool, options);
        integrations.register({ ...integration, name: `${name}.${tool.name}`, version });
        names.push(`${name}.${tool.name}`);
      } catch (error) {
        skipped.push({ tool: String(tool.name).slice(0, 100), why: (error as Error).message });
      }
    }
    const missing = only?.find((one) => !names.includes(`${name}.${one}`));
    if (missing !== undefined) {
      const why =
        skipped.find(({ tool }) => tool === missing)?.why ?? 'the server has no such tool';
      throw new IntegrationError(`${name}.${missing}: ${why}`, { code: 'integration.definition' });
    }
    return { names, skipped, close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

async function open(server: McpOptions['server'], guard: Guard): Promise<Client> {
  const library = await import('@modelcontextprotocol/client').catch((cause) => {
    const message = 'MCP servers need the package @modelcontextprotocol/client: install it';
    throw new IntegrationError(message, { code: 'integration.definition', cause });
  });
  // The schemas are the server's; they are compiled where what takes too long is called off.
  const jsonSchemaValidator: jsonSchemaValidator = {
    getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
  };
  const client = new library.Client({ name: 'synod', version: '1' }, { jsonSchemaValidator });
  const transport =
    'url' in server
      ? new library.StreamableHTTPClientTransport(new URL(server.url), {
          requestInit: { headers: { ...server.headers } },
          fetch: createGuardedFetch(guard),
        })
      : createChildTransport(guard, server);
  try {
    await client.connect(transport, { timeout: CONNECT_MS });
    return client;
  } catch (error) {
    await client.close().catch(() => {});
    throw error;
  }
}

async function listTools(client: Client): Promise<Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX && tools.length < TOOLS_MAX; page++) {
    const listed = await client.listTools(cursor === undefined ? {} : { cursor }, {
      timeout: CONNECT_MS,
    });
    tools.push(...listed.tools);
    cursor = listed.nextCursor;
    if (cursor === undefined) break;
  }
  return tools.slice(0, TOOLS_MAX);
}

function integrationOf(
  client: Client,
  tool: Tool,
  { server, guard: _guard, name: _name, only: _only, capabilities, ...bounds }: McpOptions,
): Omit<Integration, 'name' | 'version'> {
  return {
    ...bounds,
    input: tool.inputSchema,
    output: tool.outputSchema ?? true,
    capabilities: capabilities ?? toReach(server),
    async run(input, { signal }) {
      const traceparent = currentTrace();
      const asked = {
        name: tool.name,
        arguments: (input ?? {}) as Record<string, unknown>,
        ...(traceparent !== null && { _meta: { traceparent } }),
      };
      const result = (await client.callTool(asked, { signal })) as CallToolResult;
      if (result.isError === true) {
        // The server is well and says no: trying again would say the same.
        throw new IntegrationError(`${tool.name} says: ${textOf(result)}`, {
          ...{ code: 'integration.failed', isTerminal: true },
        });
      }
      return tool.outputSchema === undefined ? result.content : result.structuredContent;
    },
  };
}

function toReach(server: McpOptions['server']): Policy {
  if ('program' in server) {
    return { execute: [{ program: server.program, args: [...(server.args ?? [])] }] };
  }
  const { protocol, hostname, port } = new URL(server.url);
  const scheme = protocol === 'https:' ? 'https' : 'http';
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const rule = { scheme, host, methods: ['POST'] } as const;
  return { connect: [port === '' ? rule : { ...rule, port: Number(port) }] };
}

function textOf({ content = [] }: CallToolResult): string {
  return content
    .map((block) => (block.type === 'text' ? block.text : `[${block.type}]`))
    .join('\n')
    .slice(0, 1_000);
}
