/**
 * The guard: one place to ask before a file is touched, a program started or an address connected to, and
 * to do it through. What no rule allows is refused [PO1]; a child of a guard has at most what its parent has,
 * because both are asked [PO11]; and every decision goes to whoever keeps the record [PO2].
 */
import type { Socket } from 'node:net';
import { resolve } from 'node:path';
import {
  deny,
  type GuardCode,
  type GuardDecision,
  GuardRefused,
  type GuardRequest,
  type PathKind,
  type Ruling,
} from './decision.ts';
import { type EgressAsk, openEgress } from './egress.ts';
import { type ConnectOptions, connectPinned, type FetchOptions, fetchGuarded } from './fetch.ts';
import { FileTrouble, readThere, removeThere, type WriteOptions, writeThere } from './files.ts';
import { createLayer, type Layer } from './layer.ts';
import {
  addressesOf,
  coveringRules,
  judgeTarget,
  type Lookup,
  readTarget,
  systemLookup,
} from './network.ts';
import { judgePath, realPathOf } from './paths.ts';
import { type Policy, parsePolicy } from './policy.ts';
import { checkArgs, findProgram, judgeProgram } from './programs.ts';
import { passRails, type Rail } from './rails.ts';
import {
  type PlanOptions,
  type Prepared,
  prepareSpawn,
  type Spawned,
  type SpawnOptions,
  type SpawnPlan,
  start,
} from './spawn.ts';

/** How much of a file is read unless more is asked for. */
const READ_BYTES_DEFAULT = 10 * 1024 * 1024;

/**
 * What a guard is called, where its paths begin, and who is told of its decisions.
 *
 * @example
 * ```ts
 * const options: GuardOptions = { name: 'builder', cwd: '/srv/app' };
 * ```
 */
export interface GuardOptions {
  /** What the record calls it; `guard` unless it says. */
  readonly name?: string;
  /** Where relative paths begin; absent: where this process stands now. */
  readonly cwd?: string;
  readonly rails?: readonly Rail[];
  /** Told of every decision; one that throws costs nobody anything. */
  readonly record?: (decision: GuardDecision) => void;
  /** What names stand for; absent: as the machine has it. */
  readonly lookup?: Lookup;
}

/**
 * Decides by a policy what may be done, and does it.
 *
 * @example
 * ```ts
 * const notes = async (guard: Guard): Promise<string> =>
 *   (await guard.readFile('/srv/app/notes.md')).toString('utf8');
 * ```
 */
export interface Guard {
  readonly name: string;
  /** Decides, does nothing, and never throws for what is refused. */
  check(request: GuardRequest): Promise<GuardDecision>;
  /** A guard that allows what both allow. */
  child(policy: Policy, options?: Pick<GuardOptions, 'name' | 'rails'>): Guard;
  readFile(path: string, options?: { readonly maxBytes?: number }): Promise<Buffer>;
  writeFile(path: string, data: string | Uint8Array, options?: WriteOptions): Promise<void>;
  remove(path: string, options?: { readonly recursive?: boolean }): Promise<void>;
  fetch(url: string, options?: FetchOptions): Promise<Response>;
  connect(options: ConnectOptions): Promise<Socket>;
  spawn(program: string, args: readonly string[], options?: SpawnOptions): Promise<Spawned>;
  /** What `spawn` would start, for who starts it himself. */
  plan(program: string, args: readonly string[], options?: PlanOptions): Promise<SpawnPlan>;
  /** Does `act` between the rails of its input and those of its output. */
  pass<I, T>(name: string, input: I, act: (input: I) => T | Promise<T>): Promise<T>;
}

/**
 * A guard for a policy. A policy that cannot be meant throws `PolicyError`.
 *
 * @example
 * ```ts
 * const guard = createGuard({
 *   read: ['/srv/app'],
 *   write: ['/srv/app/out'],
 *   connect: [{ scheme: 'https', host: 'api.example.com', methods: ['GET', 'POST'] }],
 *   execute: [{ program: 'git', args: ['log', '**'] }],
 * });
 * await guard.writeFile('/srv/app/out/report.txt', 'all is well');
 * ```
 */
export function createGuard(policy: Policy, options: GuardOptions = {}): Guard {
  const cwd = resolve(options.cwd ?? process.cwd());
  const layer = createLayer(parsePolicy(policy), { cwd, path: process.env.PATH ?? '' });
  const { name = 'guard', rails = [], record = () => {}, lookup = systemLookup } = options;
  return guardOf([layer], { name, cwd, rails, record, lookup });
}

function guardOf(layers: readonly Layer[], options: Required<GuardOptions>): Guard {
  const { name, cwd, rails, record, lookup } = options;
  const where = { cwd, path: process.env.PATH ?? '' };

  function told(ruling: Ruling): GuardDecision {
    const decision = { ...ruling, guard: name };
    try {
      record(decision);
    } catch {
      // Who keeps the record has no say in what is decided.
    }
    return decision;
  }

  function refuse(ruling: Ruling, cause?: unknown): never {
    throw new GuardRefused(told(ruling), cause === undefined ? {} : { cause });
  }

  /** The last word of all layers: the first no, or the last yes. */
  async function each(judge: (layer: Layer) => Ruling | Promise<Ruling>): Promise<Ruling> {
    let last: Ruling | undefined;
    for (const layer of layers) {
      last = await judge(layer);
      if (!last.allowed) break;
    }
    return last as Ruling;
  }

  async function decidePath(kind: PathKind, path: string): Promise<Ruling> {
    const real = await realPathOf(kind, path, cwd);
    if (typeof real !== 'string') return real;
    return each(async ({ roots }) => judgePath(kind, real, await roots));
  }

  async function decideConnect(url: string, method: string | undefined): Promise<Ruling> {
    const target = readTarget(url, method);
    if ('allowed' in target) return target;
    const all = layers.map(({ net }) => coveringRules(target, net));
    const isCovered = all.every((rules) => rules.length > 0);
    // Who may not go there learns nothing of it, and neither does whoever answers for the name.
    const addresses = isCovered ? await addressesOf(target, lookup) : [];
    if ('allowed' in addresses) return addresses;
    return each(({ net }) =>
      judgeTarget(target, addresses, coveringRules(target, net), net.length > 0),
    );
  }

  async function decideExecute(program: string, args: readonly string[]): Promise<Ruling> {
    const bad = checkArgs(program, args);
    if (bad !== null) return deny('execute', String(program), 'guard.invalid', bad);
    const found = await findProgram(program, where);
    return each(async (layer) =>
      judgeProgram(program, found, args, await layer.programs, await layer.roots),
    );
  }

  async function decide(request: GuardRequest): Promise<Ruling> {
    try {
      switch (request.kind) {
        case 'execute':
          return await decideExecute(request.program, request.args ?? []);
        case 'connect':
          return await decideConnect(request.url, request.method);
        case 'read':
        case 'write':
        case 'delete':
          return await decidePath(request.kind, request.path);
        default:
          return deny('read', String(request), 'guard.invalid', 'there is no such kind');
      }
    } catch (error) {
      // A root of the policy that cannot be looked up, for one: then nothing is allowed.
      return deny(request.kind, 'the policy', 'guard.invalid', (error as Error).message);
    }
  }

  async function ask(request: GuardRequest): Promise<GuardDecision> {
    const ruling = await decide(request);
    return ruling.allowed ? told(ruling) : refuse(ruling);
  }

  async function onFile<T>(kind: PathKind, path: string, act: (real: string) => Promise<T>) {
    const { path: real = '' } = await ask({ kind, path });
    try {
      return await act(real);
    } catch (error) {
      if (error instanceof FileTrouble) refuse(deny(kind, real, error.code, error.message), error);
      throw error;
    }
  }

  /** A tunnel cannot be looked into: what may be anything in it must be allowed to be. */
  async function decideTunnel(authority: string): Promise<Ruling> {
    const asHttps = await decideConnect(`https://${authority}`, 'CONNECT');
    for (const scheme of ['http', 'wss', 'ws', 'tls', 'tcp']) {
      if (asHttps.allowed) break;
      const ruling = await decideConnect(`${scheme}://${authority}`, 'CONNECT');
      if (ruling.allowed) return ruling;
    }
    return asHttps;
  }

  const egress: EgressAsk = {
    async tunnel(host, port) {
      const ruling = await decideTunnel(`${host.includes(':') ? `[${host}]` : host}:${port}`);
      return ruling.allowed ? told(ruling) : refuse(ruling);
    },
    fetch: (url, more) => guard.fetch(url, more),
  };

  async function prepare(
    program: string,
    args: readonly string[],
    options: SpawnOptions,
  ): Promise<Prepared> {
    const ruling = await decideExecute(program, args);
    if (!ruling.allowed) refuse(ruling);
    const at = options.cwd === undefined ? null : await decidePath('read', options.cwd);
    if (at !== null && !at.allowed) refuse(at);
    const prepared = await prepareSpawn(ruling, args, at?.path ?? null, options, {
      roots: await Promise.all(layers.map(({ roots }) => roots)),
      env: layers.map(({ env }) => env).reduce((a, b) => a.filter((name) => b.includes(name))),
      where,
      openEgress: layers.every(({ net }) => net.length > 0) ? () => openEgress(egress) : null,
    });
    return 'allowed' in prepared ? refuse(prepared) : prepared;
  }

  const pass: Guard['pass'] = (deed, input, act) => passRails(rails, deed, input, act, refuse);

  const guard: Guard = {
    name,
    pass,
    check: async (request) => told(await decide(request)),
    child(policy, { name: own = `${name}/child`, rails: more = [] } = {}) {
      const layer = createLayer(parsePolicy(policy), where);
      return guardOf([...layers, layer], { ...options, name: own, rails: [...rails, ...more] });
    },
    readFile: (path, { maxBytes = READ_BYTES_DEFAULT } = {}) =>
      onFile('read', path, (real) => readThere(real, maxBytes)),
    writeFile: (path, data, more = {}) =>
      onFile('write', path, (real) => pass('writeFile', data, () => writeThere(real, data, more))),
    remove: (path, { recursive = false } = {}) =>
      onFile('delete', path, (real) => pass('remove', real, () => removeThere(real, recursive))),
    fetch(url, more = {}) {
      const no = (code: GuardCode, what: string, why: string): never =>
        refuse(deny('connect', what, code, why));
      const asking = (to: string, method: string): Promise<GuardDecision> =>
        ask({ kind: 'connect', url: to, method });
      const input = { url, ...more };
      return pass('fetch', input, () => fetchGuarded(asking, no, url, more));
    },
    async connect(more) {
      const { host, port, tls = false } = more;
      const url = `${tls ? 'tls' : 'tcp'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
      return connectPinned(more, await ask({ kind: 'connect', url }));
    },
    spawn: (program, args, more = {}) =>
      pass('spawn', { program, args }, async () => {
        const prepared = await prepare(program, args, more);
        const decision = told(prepared.ruling);
        return { child: await start(prepared, more), decision };
      }),
    plan: (program, args, more = {}) =>
      pass('spawn', { program, args }, async () => {
        const { ruling, ...prepared } = await prepare(program, args, more);
        return { ...prepared, decision: told(ruling) };
      }),
  };
  return guard;
}
