/**
 * The doctor at the hub itself: is one there, is it the one that agents find, and does it let us in [DO3].
 * Between one that is down, one that is another, and a credential that is wrong it tells the difference,
 * because each is mended differently.
 */
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { callHub } from '../client/node/call.ts';
import { isHealthy } from '../client/node/http.ts';
import { ensureHub, findHub } from '../client/node/start-hub.ts';
import {
  dataDirectory,
  type Globals,
  type HubFile,
  readHubFile,
  resolveTarget,
  strangerAt,
  type Target,
} from '../client/node/target.ts';
import type { DoctorHub } from '../harness/doctor/canary.ts';
import { type Found, fail, ok, warn } from '../harness/doctor/hop.ts';
import { readTokenFate } from '../harness/doctor/token-fate.ts';
import type { Environment } from '../harness/doctor/vendor-env.ts';
import { installedDirectory, synodHomeOf } from '../harness/install/world.ts';
import { processMark } from '../server/hooks/process-mark.ts';
import { packageVersion } from '../server/run/version.ts';
import { toFailure } from './failure.ts';

export interface ExaminedHub {
  readonly dir: string;
  readonly url: string;
  readonly version: string;
  readonly doctor: DoctorHub;
  /** Why a server with this environment would not come to this hub, and must not start another. */
  objection(env: Environment): Promise<string | null>;
}

interface Asked {
  readonly dir: string;
  readonly flags: Globals & { readonly start?: boolean };
  readonly env: NodeJS.ProcessEnv;
  tell(found: Found): void;
}

const DEFAULT_URL = 'http://127.0.0.1:8765';
const NEIGHBOUR_MS = 1_000;

/** Null when there is none that can be asked. */
export async function examineHub(asked: Asked): Promise<ExaminedHub | null> {
  const { dir, env, tell } = asked;
  const hub = await findOrStart(asked);
  if (hub === null) return null;
  const doctor = createDoctorHub(asked);
  const status = await doctor.call(null, 'hub.status', {});
  if ('refused' in status) {
    tell(ok('hub', `${hub.url}, process ${hub.pid}, since ${hub.since}`));
    tell(refusedOwner(asked, hub, status));
    return null;
  }
  const { version, store_ok: isStoreOk } = status.answer;
  tell(judgeVersion(hub, version, isStoreOk));
  for (const found of await findNeighbours(asked, hub)) tell(found);
  tell(await examineCredential(asked, hub, doctor));
  return {
    ...{ dir, url: hub.url, version, doctor },
    async objection(given) {
      if (given.SYNOD_URL) return null;
      const other = toolDirectory(given);
      if (other === dir || (await findHub(other)) !== null) return null;
      return `the server would look for its hub in ${other}, where none runs, and not in ${dir}`;
    },
  };

  function judgeVersion(hubFile: HubFile, said: string, isStoreOk: boolean): Found {
    const what = `${hubFile.url}, version ${said}, process ${hubFile.pid}, since ${hubFile.since}`;
    if (!isStoreOk) {
      return fail(
        'hub',
        `${what}: its store fails, so nothing is accepted`,
        `see ${join(dir, 'hub.log')}`,
      );
    }
    if (said === packageVersion() || env.SYNOD_URL) return ok('hub', what);
    const remedy = 'synod down, then synod up, when no agent is in the middle of something';
    return warn('hub', `${what}: this program is version ${packageVersion()}`, remedy);
  }
}

async function findOrStart({ dir, flags, tell }: Asked): Promise<HubFile | null> {
  const file = readHubFile(dir);
  const running = await findHub(dir);
  if (running !== null) return running;
  if (flags.start) {
    try {
      return (await ensureHub(dir, [])).hub;
    } catch (error) {
      const { message, hint } = toFailure(error);
      tell(
        fail('hub', `no hub could be started: ${message}`, hint ?? `see ${join(dir, 'hub.log')}`),
      );
      return null;
    }
  }
  if (file === null) {
    tell(fail('hub', `no hub runs from ${dir}`, 'synod up'));
  } else if (processMark(file.pid) === null) {
    const what = `no hub runs from ${dir}: the last one (process ${file.pid}) is gone without a farewell`;
    tell(fail('hub', what, 'synod up'));
  } else {
    const what = `process ${file.pid} should be the hub of ${dir}, but does not answer as one at ${file.url}`;
    tell(fail('hub', what, 'synod down, then synod up; if that does not help, end the process'));
  }
  return null;
}

/** As the owner, whatever token or address this shell has. */
function ownerTarget({ dir, flags, env }: Asked): Target {
  const globals = { dir, ...(flags.space !== undefined && { space: flags.space }) };
  const target = resolveTarget(globals, { ...env, SYNOD_TOKEN: '', SYNOD_URL: '' });
  return { ...target, agent: null };
}

function createDoctorHub(asked: Asked): DoctorHub {
  const target = ownerTarget(asked);
  return {
    async call(agent, operation, input) {
      try {
        return { answer: await callHub({ ...target, agent }, operation, input) };
      } catch (error) {
        const { code, message } = toFailure(error);
        return { refused: code, message };
      }
    },
  };
}

function refusedOwner(
  { dir }: Asked,
  { url }: HubFile,
  { refused, message }: { readonly refused: string; readonly message: string },
): Found {
  if (!refused.startsWith('access.') && refused !== 'hub.foreign') {
    return fail(
      'credential',
      `the hub at ${url} refused: ${message}`,
      'check --space and SOX_NAMESPACE',
    );
  }
  return fail(
    'credential',
    `the hub at ${url} does not accept the owner’s credential in ${dir}: ${message}`,
    'the file was changed or removed while the hub ran: synod down, then synod up',
  );
}

async function examineCredential(asked: Asked, hub: HubFile, doctor: DoctorHub): Promise<Found> {
  const { flags, env, dir } = asked;
  const token = flags.token ?? (env.SYNOD_TOKEN || null);
  const from = flags.token === undefined ? 'SYNOD_TOKEN' : '--token';
  if (token === null) {
    const how = hub.socket === null ? `the credential in ${dir}` : 'the owner’s socket';
    return ok('credential', `accepted: ${how}`);
  }
  try {
    const target = resolveTarget({ ...flags, token }, env);
    const { agent_id: agent, tier } = await callHub({ ...target, agent: null }, 'hub.whoami', {});
    return ok('credential', `accepted: the token in ${from} is that of ${agent} (${tier})`);
  } catch (error) {
    const { code, message: said, hint } = toFailure(error);
    if (!code.startsWith('access.')) {
      return fail(
        'credential',
        `the token in ${from} could not be shown: ${said}`,
        hint ?? 'synod status',
      );
    }
    const { message, remedy } = await readTokenFate(doctor, token, from);
    return fail('credential', message, remedy);
  }
}

/** Where the script of the hooks looks: the same rule as in that script. */
export function hookDirectory(env: Readonly<Record<string, string | undefined>>): string {
  // A shell does not read the tilde of a variable.
  if (env.SYNOD_DIR) return env.SYNOD_DIR.startsWith('~') ? env.SYNOD_DIR : resolve(env.SYNOD_DIR);
  if (env.SYNOD_HOME && isReadable(join(env.SYNOD_HOME, 'hub.json'))) return env.SYNOD_HOME;
  return installedIn(env) ?? join(env.HOME || homedir(), '.synod');
}

/** Where the server that the launcher starts looks. */
function toolDirectory(env: Readonly<Record<string, string | undefined>>): string {
  return dataDirectory(env.SYNOD_DIR || (installedIn(env) ?? undefined), env as NodeJS.ProcessEnv);
}

function installedIn(env: Readonly<Record<string, string | undefined>>): string | null {
  return installedDirectory(synodHomeOf(env, env.HOME || homedir()));
}

/** Two hubs that do not know of each other are the commonest reason for silence. */
async function findNeighbours({ dir, env }: Asked, hub: HubFile): Promise<Found[]> {
  const found: Found[] = [];
  const [hooks, tools] = [hookDirectory(env), toolDirectory(env)];
  if (hooks !== tools) {
    const what = `hooks go to the hub of ${hooks}, and tools to that of ${tools}`;
    const remedy = `set SYNOD_DIR to one of the two wherever agents start; SYNOD_HOME alone moves only one`;
    found.push(fail('two hubs', what, remedy));
  }
  if (env.SYNOD_URL && !isSame(env.SYNOD_URL, hub.url)) {
    const what = `SYNOD_URL sends tools to ${new URL(env.SYNOD_URL, hub.url).origin}, and hooks go to ${hub.url}`;
    found.push(
      fail('two hubs', what, 'unset SYNOD_URL where agents start, or run them at that hub'),
    );
  }
  if (tools !== dir) {
    const what = `agents that are started here look for their hub in ${tools}, and not in ${dir}`;
    found.push(warn('two hubs', what, `start them with SYNOD_DIR=${dir}`));
  }
  const home = join(homedir(), '.synod');
  const other = home === dir ? null : await findHub(home);
  if (other !== null) {
    const what = `another hub runs from ${home} (${other.url}): agents without SYNOD_DIR join that one`;
    found.push(warn('two hubs', what, `synod down --dir ${home}, or set SYNOD_DIR everywhere`));
  }
  const isDefault = [hub.url, other?.url ?? ''].some((url) => isSame(url, DEFAULT_URL));
  if (!isDefault && (await isHealthy(strangerAt(DEFAULT_URL, dir), NEIGHBOUR_MS))) {
    const what = `another hub, of somebody else or another directory, answers at ${DEFAULT_URL}`;
    found.push(warn('two hubs', what, 'see that nobody means this one by that address'));
  }
  return found;
}

function isSame(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
