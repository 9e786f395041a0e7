/**
 * The MCP servers a client names in `session/new`: those that run as a process on stdio, connected
 * through the official client when it is installed. Others are left out and said so; a server that
 * does not start costs its session nothing but a note.
 */
import type { McpServer, McpServerStdio } from '@agentclientprotocol/sdk';
import type { Client } from '@modelcontextprotocol/client';
import type { JsonObject } from '../process/json-object.ts';
import { messageOfError, ProgramError, quoted } from './program-error.ts';

const SERVERS_MAX = 16;
const CONNECT_MS = 10_000;
const TEXT_CHARS_MAX = 1_000_000;

export interface McpServers {
  connect(session: string, servers: readonly McpServer[]): Promise<void>;
  /** The text of a resource, from the first server that has it; null when none does. */
  readText(session: string, uri: string): Promise<string | null>;
  callTool(session: string, call: ToolCall): Promise<string>;
  close(session: string): void;
  closeAll(): Promise<void>;
}

export interface ToolCall {
  readonly server: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly signal: AbortSignal;
}

export function createMcpServers(version: string, note: (text: string) => void): McpServers {
  const connected = new Map<string, Map<string, Client>>();
  const closing = new Set<Promise<void>>();

  function letGo(client: Client): void {
    const gone = client
      .close()
      .catch((error) => note(`an MCP server did not close: ${messageOfError(error)}`))
      .finally(() => closing.delete(gone));
    closing.add(gone);
  }
  function close(session: string): void {
    for (const client of connected.get(session)?.values() ?? []) letGo(client);
    connected.delete(session);
  }
  async function open(server: McpServerStdio): Promise<Client | null> {
    try {
      const [{ Client }, { StdioClientTransport }] = await Promise.all([
        import('@modelcontextprotocol/client'),
        import('@modelcontextprotocol/client/stdio'),
      ]);
      const client = new Client({ name: 'synod', version });
      const { command, args } = server;
      // The library's own short list of variables, and what the client named: nothing else of ours.
      const env = Object.fromEntries(server.env.map(({ name, value }) => [name, value]));
      const transport = new StdioClientTransport({ command, args, env, stderr: 'inherit' });
      await client.connect(transport, { timeout: CONNECT_MS });
      return client;
    } catch (error) {
      note(`MCP server ${quoted(server.name)} is not connected: ${messageOfError(error)}`);
      return null;
    }
  }
  return {
    async connect(session, servers) {
      const stdio = servers.filter((server): server is McpServerStdio => 'command' in server);
      if (stdio.length < servers.length) note('MCP servers over HTTP or SSE are left out');
      if (stdio.length > SERVERS_MAX) note(`only the first ${SERVERS_MAX} MCP servers are used`);
      const own = connected.get(session) ?? new Map<string, Client>();
      connected.set(session, own);
      const wanted = stdio.slice(0, SERVERS_MAX).filter(({ name }) => !own.has(name));
      await Promise.all(
        wanted.map(async (server) => {
          const client = await open(server);
          if (client === null) return;
          // The session may have been closed meanwhile.
          if (connected.get(session) === own) own.set(server.name, client);
          else letGo(client);
        }),
      );
    },
    async readText(session, uri) {
      for (const client of connected.get(session)?.values() ?? []) {
        try {
          const { contents } = await client.readResource({ uri });
          return contents
            .map((one) => ('text' in one ? one.text : `[${uri}, not text]`))
            .join('\n')
            .slice(0, TEXT_CHARS_MAX);
        } catch {
          // Not its resource: the next one may have it.
        }
      }
      return null;
    },
    async callTool(session, { server, tool, input, signal }) {
      const client = connected.get(session)?.get(server);
      if (client === undefined) {
        throw new ProgramError(-32_602, `no MCP server ${quoted(server)} is connected`);
      }
      const result = await client.callTool({ name: tool, arguments: input }, { signal });
      const text = (result.content ?? [])
        .map((block) => (block.type === 'text' ? block.text : `[${block.type}]`))
        .join('\n');
      return `${result.isError === true ? 'error: ' : ''}${text}`.slice(0, TEXT_CHARS_MAX);
    },
    close,
    async closeAll() {
      for (const session of [...connected.keys()]) close(session);
      await Promise.all(closing);
    },
  };
}
