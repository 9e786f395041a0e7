/**
 * One vendor in one scope, hop by hop, in the order a message takes them: a hop that cannot work without
 * the one before is skipped and says so. Whatever is started is ended, whatever is claimed given back.
 */
import type { DoorSettings } from '../../wire/hook-settings.ts';
import type { Vendor } from '../../wire/tool-names.ts';
import { type Probe, probeFinding, probeVendor } from '../install/probe.ts';
import { VENDOR_PARTS } from '../install/vendors/all.ts';
import type { InstallSite } from '../install/vendors/vendor.ts';
import { verifyScope } from '../install/verify.ts';
import { canaryName, createMark, type DoctorHub, retireChannel, takeLeave } from './canary.ts';
import { type HookCanary, tryGuard, tryHook } from './hook-hop.ts';
import { openHookRunner } from './hook-run.ts';
import { type Found, fail, ofFinding, ok, skip } from './hop.ts';
import { tryServer } from './mcp-hop.ts';
import { MOMENTS } from './moments.ts';
import { readServer } from './registered.ts';
import { type Environment, expand, serverEnvironment, type VendorSession } from './vendor-env.ts';
import { readTrust } from './vendor-trust.ts';
import { tryWake, type WakeRow, wakeFound } from './wake-hop.ts';

export interface Examination {
  readonly vendor: Vendor;
  readonly site: InstallSite;
  /** Where a person would start the agent. */
  readonly root: string;
  /** Null when none runs: then no hop beyond it can be tried. */
  readonly hub: DoctorHub | null;
  readonly settings: DoorSettings;
  /** Where the hooks look for the hub. */
  readonly hookDir: string;
  /** The environment of the agent, of no session. */
  readonly clean: Environment;
  readonly isQuick: boolean;
  /** Why a server with this environment must not be started; null when it may. */
  objection(env: Environment): Promise<string | null>;
  tell(found: Found): void;
}

/** How waking stands; everything else is told as it is found. */
export async function examine(asked: Examination): Promise<readonly WakeRow[]> {
  const { vendor, site, root, hub, clean, isQuick, tell } = asked;
  const part = VENDOR_PARTS[vendor];
  const probe = isQuick ? null : await probeVendor(part, clean);
  if (probe !== null) {
    const found = ofFinding('program', probeFinding(part, probe));
    // Elsewhere a hint; here it means that there is no agent at all.
    tell(probe.state === 'missing' ? { ...found, state: 'fail' } : found);
  }
  const odd = verifyScope(site, [vendor]).filter(({ level }) => level !== 'ok');
  for (const one of odd) tell(ofFinding('files', one));
  if (odd.length === 0) tell(ok('files', 'all that was installed is there, as it was written'));
  for (const found of await readTrust({ vendor, site, root, clean, isQuick })) tell(found);
  if (hub === null) {
    for (const hop of ['mcp', 'message', 'hook', 'guard'] as const) {
      tell(skip(hop, 'needs the hub'));
    }
    return [];
  }
  const session: VendorSession = { id: `doctor-${createMark()}`, root };
  try {
    await examineTools(asked, hub, session);
    return await examineHooks(asked, hub, session, probe);
  } finally {
    await retireChannel(hub, vendor);
    await takeLeave(hub, canaryName(vendor));
  }
}

async function examineTools(
  asked: Examination,
  hub: DoctorHub,
  session: VendorSession,
): Promise<void> {
  const { vendor, site, root, clean, tell } = asked;
  const server = readServer(vendor, site);
  if (server === null) {
    tell(fail('mcp', `no server of ours is registered with ${vendor}`, `synod install ${vendor}`));
    tell(skip('message', 'needs the server'));
    return;
  }
  const env = serverEnvironment(vendor, clean, server, session);
  const objection = await asked.objection(env);
  if (objection !== null) {
    tell(
      fail('mcp', `${objection} (as registered in ${server.path})`, 'let both have one SYNOD_DIR'),
    );
    tell(skip('message', 'needs the server'));
    return;
  }
  const found = await tryServer({
    ...{ vendor, hub, path: server.path, session: session.id, mark: createMark() },
    title: VENDOR_PARTS[vendor].title,
    launched: {
      command: expand(vendor, server.command, clean),
      args: server.args.map((arg) => expand(vendor, arg, clean)),
      env,
      cwd: root,
    },
  });
  for (const one of found) tell(one);
  if (found.length < 2) tell(skip('message', 'needs the server'));
}

async function examineHooks(
  asked: Examination,
  hub: DoctorHub,
  session: VendorSession,
  probe: Probe | null,
): Promise<readonly WakeRow[]> {
  const { vendor, site, clean, settings, hookDir, tell } = asked;
  const hooks = openHookRunner(vendor, site, clean, session);
  if (typeof hooks === 'string') {
    tell(fail('hook', hooks, `synod install ${vendor}`));
    tell(skip('guard', 'needs the hook'));
    return [];
  }
  const canary: HookCanary = { vendor, hub, hooks, mark: createMark(), settings, hookDir };
  try {
    const hook = await tryHook(canary);
    tell(hook);
    if (hook.state === 'fail') {
      tell(skip('guard', 'needs the hook'));
      return [];
    }
    tell(await tryGuard(canary));
    if (probe === null) return [];
    const row = await tryWake(canary, clean, probe);
    tell(wakeFound(row));
    return [row];
  } finally {
    await hooks.fire(MOMENTS[vendor].end, { reason: 'other' });
    await hooks.close();
  }
}
