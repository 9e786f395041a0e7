/**
 * A hub, and coding agents as far as a hub can see them: the script that `synod install` writes, run by
 * a shell with a hook's input on stdin; and processes that live as long as a harness would.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { hookShim, hookShimPath } from '../../src/harness/install/shim.ts';
import type { Vendor } from '../../src/wire/tool-names.ts';
import {
  fetchReply,
  type HubOptions,
  type Json,
  openRunningHub,
  type Reply,
  type RunningHub,
} from './running-hub.ts';

export interface Fired {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What was printed, parsed; null for silence. */
  readonly answer: Json;
  readonly ms: number;
}

export interface HookScene {
  readonly hub: RunningHub;
  /** Runs the real script; this process is the harness. */
  fire(vendor: Vendor, event: object | string, env?: Record<string, string>): Promise<Fired>;
  /** Asks the door itself, as the script would. */
  post(vendor: string, event: unknown, headers?: Record<string, string>): Promise<Reply>;
  join(vendor: Vendor, facts: object): Promise<Json>;
  /** A process that is there until the scene closes or it is ended. */
  harness(): ChildProcess & { readonly pid: number };
  decisions(): Promise<Json[]>;
  close(): Promise<void>;
}

export async function openHookScene(options: HubOptions = {}): Promise<HookScene> {
  const hub = await openRunningHub(options);
  const home = join(hub.dir, 'home');
  mkdirSync(join(home, 'bin'), { recursive: true });
  writeFileSync(hookShimPath(home), hookShim());
  chmodSync(hookShimPath(home), 0o755);
  const harnesses: ChildProcess[] = [];
  const owner = { authorization: `Bearer ${hub.owner}` };
  return {
    hub,
    fire: (vendor, event, env = {}) =>
      runShim(hookShimPath(home), [vendor], event, { SYNOD_DIR: hub.dir, HOME: home, ...env }),
    post: (vendor, event, headers = {}) =>
      fetchReply(`${hub.url}/v1/hooks/${vendor}`, {
        method: 'POST',
        headers: { ...owner, ...headers },
        body: typeof event === 'string' ? event : JSON.stringify(event),
      }),
    async join(vendor, facts) {
      const asked = { method: 'POST', headers: owner, body: JSON.stringify(facts) };
      return (await fetchReply(`${hub.url}/v1/hooks/${vendor}/join`, asked)).body;
    },
    harness() {
      const child = spawn('sleep', ['600'], { stdio: 'ignore' });
      harnesses.push(child);
      return child as ChildProcess & { readonly pid: number };
    },
    async decisions() {
      const record = await readFile(join(hub.dir, 'logs/decisions.jsonl'), 'utf8').catch(() => '');
      return record.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    },
    async close() {
      for (const child of harnesses) child.kill('SIGKILL');
      await hub.close();
    },
  };
}

export async function runShim(
  path: string,
  args: readonly string[],
  event: object | string,
  env: Record<string, string>,
): Promise<Fired> {
  const from = performance.now();
  const child = spawn(path, args, { env: { PATH: process.env.PATH ?? '', ...env } });
  child.stdin.on('error', () => {});
  child.stdin.end(typeof event === 'string' ? event : JSON.stringify(event));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (child.exitCode === null) await once(child, 'exit');
  const ms = performance.now() - from;
  const answer = stdout.trim() === '' ? null : JSON.parse(stdout);
  return { code: child.exitCode, stdout, stderr, answer, ms };
}

/** The vendors' words for the moments we know, and where each says what we added. */
export interface Dialect {
  readonly start: string | null;
  readonly prompt: string;
  readonly before: string;
  readonly after: string;
  readonly stop: string;
  readonly end: string;
  readonly shell: string;
  readonly edit: (path: string) => { tool_name: string; tool_input: object };
  readonly recv: string;
  /** The text that was injected, null for none. */
  added(answer: Json): string | null;
  refused(answer: Json): string | null;
  blocked(answer: Json): string | null;
}

const nested = (answer: Json): string | null =>
  answer?.hookSpecificOutput?.additionalContext ?? null;
const claude: Dialect = {
  start: 'SessionStart',
  prompt: 'UserPromptSubmit',
  before: 'PreToolUse',
  after: 'PostToolUse',
  stop: 'Stop',
  end: 'SessionEnd',
  shell: 'Bash',
  edit: (path) => ({ tool_name: 'Write', tool_input: { file_path: path, content: 'x' } }),
  recv: 'mcp__synod__channels__recv',
  added: nested,
  refused: (answer) => answer?.hookSpecificOutput?.permissionDecisionReason ?? null,
  blocked: (answer) => (answer?.decision === 'block' ? answer.reason : null),
};

export const DIALECTS: Readonly<Record<Vendor, Dialect>> = {
  claude,
  codex: {
    ...claude,
    edit: (path) => ({
      tool_name: 'apply_patch',
      tool_input: { command: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n` },
    }),
  },
  gemini: {
    start: 'SessionStart',
    prompt: 'BeforeAgent',
    before: 'BeforeTool',
    after: 'AfterTool',
    stop: 'AfterAgent',
    end: 'SessionEnd',
    shell: 'run_shell_command',
    edit: (path) => ({ tool_name: 'write_file', tool_input: { file_path: path, content: 'x' } }),
    recv: 'mcp_synod_channels__recv',
    added: nested,
    refused: (answer) => (answer?.decision === 'deny' ? answer.reason : null),
    blocked: (answer) => (answer?.decision === 'deny' ? answer.reason : null),
  },
  opencode: {
    start: null,
    prompt: 'chat.message',
    before: 'tool.execute.before',
    after: 'tool.execute.after',
    stop: 'session.idle',
    end: 'session.deleted',
    shell: 'bash',
    edit: (path) => ({ tool_name: 'write', tool_input: { filePath: path, content: 'x' } }),
    recv: 'synod_channels__recv',
    added: (answer) => answer?.append ?? null,
    refused: (answer) => answer?.throw ?? null,
    blocked: (answer) => answer?.prompt ?? null,
  },
};

/** A session of a vendor that speaks through the script. */
export function sessionOf(scene: HookScene, vendor: Vendor, session: string, cwd: string) {
  const words = DIALECTS[vendor];
  let count = 0;
  // Every event is another one: by its call, or by what the model said last.
  const fire = (name: string, rest: object = {}) =>
    scene.fire(vendor, {
      ...{ hook_event_name: name, session_id: session, cwd },
      ...('tool_name' in rest ? { tool_use_id: `call-${++count}` } : { said: ++count }),
      ...rest,
    });
  return {
    words,
    fire,
    start: () => (words.start === null ? Promise.resolve(null) : fire(words.start)),
    prompt: (prompt: string) => fire(words.prompt, { prompt }),
    used: (tool_name: string) => fire(words.after, { tool_name, tool_input: {} }),
    stop: () => fire(words.stop, { stop_hook_active: false }),
    edits: (path: string) => fire(words.before, words.edit(path)),
    runs: (command: string) =>
      fire(words.before, { tool_name: words.shell, tool_input: { command } }),
  };
}
