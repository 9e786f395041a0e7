/** Codex that stays: its app-server, what it thinks of our hooks, and the daemon of its terminal. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliPath } from '../clis.ts';
import { listOf, objectOf, textOf } from '../dialects/json.ts';
import type { Scene } from '../scene.ts';
import type { Stage } from '../stage.ts';
import { openStdioRpc, type StdioRpc } from '../stdio-rpc.ts';
import { openTerminal, type Terminal } from '../terminal.ts';
import { codex } from './codex.ts';

export interface HookState {
  readonly key: string;
  readonly hash: string;
  readonly trust: string;
}

/** Whose Codex it is. */
export type CodexHome = Pick<Stage, 'scene' | 'setup'>;

export async function openAppServer({ scene, setup }: CodexHome): Promise<StdioRpc> {
  const env = codex.env(setup);
  const rpc = openStdioRpc(
    scene.start(cliPath('codex'), ['app-server'], { env, keepsInput: true }),
  );
  await rpc.call('initialize', {
    clientInfo: { name: 'synod', version: '0' },
    // The queue of a thread is not open to others.
    capabilities: { experimentalApi: true },
  });
  rpc.tell('initialized');
  return rpc;
}

export async function readHookStates(rpc: StdioRpc, { project }: Scene): Promise<HookState[]> {
  const { data } = await rpc.call('hooks/list', { cwds: [project] });
  return listOf(data).flatMap((entry) =>
    listOf(objectOf(entry).hooks).map((each) => {
      const { key, currentHash, trustStatus } = objectOf(each);
      return { key: textOf(key), hash: textOf(currentHash), trust: textOf(trustStatus) };
    }),
  );
}

/**
 * What "Trust all and continue" writes when a person chooses it. Only for a home that is a test's:
 * nobody else may give this answer.
 */
export function trustAsPerson(scene: Scene, states: readonly HookState[]): void {
  const tables = states.map(
    ({ key, hash }) => `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${hash}"\n`,
  );
  appendFileSync(join(scene.home, '.codex', 'config.toml'), tables.join(''));
}

/** A person opens Codex in a terminal, where it has looked at our hooks once and agreed. */
export async function openCodexTerminal(of: CodexHome, prompt: string): Promise<Terminal> {
  const { scene, setup } = of;
  scene.atEnd(() => stopDaemon(of));
  trustAsPerson(scene, await readHookStates(await openAppServer(of), scene));
  return openTerminal(scene, 'codex', [prompt], codex.env(setup));
}

/** Ends the daemon that the terminal left behind, and the one that would update it. */
export async function stopDaemon({ scene, setup }: CodexHome): Promise<void> {
  await scene.run(cliPath('codex'), ['app-server', 'daemon', 'stop'], { env: codex.env(setup) });
  const path = join(scene.home, '.codex', 'app-server-daemon', 'daemon-updater.pid');
  if (!existsSync(path)) return;
  const { pid } = JSON.parse(readFileSync(path, 'utf8'));
  try {
    if (typeof pid === 'number') process.kill(pid);
  } catch {
    // It has gone by itself.
  }
}
