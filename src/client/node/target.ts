/**
 * Which hub a command speaks to, and as whom.
 *
 * `--url` or SYNOD_URL, else the hub of the data directory, by its owner-only socket where it has one.
 * The owner's credential is shown only to the hub that wrote it: never to another URL, and not to
 * whoever took its port after it died; over TCP the hub proves first that it knows it [CL3].
 */
import { readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { readJson } from '../../wire/json.ts';
import { SynodError } from '../error.ts';

export interface Globals {
  readonly as?: string;
  readonly space?: string;
  readonly url?: string;
  readonly token?: string;
  readonly dir?: string;
  readonly json?: boolean;
}

export interface Target {
  readonly url: URL;
  /** Where set, the connection is made here and `url` is only a name. */
  readonly socketPath: string | null;
  readonly dir: string;
  readonly token: string | null;
  /** Null when the token says who it is. */
  readonly agent: string | null;
  readonly space: string | null;
  readonly clientVersion: string | null;
  /** The trace that calls belong to, from TRACEPARENT. */
  readonly traceparent?: string;
  /** Who calls says to be a person; heeded from the owner alone. */
  readonly isPerson?: boolean;
  /** The token is the owner's credential: the hub proves that it knows it before it is shown. */
  readonly mustProve?: true;
}

/** Of who has no name on this system, or none that an agent may have. */
const NOBODY = 'human';

type Environment = NodeJS.ProcessEnv;

const PROVED = { mustProve: true } as const;
const TRACE = /^[0-9a-f-]{55}$/;

export function resolveTarget(globals: Globals, env: Environment = process.env): Target {
  const dir = dataDirectory(globals.dir, env);
  const token = globals.token ?? (env.SYNOD_TOKEN || null);
  const asked = globals.url ?? (env.SYNOD_URL || null);
  const hub = readHubFile(dir);
  const url = parseUrl(asked ?? hub?.url ?? null, dir);
  const isOwn = hub !== null && (asked === null || sameOrigin(url, hub.url));
  const who = {
    agent: agentFor(globals, token, env),
    space: globals.space ?? (env.SOX_NAMESPACE || null),
    clientVersion: env.SOX_CLIENT_VERSION || null,
    ...(env.TRACEPARENT && { traceparent: env.TRACEPARENT }),
  };
  if (token !== null) return { url, socketPath: null, dir, token, ...who };
  if (isOwn && hub.socket !== null) return { url, socketPath: hub.socket, dir, token, ...who };
  const credential = isOwn && isAlive(hub.pid) ? readCredential(dir) : null;
  return { url, socketPath: null, dir, token: credential, ...who, ...(credential && PROVED) };
}

/** The hub at an address, for a caller who shows nothing. */
export function strangerAt(url: string, dir: string): Target {
  const nobody = { token: null, agent: null, space: null, clientVersion: null };
  return { url: new URL(url), socketPath: null, dir, ...nobody };
}

export function headersOf(target: Target): Record<string, string> {
  const { token, agent, space, clientVersion, isPerson, traceparent } = target;
  return {
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...(agent !== null && { 'x-sox-agent-id': agent }),
    ...(isPerson === true && { 'x-synod-person': '1' }),
    ...(space !== null && { 'x-sox-namespace': space }),
    ...(clientVersion !== null && { 'x-sox-client-version': clientVersion }),
    // A header takes no other characters, and what is no traceparent says nothing.
    ...(traceparent !== undefined && TRACE.test(traceparent) && { traceparent }),
  };
}

function parseUrl(text: string | null, dir: string): URL {
  if (text === null) {
    throw new SynodError('hub.unreachable', `no hub runs from ${dir}`, {
      detail: { hint: 'start one with "synod up", or name one with --url' },
    });
  }
  if (URL.canParse(text) && /^https?:\/\//i.test(text)) return new URL(text);
  throw new SynodError(
    'cli.usage',
    `${text} is not the URL of a hub; it starts with http:// or https://`,
  );
}

function sameOrigin(url: URL, other: string): boolean {
  return URL.canParse(other) && new URL(other).origin === url.origin;
}

export function chosenAgent(globals: Globals, env: Environment = process.env): string | null {
  // An empty name is often a variable that was not set; without a name the owner would be meant.
  if (globals.as === '') {
    throw new SynodError('cli.usage', '--as is empty', {
      detail: { hint: 'name an agent, or leave it out' },
    });
  }
  return globals.as ?? (env.SYNOD_AGENT || env.SOX_AGENT_ID || null);
}

/** Null where the token says who it is. */
export function agentFor(
  globals: Globals,
  token: string | null,
  env: Environment = process.env,
): string | null {
  const agent = chosenAgent(globals, env) ?? (token === null ? defaultAgent() : null);
  return ofProject(agent, token, env);
}

/** `project/agent` where SYNOD_PROJECT says the project and neither the name nor a credential does. */
function ofProject(agent: string | null, token: string | null, env: Environment): string | null {
  const project = env.SYNOD_PROJECT;
  if (!project || agent === null || token !== null || agent.includes('/')) return agent;
  return `${project}/${agent}`;
}

/** A person is called as the system calls them, by every command and in chat [CL20]. */
export function defaultAgent(): string {
  try {
    const name = userInfo()
      .username.replace(/[^\p{L}\p{M}\p{N}_.@+-]/gu, '-')
      .slice(0, 100);
    return name === '' || name.startsWith('__') ? NOBODY : name;
  } catch {
    // A container may run under a number that no name belongs to.
    return NOBODY;
  }
}

/**
 * `<dir>/hub.json`: how the hub of a directory is found. A file left by a hub that was killed is
 * possible, so what it says is an address to try and never a promise.
 */
export interface HubFile {
  readonly url: string;
  readonly socket: string | null;
  /** `ws://…`, where the Synapse door is open. */
  readonly synapse: string | null;
  readonly pid: number;
  readonly since: string;
}

/** How a hub ends that finds its directory held by another process. */
export const LOCKED_EXIT = 75;

/** The same rule as the server's config, kept here because a one-shot command must not load that. */
export function dataDirectory(flag: string | undefined, env: NodeJS.ProcessEnv): string {
  const path = flag ?? (env.SYNOD_DIR || undefined);
  if (path === undefined) return join(homedir(), '.synod');
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : resolve(path);
}

export function readHubFile(dir: string): HubFile | null {
  try {
    const file = readJson(readFileSync(join(dir, 'hub.json'), 'utf8')) as HubFile | null;
    if (typeof file?.url !== 'string' || typeof file.pid !== 'number') return null;
    const { url, socket = null, synapse = null, pid, since } = file;
    return { url, socket, synapse, pid, since: String(since) };
  } catch {
    // Missing or half written: no hub has said that it is ready.
    return null;
  }
}

function readCredential(dir: string): string | null {
  try {
    return readFileSync(join(dir, 'credential'), 'utf8').trim() || null;
  } catch {
    // Missing, or another user's: then we have none to show.
    return null;
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // Gone, or another user's process by now: either way not our hub.
    return false;
  }
}
