/**
 * `synod doctor`: sends a real canary through every hop between a coding agent and the hub, and says
 * which one failed and what to do [DO1]. It starts no hub unless told to, writes into nobody's files, and
 * agrees to nothing in a person's stead. Exit code 1 when a hop failed.
 */
import type { Command } from 'commander';
import { dataDirectory, type Globals } from '../client/node/target.ts';
import { tryArm } from '../harness/doctor/arm-hop.ts';
import { takeLeave, WITNESS } from '../harness/doctor/canary.ts';
import { examine } from '../harness/doctor/examine.ts';
import { type Found, fail, type Hop, hopLines, inMs, warn } from '../harness/doctor/hop.ts';
import { cleanEnvironment, type Environment } from '../harness/doctor/vendor-env.ts';
import type { WakeRow } from '../harness/doctor/wake-hop.ts';
import { isProblem } from '../harness/install/problem.ts';
import { vendorsOf } from '../harness/install/record.ts';
import { VENDOR_PARTS } from '../harness/install/vendors/all.ts';
import type { InstallSite } from '../harness/install/vendors/vendor.ts';
import { readRecord } from '../harness/install/world.ts';
import { isProblem as isGitProblem } from '../place/problem.ts';
import { readRepository } from '../place/repository.ts';
import { openDoorSettings } from '../server/hooks/settings-file.ts';
import { packageVersion } from '../server/run/version.ts';
import type { DoorSettings } from '../wire/hook-settings.ts';
import { VENDORS, type Vendor } from '../wire/tool-names.ts';
import { type Context, handle } from './context.ts';
import { type ExaminedHub, examineHub, hookDirectory } from './doctor-hub.ts';
import { examineRunners, readManaged } from './doctor-runners.ts';
import { TROUBLE_EXIT } from './failure.ts';
import { readSites, thisLaunch } from './install.ts';
import { columns, neutralise } from './terminal.ts';
import { parseVendors } from './vendor.ts';

interface DoctorFlags extends Globals {
  readonly projectDir?: string;
  readonly quick?: boolean;
  readonly start?: boolean;
}

interface Patient {
  readonly vendor: Vendor;
  readonly site: InstallSite;
}

export function registerDoctor(program: Command): void {
  const command = program
    .command('doctor')
    .description('send a canary through every hop to the hub; exit code 1 if one fails')
    .argument('[vendors...]', 'claude, codex, gemini, opencode, or all that are connected')
    .option('--project-dir <dir>', 'the project (default: the repository you are in)')
    .option('--quick', 'start no program of a vendor, and wake nobody')
    .option('--start', 'start the hub when none runs');
  handle<DoctorFlags>(command, doctor);
}

async function doctor(context: Context<DoctorFlags>): Promise<void> {
  const { args, flags, show, print, isJson } = context;
  const asked = parseVendors(args);
  const hops: Hop[] = [];
  const told = (vendor: Vendor | null, site: InstallSite | null) => (found: Found) => {
    hops.push({ ...found, vendor, scope: site?.scope ?? null });
    if (!isJson) for (const line of hopLines(found)) print(neutralise(line));
  };
  const tell = told(null, null);
  const dir = dataDirectory(flags.dir, process.env);
  const hub = await examineHub({ dir, flags, env: process.env, tell });
  const settings = readSettings(hub?.dir ?? dir, tell);
  const all = await readSites({ project: true, ...flags }, ['project']);
  const [project] = all;
  const [user] = await readSites({ user: true }, ['user']);
  const root = project?.root ?? process.cwd();
  await examineProject(root, tell);
  const clean = environmentOf(flags, dir);
  if (hub !== null) {
    const options = { env: process.env, isQuick: flags.quick === true };
    for (const found of await examineRunners(await readManaged(hub.doctor), options)) tell(found);
  }
  const rows: WakeRow[] = [];
  const sites = [user, project].filter((site) => site !== undefined);
  for (const { vendor, site } of findPatients(sites, asked, tell)) {
    const title = VENDOR_PARTS[vendor].title;
    if (!isJson) print(`\n${title}, ${site.scope === 'user' ? 'for this user' : `in ${root}`}:`);
    const woken = await examine({
      ...{ vendor, site, root, settings, clean },
      hub: hub?.doctor ?? null,
      hookDir: hookDirectory(clean),
      isQuick: flags.quick === true,
      objection: async (env) => (hub === null ? null : hub.objection(env)),
      tell: told(vendor, site),
    });
    // The same means twice tell nothing new.
    if (!rows.some((row) => row.vendor === vendor)) rows.push(...woken);
  }
  if (hub !== null && rows.length > 0) {
    rows.push(await tryArm(hub.doctor, thisLaunch(), clean));
  }
  if (hub !== null) await takeLeave(hub.doctor, WITNESS);
  const isWell = hops.every(({ state }) => state !== 'fail');
  if (isJson) show(documentOf(isWell, hub, dir, hops, rows), () => []);
  else for (const line of closing(hops, rows)) print(line);
  if (!isWell) process.exitCode = TROUBLE_EXIT;
}

function documentOf(
  isWell: boolean,
  hub: ExaminedHub | null,
  dir: string,
  hops: readonly Hop[],
  wake: readonly WakeRow[],
): object {
  const running = hub === null ? null : { url: hub.url, version: hub.version };
  return { ok: isWell, version: packageVersion(), dir, hub: running, hops, wake };
}

function closing(hops: readonly Hop[], rows: readonly WakeRow[]): string[] {
  const lines: string[] = [];
  if (rows.length > 0) {
    const cells = rows.map(({ vendor, means, works, ms, note }) => [
      ...[vendor, means, works === null ? '?' : works ? 'yes' : 'no'],
      ...[ms === null ? '-' : inMs(ms), note],
    ]);
    lines.push('', ...columns([['wake', 'means', 'works here', 'latency', ''], ...cells]));
  }
  const count = (state: Hop['state']): number => hops.filter((hop) => hop.state === state).length;
  const failed = count('fail');
  const rest = `${count('ok')} well, ${count('warn')} to look at, ${count('skip')} not tried`;
  lines.push(
    '',
    failed === 0
      ? `all hops hold: ${rest}`
      : `${failed} ${failed === 1 ? 'hop' : 'hops'} failed; ${rest}`,
  );
  return lines;
}

/** Who is connected, by scope; whoever was asked for and is not, is told of. */
function findPatients(
  sites: readonly InstallSite[],
  asked: readonly Vendor[] | null,
  tell: (found: Found) => void,
): Patient[] {
  const patients: Patient[] = [];
  for (const site of sites) {
    const record = readRecord(site);
    if (isProblem(record)) tell(fail('files', record.message, record.remedy));
    else for (const vendor of vendorsOf(record)) patients.push({ vendor, site });
  }
  for (const vendor of asked ?? []) {
    if (patients.some((one) => one.vendor === vendor)) continue;
    const what = `${VENDOR_PARTS[vendor].title} is not connected to Synod, for the user or here`;
    tell(fail('files', what, `synod install ${vendor}`));
  }
  if (asked === null && patients.length === 0) {
    tell(
      fail('files', 'no coding agent is connected to Synod, for the user or here', 'synod install'),
    );
  }
  const wanted = patients.filter(({ vendor }) => asked?.includes(vendor) ?? true);
  for (const vendor of VENDORS) {
    if (wanted.filter((one) => one.vendor === vendor).length < 2) continue;
    const what = `${vendor} is connected for the user and in this project, so its hooks run twice here`;
    const remedy = `keep one: synod uninstall ${vendor} --user, or synod uninstall ${vendor} --project`;
    tell(warn('files', what, remedy));
  }
  return wanted.sort((a, b) => VENDORS.indexOf(a.vendor) - VENDORS.indexOf(b.vendor));
}

/** What git can tell about the folder; without it the guard and the commits know less. */
async function examineProject(root: string, tell: (found: Found) => void): Promise<void> {
  const repository = await readRepository(root);
  if (!isGitProblem(repository)) return;
  const { problem, message, remedy } = repository;
  if (problem !== 'git.not-a-repository') return tell(fail('project', message, remedy));
  const what = `${root} is in no git repository: claims hold for the folder alone, and no commit is checked`;
  tell(warn('project', what, 'make it one with: git init'));
}

function readSettings(dir: string, tell: (found: Found) => void): DoorSettings {
  const read = openDoorSettings(dir, process.env, (what) =>
    tell(
      warn('policy', what, 'mend it there; until then what was set before, or the defaults, hold'),
    ),
  );
  return read();
}

/** As an agent started from here would have it; with the hub and space that were asked for. */
function environmentOf(flags: DoctorFlags, dir: string): Environment {
  return {
    ...cleanEnvironment(process.env),
    ...(flags.dir !== undefined && { SYNOD_DIR: dir }),
    ...(flags.space !== undefined && { SOX_NAMESPACE: flags.space }),
  };
}
