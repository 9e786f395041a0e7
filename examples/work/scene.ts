/**
 * A hub of its own for an example: in this process, on any free port, in memory, gone at the end.
 * Agents come to it as they would to yours, over a socket.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// In a project of your own: from 'synod' and 'synod/server'.
import { type Client, connect, SynodError } from '../../src/client/index.ts';
import { parseConfig, startServer } from '../../src/server/run/index.ts';

export interface Scene extends AsyncDisposable {
  agent(name: string): Promise<Client>;
}

export async function openScene(): Promise<Scene> {
  const dir = await mkdtemp(join(tmpdir(), 'synod-example-'));
  const flags = { port: '0', store: 'memory:', dir, logLevel: 'silent' };
  const config = parseConfig({ flags, env: {}, file: undefined, home: dir, cwd: dir });
  if (Array.isArray(config)) throw new Error(config.map(({ message }) => message).join('; '));
  const hub = await startServer(config);
  // Whoever owns the hub's directory may speak for any agent; elsewhere each has a token of its own.
  const token = (await readFile(join(dir, 'credential'), 'utf8')).trim();
  const agents: Client[] = [];
  return {
    async agent(name) {
      const agent = await connect({ url: hub.url, token, agent: name });
      agents.push(agent);
      return agent;
    },
    async [Symbol.asyncDispose]() {
      for (const agent of agents) await agent[Symbol.asyncDispose]();
      await hub.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The code of a refusal; throws when the hub did not refuse. */
export async function refusalOf(asked: Promise<unknown>): Promise<SynodError> {
  const answer = await asked.catch((error: unknown) => error);
  if (answer instanceof SynodError) return answer;
  throw new Error('this should have been refused');
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** An example that is not true any more must not pass. */
export function check(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`not as told: ${what}`);
}
