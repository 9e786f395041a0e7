/**
 * A hook, run as the vendor runs it: the registered line by a shell with the event on stdin; for opencode
 * the installed plugin, loaded in a process of its own, with the doctor in the place of opencode.
 * What comes back is what the vendor would have seen, with how long it took.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { readJson } from '../../core/law/json.ts';
import { isFields } from '../../wire/fields.ts';
import type { Vendor } from '../../wire/tool-names.ts';
import type { InstallSite } from '../install/vendors/vendor.ts';
import { openLineRpc } from './line-rpc.ts';
import { PLUGIN_DRIVER } from './plugin-driver.ts';
import { pluginPath, readHook } from './registered.ts';
import { type Environment, hookEnvironment, type VendorSession } from './vendor-env.ts';

export interface Fired {
  /** Empty for silence. */
  readonly answer: Readonly<Record<string, unknown>>;
  readonly ms: number;
  /** Why there is no answer at all, null when silence is the answer. */
  readonly trouble: string | null;
}

export interface HookRunner {
  fire(event: string, fields: object, more?: FireMore): Promise<Fired>;
  /** For opencode: what an idle session was prompted with; null when nothing came in time. */
  prompted(timeoutMs: number): Promise<string | null>;
  close(): Promise<void>;
}

export interface FireMore {
  readonly cwd?: string;
  readonly env?: Environment;
}

/** More than any vendor gives a hook. */
const HOOK_MS = 6_000;
const LOAD_MS = 10_000;

export function openHookRunner(
  vendor: Vendor,
  site: InstallSite,
  clean: Environment,
  session: VendorSession,
): HookRunner | string {
  const env = hookEnvironment(vendor, clean, session);
  if (vendor === 'opencode') return openPlugin(site, env, session);
  return {
    async fire(event, fields, { cwd = session.root, env: more = {} } = {}) {
      const hook = readHook(vendor, site, event);
      if (hook === null) {
        return { answer: {}, ms: 0, trouble: `no hook of ours is registered for ${event}` };
      }
      const input = { session_id: session.id, cwd, hook_event_name: event, ...fields };
      return runLine(hook.command, JSON.stringify(input), cwd, { ...env, ...more });
    },
    prompted: () => Promise.resolve(null),
    close: () => Promise.resolve(),
  };
}

async function runLine(line: string, input: string, cwd: string, env: Environment): Promise<Fired> {
  const from = performance.now();
  const child = spawn('/bin/sh', ['-c', line], { cwd, env, stdio: 'pipe' });
  const timer = setTimeout(() => child.kill('SIGKILL'), HOOK_MS);
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  try {
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    const ms = performance.now() - from;
    const { exitCode, signalCode } = child;
    const words = stderr.trim().split('\n').at(-1)?.slice(0, 200);
    if (signalCode !== null)
      return { answer: {}, ms, trouble: `it took longer than ${HOOK_MS} ms` };
    if (exitCode !== 0) {
      return { answer: {}, ms, trouble: `it ended with exit code ${exitCode}: ${words}` };
    }
    return { ...parsed(stdout), ms };
  } catch (error) {
    return { answer: {}, ms: 0, trouble: (error as Error).message };
  } finally {
    clearTimeout(timer);
  }
}

function parsed(stdout: string): Pick<Fired, 'answer' | 'trouble'> {
  if (stdout.trim() === '') return { answer: {}, trouble: null };
  try {
    const value: unknown = readJson(stdout);
    if (isFields(value)) return { answer: value, trouble: null };
  } catch {
    // Told below.
  }
  return { answer: {}, trouble: 'what it printed is no JSON object' };
}

function openPlugin(
  site: InstallSite,
  env: Environment,
  { id, root }: VendorSession,
): HookRunner | string {
  const path = pluginPath(site);
  if (path === null) return 'the plugin is not where opencode looks for it';
  const rpc = openLineRpc({
    command: process.execPath,
    args: ['--input-type=module', '-e', PLUGIN_DRIVER, '--', path],
    env,
    cwd: root,
  });
  return {
    async fire(event, fields, { cwd = root } = {}) {
      const said = await rpc.ask(
        'fire',
        { event, session: id, directory: cwd, ...fields },
        LOAD_MS,
      );
      if ('error' in said) return { answer: {}, ms: 0, trouble: `${path}: ${said.error}` };
      const { answer, ms } = said.result;
      return { answer: isFields(answer) ? answer : {}, ms: Number(ms), trouble: null };
    },
    async prompted(timeoutMs) {
      const said = await rpc.ask('prompted', {}, timeoutMs);
      return 'result' in said && typeof said.result.text === 'string' ? said.result.text : null;
    },
    close: () => rpc.close(),
  };
}
