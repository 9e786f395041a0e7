/**
 * A service written, looked at and taken away. What is there and is not as we wrote it is left alone;
 * a machine that does not take the service is left as it was; taking it away leaves nothing behind.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isSealed } from '../harness/install/seal.ts';
import { fail } from './failure.ts';
import { foldersMade, type ServiceSpec } from './service-files.ts';
import type { Manager, ServiceWorld } from './service-system.ts';

export type ServiceState = 'absent' | 'installed' | 'changed';

export interface ServicePlan {
  readonly path: string;
  readonly text: string;
  /** What it replaces: a file of ours, or nothing. */
  readonly before: string | null;
  readonly commands: readonly (readonly string[])[];
}

export function readState(manager: Manager): { state: ServiceState; text: string | null } {
  if (!existsSync(manager.path)) return { state: 'absent', text: null };
  const text = manager.decode(readFileSync(manager.path));
  return { state: isSealed(text) ? 'installed' : 'changed', text };
}

/** What installing would write and run; nothing is done yet. */
export function planInstall(manager: Manager, spec: ServiceSpec): ServicePlan {
  const { state, text: before } = readState(manager);
  if (state === 'changed') {
    throw fail('service.changed', `${manager.path} is there and not as Synod writes it`, {
      hint: 'look at it, then move it away, or take it away with: synod service uninstall --force',
    });
  }
  const folders = before === null ? missingFolders(manager.path).length : foldersMade(before);
  const text = manager.text(spec, folders);
  const isSame = text === before;
  const commands = isSame ? [] : before === null ? manager.install : manager.change;
  return { path: manager.path, text, before, commands };
}

/** Writes, and tells the machine; what it does not take is taken back. */
export function carryOutInstall(world: ServiceWorld, manager: Manager, plan: ServicePlan): void {
  if (plan.commands.length === 0) return;
  const folders = missingFolders(plan.path);
  mkdirSync(dirname(plan.path), { recursive: true });
  // It may name a token, and it says where secrets are.
  writeFileSync(plan.path, manager.encode(plan.text), { mode: 0o600 });
  for (const command of plan.commands) {
    const { code, output } = world.run(command);
    if (code === 0) continue;
    // One that is not running cannot be ended, and that is well.
    if (manager.stop.includes(command)) continue;
    if (plan.before === null) {
      for (const undo of manager.stop) world.run(undo);
      rmSync(plan.path, { force: true });
      removeEmpty(folders);
    } else writeFileSync(plan.path, manager.encode(plan.before), { mode: 0o600 });
    for (const undo of manager.forget) world.run(undo);
    throw fail('service.failed', `${command.join(' ')} failed: ${wordsOf(output, code)}`, {
      hint: 'nothing was left behind; without such a session start it with: synod up',
    });
  }
}

/** Takes away what is ours; the answer says which of the commands failed. */
export function carryOutUninstall(
  world: ServiceWorld,
  manager: Manager,
  isForced: boolean,
): { readonly wasThere: boolean; readonly failed: readonly string[] } {
  const { state, text } = readState(manager);
  if (state === 'changed' && !isForced) {
    throw fail(
      'service.changed',
      `${manager.path} is not as Synod wrote it; it was left as it is`,
      {
        hint: 'look at what was changed, then: synod service uninstall --force',
      },
    );
  }
  if (state === 'absent') return { wasThere: false, failed: [] };
  const failed: string[] = [];
  const tell = (commands: Manager['stop']): void => {
    for (const command of commands) {
      const { code, output } = world.run(command);
      if (code !== 0) failed.push(`${command.join(' ')}: ${wordsOf(output, code)}`);
    }
  };
  tell(manager.stop);
  rmSync(manager.path);
  const made = parentsOf(manager.path).slice(0, foldersMade(text ?? ''));
  removeEmpty(made);
  tell(manager.forget);
  return { wasThere: true, failed };
}

/** Innermost first. */
function missingFolders(path: string): string[] {
  return parentsOf(path).filter((folder) => !existsSync(folder));
}

function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) parents.push(at);
  return parents;
}

/** What others put there stays, and with it the folder. */
function removeEmpty(folders: readonly string[]): void {
  for (const folder of folders) {
    try {
      rmdirSync(folder);
    } catch {
      return;
    }
  }
}

function wordsOf(output: string, code: number | null): string {
  const [line = ''] = output.trim().split('\n').slice(-1);
  return line === '' ? `exit code ${code}` : line;
}
