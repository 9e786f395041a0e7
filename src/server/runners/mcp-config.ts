/**
 * The MCP configuration of one turn: a file that reaches this hub, and no other, with the token of
 * the turn. It lies in the scratch directory of the turn and is removed with it [RU7].
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TurnJob } from './runner.ts';

/** As most clients read it: `mcpServers`, by name. */
export async function writeMcpConfig({ hub, scratch, turn }: TurnJob): Promise<string> {
  const path = join(scratch, 'mcp.json');
  const server = {
    type: 'http',
    url: `${hub.url}/mcp`,
    headers: {
      authorization: `Bearer ${hub.token}`,
      ...(turn.traceparent != null && { traceparent: turn.traceparent }),
    },
  };
  await writeFile(path, `${JSON.stringify({ mcpServers: { synod: server } })}\n`, { mode: 0o600 });
  return path;
}
