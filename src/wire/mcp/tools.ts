/**
 * The operation table as MCP tools: one tool an operation, in the table's order,
 * with all four hints and both schemas. A toolset chooses what is listed, so that
 * a client pays for what it uses; it is no permission, so every tool and alias can
 * be called and the operation's own access rule decides [MC3]. Operations that need
 * a connection that stays open are not tools.
 */
import type { Tool } from '@modelcontextprotocol/server';
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { type Operation, type Toolset, toolName } from '../operation.ts';
import { SOX_OPERATIONS, SOX_SERVER_NAME } from '../sox.ts';
import { SERVER_NAME } from '../tool-names.ts';
import { compactSchema } from './schema.ts';

export interface McpTools {
  /**
   * `core`, `core,groups`, `sox`, `all`, or exact tool names, separated by commas; of these only the
   * operations that the caller may use, where it is held to some.
   */
  list(toolset: string, may?: ReadonlySet<string> | null): readonly Tool[] | Refusal;
  find(name: string): Operation | undefined;
  /** A client that asked for SOX's tools and no others is told SOX's name [MC17]. */
  serverName(listed: readonly Tool[]): string;
}

export const DEFAULT_TOOLSET = 'core';
const TOOLSETS: readonly Toolset[] = ['core', 'groups', 'work', 'more', 'admin'];
/** The operations of SOX 1.0, whichever set they are in here. */
const SOX_TOOLSET = 'sox';
const SOX_NAMES: ReadonlySet<string> = new Set(SOX_OPERATIONS);

export function createMcpTools(operations: readonly Operation[]): McpTools {
  const offered = operations.filter((operation) => !operation.isStreaming);
  // Schemas are made for who lists them: most clients list a tenth, and wait for it at their start.
  const made = new Map<Operation, Tool>();
  const toolOf = (operation: Operation): Tool => {
    const tool = made.get(operation) ?? toTool(operation);
    made.set(operation, tool);
    return tool;
  };
  const byName = new Map(
    offered.flatMap((operation) =>
      [toolName(operation), ...operation.aliases].map((name) => [name, operation] as const),
    ),
  );
  return {
    list(toolset, may = null) {
      const wanted = new Set(
        toolset
          .split(',')
          .map((name) => name.trim())
          .filter((name) => name !== ''),
      );
      if (wanted.size === 0) wanted.add(DEFAULT_TOOLSET);
      const isAll = wanted.delete('all');
      const isSox = wanted.delete(SOX_TOOLSET);
      const unknown = [...wanted].find((name) => !isToolset(name) && !byName.has(name));
      if (unknown !== undefined) {
        return refuse(
          'input.invalid',
          `no toolset or tool is called ${JSON.stringify(unknown.slice(0, 64))}; ` +
            `use ${TOOLSETS.join(', ')}, ${SOX_TOOLSET}, all or tool names`,
          { violations: [{ field: 'tools', issue: 'is not a toolset or tool' }] },
        );
      }
      const named = new Set([...wanted].map((name) => byName.get(name)));
      return offered
        .filter(({ id }) => may === null || may.has(id))
        .filter(
          (operation) =>
            isAll ||
            wanted.has(operation.toolset) ||
            named.has(operation) ||
            (isSox && SOX_NAMES.has(operation.name)),
        )
        .map(toolOf);
    },
    find: (name) => byName.get(name),
    serverName(listed) {
      const isSox =
        listed.length === SOX_NAMES.size &&
        listed.every(({ name }) => SOX_NAMES.has(byName.get(name)?.name ?? ''));
      return isSox ? SOX_SERVER_NAME : SERVER_NAME;
    },
  };
}

function isToolset(name: string): boolean {
  return (TOOLSETS as readonly string[]).includes(name);
}

function toTool(operation: Operation): Tool {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = operation.hints;
  return {
    name: toolName(operation),
    title: operation.title,
    description: operation.doc,
    inputSchema: compactSchema(operation.input, 'input') as Tool['inputSchema'],
    outputSchema: compactSchema(operation.output, 'output') as NonNullable<Tool['outputSchema']>,
    annotations: { readOnlyHint, destructiveHint, idempotentHint, openWorldHint },
    // Claude Code hides tools behind a search unless it is told not to; a tool nobody sees is not used.
    ...(operation.toolset === 'core' && { _meta: { 'anthropic/alwaysLoad': true } }),
  };
}
