/** What one server says to one client, where it depends on who the client is. */
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { isRefusal, refuse } from '../../core/law/decider.ts';
import { toEnvelope } from '../errors.ts';
import { operationList } from '../operations/table.ts';
import { createMcpServer } from './server.ts';
import { createMcpTools } from './tools.ts';

async function toolsFor(name: string) {
  const tools = createMcpTools(operationList);
  const listed = tools.list('core');
  if (isRefusal(listed)) throw new Error(listed.message);
  const server = createMcpServer({
    ...{ tools, listed, version: '0' },
    call: async () => ({ error: toEnvelope(refuse('access.denied', 'not yours')) }),
    onError: () => {},
    onFailure: () => refuse('internal', 'not expected here'),
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name, version: '0' });
  await Promise.all([server.connect(ours), client.connect(theirs)]);
  const said = await client.listTools();
  await client.close();
  return said.tools;
}

test('[MC15] the client that takes any JSON for structure is told no output schema', async () => {
  for (const { outputSchema } of await toolsFor('gemini-cli-mcp-client')) {
    expect(outputSchema).toBeUndefined();
  }
  for (const { outputSchema } of await toolsFor('another')) expect(outputSchema).toBeDefined();
});
