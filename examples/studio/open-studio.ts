/**
 * The studio, opened: a hub in a directory, eight agents that it runs, and the workflow that leads from a brief
 * to a release. Close it or kill it, and open it again on the same directory: what was begun goes on.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
// In a project of your own: from 'synod/flow' and 'synod/server'.
import { openFlow, type Run, workflow } from '../../src/flow/index.ts';
import { parseConfig, startServer } from '../../src/server/run/index.ts';
import { ROLES, runnerFor, type Vendor } from './roles.ts';
import { type Brief, type Shipped, ship } from './stages.ts';

export const studioFlow = workflow(
  'studio',
  (ctx, input: Brief): Promise<Shipped> => ship(ctx, input),
);

export interface Studio extends AsyncDisposable {
  readonly url: string;
  /** The owner's credential, for the page and the command line. */
  readonly token: string;
  /** Where the product is made. */
  readonly work: string;
  start(brief: Brief): Promise<Run<Shipped>>;
}

export interface StudioOptions {
  readonly dir: string;
  readonly vendor?: Vendor;
  readonly port?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** What a killed studio held is taken up again so soon. */
const LEASE_MS = 5_000;
/** A role is asked a few times in a short run; a loop is still found out. */
const LIMITS = { turns_per_10_min: 30, pair_per_min: 60 };

export async function openStudio(options: StudioOptions): Promise<Studio> {
  const { dir, vendor = 'rules', port = 0, env = process.env } = options;
  const work = join(dir, 'work');
  await mkdir(work, { recursive: true });
  const config = parseConfig({
    flags: { port: String(port), dir: join(dir, 'hub'), logLevel: 'warn' },
    ...{ env: {}, file: { turns_roots: [dir] }, home: dir, cwd: dir },
  });
  if (Array.isArray(config)) throw new Error(config.map(({ message }) => message).join('; '));
  const hub = await startServer(config, { env });
  const token = (await readFile(join(dir, 'hub', 'credential'), 'utf8')).trim();

  /** As an agent, or as the owner, who administers. */
  async function ask(operation: string, input: object, agent?: string): Promise<void> {
    const answer = await fetch(`${hub.url}/v1/ops/${operation}`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(agent !== undefined && { 'x-sox-agent-id': agent }),
      },
      body: JSON.stringify(input),
    });
    if (!answer.ok) throw new Error(`${operation}: ${await answer.text()}`);
  }

  for (const role of Object.keys(ROLES)) {
    await ask('subscribe', { pattern: 'studio' }, role);
    await ask('agents_manage', {
      ...{ agent_id: role, runner: runnerFor(vendor, work), limits: LIMITS },
    });
  }
  const flow = await openFlow({
    ...{ url: hub.url, token, agent: 'studio', workflows: [studioFlow], leaseMs: LEASE_MS },
  });
  return {
    ...{ url: hub.url, token, work },
    start: (brief) => flow.start(studioFlow, brief, { id: `studio-${brief.project}` }),
    async [Symbol.asyncDispose]() {
      await flow.close();
      await hub.close();
    },
  };
}
