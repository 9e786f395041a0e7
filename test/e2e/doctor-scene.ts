/**
 * A machine for the doctor: a home, a repository, programs that pass for the vendors' as far as they are
 * asked for their version, a hub of its own, and `synod install` done for real. Everything in it can be
 * broken on purpose.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Hop } from '../../src/harness/doctor/hop.ts';
import type { WakeRow } from '../../src/harness/doctor/wake-hop.ts';
import { BIN, CACHE } from '../program.ts';
import { type Home, openHome, type Ran } from './cli-run.ts';

export interface Diagnosis extends Ran {
  readonly hops: readonly Hop[];
  readonly wake: readonly WakeRow[];
  /** The hops of this name, as `state: message > remedy`. */
  of(name: string): string[];
}

export interface DoctorScene {
  readonly root: string;
  readonly app: string;
  /** The data directory. */
  readonly dir: string;
  readonly cli: Home;
  synod(args: readonly string[], env?: Record<string, string>): Promise<Ran>;
  doctor(args: readonly string[], env?: Record<string, string>): Promise<Diagnosis>;
  /** `doctor` without --json. */
  doctorText(args: readonly string[]): Promise<Ran>;
  read(path: string): string;
  put(path: string, text: string, mode?: number): void;
  program(name: string, line: string): void;
  close(): Promise<void>;
}

const VERSIONS = {
  claude: '2.1.325 (Claude Code)',
  codex: 'codex-cli 0.166.0',
  gemini: '0.61.0',
  opencode: '1.18.33',
} as const;

/** Answers `hooks/list` as Codex does, with the trust that stands in a file. */
const CODEX = (root: string): string => `
  import { createInterface } from 'node:readline';
  import { existsSync, readFileSync } from 'node:fs';
  const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  const path = process.env.HOME + '/.codex/hooks.json';
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    const trustStatus = read('${root}/codex-trust').trim() || 'trusted';
    const hooks = Object.entries(JSON.parse(read(path) || '{"hooks":{}}').hooks).map(
      ([eventName, [group]]) => ({
        eventName,
        command: group.hooks[0].command,
        sourcePath: path,
        enabled: true,
        trustStatus,
      }),
    );
    const listed = { data: [{ cwd: '', hooks: trustStatus === 'unseen' ? [] : hooks }] };
    console.log(JSON.stringify({ id, result: method === 'hooks/list' ? listed : {} }));
  });`;

export async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<Ran> {
  const words = [BIN, ...args];
  const child = spawn(process.execPath, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: child.exitCode, stdout, stderr };
}

/** With a hub's home of its own, or that of a hub which several machines share in turn. */
export async function openDoctorScene(shared: Home | null = null): Promise<DoctorScene> {
  const cli = shared ?? openHome();
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'synod-patient-')));
  const app = join(root, 'app');
  const put = (path: string, words: string, mode?: number): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), words);
    if (mode !== undefined) chmodSync(join(root, path), mode);
  };
  const program = (name: string, line: string): void =>
    put(`bin/${name}`, `#!/bin/sh\n${line}\n`, 0o755);
  mkdirSync(join(app, 'src'), { recursive: true });
  execFileSync('git', ['init', '-q', app]);
  for (const [name, version] of Object.entries(VERSIONS)) program(name, `echo '${version}'`);
  put('codex.mjs', CODEX(root));
  program(
    'codex',
    `[ "$1" = app-server ] && exec '${process.execPath}' '${root}/codex.mjs'\necho '${VERSIONS.codex}'`,
  );
  put('home/.gemini/trustedFolders.json', JSON.stringify({ [root]: 'TRUST_FOLDER' }));
  const environment = (more: Record<string, string>): Record<string, string> => ({
    ...{ HOME: join(root, 'home'), PATH: `${join(root, 'bin')}:/usr/bin:/bin` },
    ...{ SYNOD_DIR: cli.dir, XDG_CACHE_HOME: CACHE, ...more },
  });
  return {
    ...{ root, app, cli, dir: cli.dir, put, program },
    synod: (args, env = {}) => cli.run(args, { cwd: app, env: environment(env) }),
    async doctor(args, env = {}) {
      const ran = await run(['doctor', ...args, '--json'], environment(env), app);
      const { hops, wake } = JSON.parse(ran.stdout || `{"hops":[],"wake":[]}`) as Diagnosis;
      const of = (name: string): string[] =>
        hops
          .filter(({ hop }) => hop === name)
          .map(({ state, message, remedy }) => `${state}: ${message} > ${remedy}`);
      return { ...ran, hops, wake, of };
    },
    doctorText: (args) => run(['doctor', ...args], environment({}), app),
    read: (path) => readFileSync(join(root, path), 'utf8'),
    async close() {
      if (shared === null) await cli.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
