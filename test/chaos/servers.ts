/** Synod servers, each a process, that are killed, paused, started again, and have a clock that can be wrong. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type HubProcess, isRunning, startHubProcess } from '../e2e/hub-process.ts';

export interface ChaosServer {
  readonly name: string;
  /** Null while it is not there. */
  readonly url: string | null;
  /** Of its owner. */
  readonly credential: string;
  /** Of this process: another one after each start. */
  readonly copy: string;
  kill(): Promise<void>;
  /** Again and again, until it is up. */
  start(): Promise<void>;
  pause(): void;
  resume(): void;
  setClock(offMs: number): void;
  /** It runs the program of before. */
  readonly isOld: boolean;
  /** As an operator does it before the start in the new program: it hands over, if it can, and is stopped. */
  retire(): Promise<void>;
  /** What it said of itself. */
  stderr(): string;
}

const CLOCK = new URL('skewed-clock.ts', import.meta.url).href;
const AGAIN_MS = 500;
const TRIES_MAX = 40;
const DRAIN_MS = 5_000;

export interface Servers {
  readonly all: readonly ChaosServer[];
  close(): Promise<void>;
}

export function createServers(
  names: readonly string[],
  storeFor: (name: string) => string,
  tell: (line: string) => void,
  oldBin?: string,
): Servers {
  const dir = mkdtempSync(join(tmpdir(), 'synod-chaos-servers-'));
  const all = names.map((name) =>
    createServer(join(dir, name), name, storeFor(name), tell, oldBin),
  );
  return {
    all,
    async close() {
      for (const server of all) await server.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function createServer(
  dir: string,
  name: string,
  store: string,
  tell: (line: string) => void,
  oldBin: string | undefined,
): ChaosServer {
  mkdirSync(dir, { recursive: true });
  let bin = oldBin;
  const clock = join(dir, 'clock');
  let running: HubProcess | null = null;
  let credential: string | undefined;
  let starts = 0;
  let said = '';
  // The clock is loaded by Node itself; `env` becomes the server, so that signals reach it.
  const through = ['env', `NODE_OPTIONS=--import=${CLOCK}`, `SYNOD_CHAOS_CLOCK=${clock}`];
  const args = ['--store', store, '--server-name', name, '--auth', 'open'];
  return {
    name,
    get url() {
      return running?.url ?? null;
    },
    get credential() {
      credential ??= readFileSync(join(dir, 'credential'), 'utf8').trim();
      return credential;
    },
    get copy() {
      return `${name}#${starts}`;
    },
    async kill() {
      const gone = running;
      running = null;
      said += gone?.stderr() ?? '';
      await gone?.kill();
    },
    async start() {
      for (let tries = 0; running === null; tries++) {
        const program = bin === undefined ? {} : { bin };
        const begun = await startHubProcess(dir, { args, through, ...program }).catch(
          (cause: Error) => {
            return { exitCode: null, stderr: cause.message };
          },
        );
        if (isRunning(begun)) {
          starts++;
          running = begun;
          return;
        }
        said += begun.stderr;
        tell(
          `          server ${name} does not start yet: ${begun.stderr.trim().split('\n').at(-1)}`,
        );
        if (tries >= TRIES_MAX) throw new Error(`${name} does not start: ${begun.stderr}`);
        await wait(AGAIN_MS);
      }
    },
    pause: () => void running?.child.kill('SIGSTOP'),
    resume: () => void running?.child.kill('SIGCONT'),
    get isOld() {
      return bin !== undefined;
    },
    async retire() {
      const old = running;
      if (old !== null) await drain(old.url, readFileSync(join(dir, 'credential'), 'utf8').trim());
      running = null;
      said += old?.stderr() ?? '';
      await old?.stop();
      bin = undefined;
    },
    setClock: (offMs) => writeFileSync(clock, String(offMs)),
    stderr: () => said + (running?.stderr() ?? ''),
  };
}

/** What it cannot hand over in time, whoever is next takes. */
async function drain(url: string, credential: string): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${credential}` };
  const signal = AbortSignal.timeout(DRAIN_MS);
  await fetch(`${url}/v1/ops/cluster.drain`, { method: 'POST', headers, body: '{}', signal }).catch(
    () => {},
  );
}
