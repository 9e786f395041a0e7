/**
 * The product as a person has it: a clean home, the vendors' own files, a hub that runs, and `synod
 * install` run over them. From there on everything goes through what install wrote: its launcher, its
 * script with curl, its hooks and its registration. Each agent has a model of its own, and what that
 * model was shown is what a test looks at.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { cliPath } from './clis.ts';
import { objectOf } from './dialects/json.ts';
import { type ModelServer, openModelServer } from './model-server.ts';
import { type Environment, openScene, type Ran, type Scene, type Started } from './scene.ts';
import { type ModelRequest, type Script, type Step, textShown } from './script.ts';
import type { Setup, Vendor } from './vendor.ts';

export interface InstalledAgent {
  readonly vendor: Vendor;
  readonly model: ModelServer;
  readonly setup: Setup;
  readonly scene: Scene;
  /** Starts the command line for one prompt. */
  readonly begin: (prompt: string, script: Script, more?: Environment) => Started;
  /** The same, to its end. */
  readonly run: (prompt: string, script: Script, more?: Environment) => Promise<Ran>;
}

/** One line of the hub's record of what it decided at hooks. */
export interface Decided {
  readonly agent: string | null;
  readonly event: string;
  readonly action: string;
  readonly rule?: string;
  readonly reason: string;
}

export interface Installed {
  readonly scene: Scene;
  readonly agents: readonly InstalledAgent[];
  /** `{ agent: state }`, as the command line tells it. */
  readonly receipts: (messageId: string, as: string) => Promise<Record<string, string>>;
  /** Tells an agent in private, as BOB; answers with the message's id. */
  readonly tell: (agent: string, text: string) => Promise<string>;
  readonly decided: () => readonly Decided[];
  readonly close: () => Promise<void>;
}

/** Somebody with a terminal, of no vendor. */
export const BOB = 'bob';

export async function openInstalled(
  vendors: readonly Vendor[],
  upFlags: readonly string[] = [],
  installFlags: readonly string[] = [],
): Promise<Installed> {
  const scene = openScene({ isPersons: true });
  const agents = await Promise.all(vendors.map((vendor) => createAgent(scene, vendor)));
  const run = async (...args: string[]): Promise<Ran> => {
    const ran = await scene.synod(...args);
    expect(ran, `synod ${args.join(' ')}: ${ran.stderr}`).toMatchObject({ code: 0 });
    return ran;
  };
  await run('up', '--port', '0', ...upFlags);
  await run('install', ...vendors.map(({ name }) => name), ...installFlags);
  return {
    scene,
    agents,
    async receipts(messageId, as) {
      const { stdout } = await run('receipts', messageId, '--as', as, '--json');
      const { receipts } = JSON.parse(stdout) as {
        receipts: readonly { agent_id: string; state: string }[];
      };
      return Object.fromEntries(receipts.map(({ agent_id: id, state }) => [id, state]));
    },
    async tell(agent, text) {
      const { stdout } = await run('tell', agent, text, '--as', BOB, '--json');
      const { recipients } = JSON.parse(stdout) as { recipients: readonly object[] };
      return String(objectOf(recipients[0]).message_id);
    },
    decided: () => readDecisions(scene),
    close: () => scene.close(),
  };
}

export async function createAgent(scene: Scene, vendor: Vendor): Promise<InstalledAgent> {
  const model = await openModelServer();
  scene.atEnd(() => model.close());
  const setup: Setup = { model: model.url };
  vendor.configure(scene, setup);
  scene.write('project/notes.txt', 'notes\n');
  const begin = (prompt: string, script: Script, more: Environment = {}): Started => {
    model.play(script);
    const env = { ...vendor.env(setup), ...more };
    return scene.start(cliPath(vendor.name), vendor.headless(prompt), { env });
  };
  return {
    vendor,
    model,
    setup,
    scene,
    begin,
    run: (prompt, script, more) => begin(prompt, script, more).exited(),
  };
}

export function readDecisions({ hub }: Scene): readonly Decided[] {
  try {
    const lines = readFileSync(join(hub, 'logs', 'decisions.jsonl'), 'utf8').split('\n');
    // The last line may be half written.
    return lines.slice(0, -1).map((line) => JSON.parse(line) as Decided);
  } catch {
    return [];
  }
}

/**
 * The model calls a tool of ours. Codex sends its first request about a second after it started our
 * server, and Claude Code after two, with our tools or without: on a machine that is busy the model
 * looks at something else until they are there.
 */
export function uses({ vendor, scene }: InstalledAgent, tool: string, args: object): Step {
  const meanwhile = vendor.lookAt(join(scene.project, 'notes.txt'));
  return { call: vendor.toolName(tool), args: { ...args }, meanwhile };
}

/** Whether an idle session went to sleep so many times. */
export function hasRested(decided: readonly Decided[], agent: string, times: number): boolean {
  const ends = decided.filter((line) => line.agent === agent && REST.has(line.event));
  return ends.filter(({ action }) => action === 'noop').length >= times;
}

const REST: ReadonlySet<string> = new Set(['Stop', 'AfterAgent', 'session.idle']);

/** The id in the answer to what was sent last. */
export function sentId(request: ModelRequest): string {
  const ids = [...textShown(request, 'tool').matchAll(/message_id\W+([\w-]+)/g)];
  return ids.at(-1)?.[1] ?? 'none';
}

/** Something the test is told of, or tells: whoever waits for it goes on when it is opened. */
export interface Gate<T = void> {
  readonly passed: Promise<T>;
  readonly open: (value: T) => void;
}

export function createGate<T = void>(): Gate<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { passed: promise, open: resolve };
}
