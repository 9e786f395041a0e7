/**
 * What a vendor gave to a hook, or to the MCP server it started: the input word for word, the
 * parents, and those variables that tell sessions apart. Keys are never written down.
 *
 * One log a scene, a line a record; `answer` says what the hooks print from then on.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BIN } from '../e2e/cli-run.ts';
import { seen } from './patience.ts';
import { OUR_CACHE, type Scene } from './scene.ts';

const HOOK = fileURLToPath(new URL('./probe-hook.ts', import.meta.url));
const BRIDGE = fileURLToPath(new URL('./probe-bridge.ts', import.meta.url));

export interface ProbeRecord {
  readonly kind: 'hook' | 'bridge' | 'request';
  /** The event of a hook; the method of a request; empty for a bridge that starts. */
  readonly event: string;
  /** What came in: a hook's stdin, or a JSON-RPC request. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly parent: number;
  readonly env: Readonly<Record<string, string>>;
}

export interface Registration {
  readonly command: string;
  readonly args: readonly string[];
}

export interface Probe {
  readonly log: string;
  readonly answers: string;
  /** The command line for a hook, in the syntax of sh. It execs, so that its parent is the vendor. */
  readonly hook: string;
  /** How to start `synod mcp --as NAME` with the probe in between. */
  readonly bridge: Registration;
  readonly answer: (event: string, output: object | null) => void;
  readonly records: (kind: ProbeRecord['kind'], event?: string) => readonly ProbeRecord[];
  readonly waitFor: (kind: ProbeRecord['kind'], event: string) => Promise<ProbeRecord>;
}

export function openProbe(scene: Scene, agent: string): Probe {
  const log = scene.write('probe.log', '');
  const answers = join(scene.root, 'answers');
  const records = (kind: ProbeRecord['kind'], event?: string): readonly ProbeRecord[] =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as ProbeRecord)
      .filter((each) => each.kind === kind && (event === undefined || each.event === event));
  return {
    log,
    answers,
    hook: `exec "${process.execPath}" "${HOOK}" "${log}" "${answers}"`,
    bridge: {
      command: process.execPath,
      args: [BRIDGE, log, OUR_CACHE, process.execPath, ...mcpWords(agent, scene)],
    },
    answer(event, output) {
      const path = join('answers', `${event}.json`);
      if (output !== null) scene.write(path, output);
      else if (existsSync(join(scene.root, path))) rmSync(join(scene.root, path));
    },
    records,
    waitFor: (kind, event) =>
      seen(`the ${kind} ${event} is in the log`, () => records(kind, event)[0]),
  };
}

function mcpWords(agent: string, { hub }: Scene): readonly string[] {
  return [BIN, 'mcp', '--as', agent, '--dir', hub];
}
