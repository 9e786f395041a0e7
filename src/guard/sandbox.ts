/**
 * The sandbox: bubblewrap, where it is installed and may make namespaces, which is found out by trying. A
 * child in it sees of the disk what the policy allows and what any program needs to run, has no network, and
 * ends with us [PO10]. Where the sandbox cannot be as fine as the policy it is narrower, and says so.
 */
import { execFile } from 'node:child_process';
import { existsSync, lstatSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { relativeTo } from '../place/place.ts';
import { common, type Root, type Roots } from './paths.ts';
import { findProgram, type Program } from './programs.ts';

const run = promisify(execFile);
const TRY_MS_MAX = 10_000;

/** What programs are made of; readable to a child in the sandbox besides what the policy says. */
export const RUNTIME_PATHS: readonly string[] = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'],
  ...['/etc/ld.so.cache', '/etc/alternatives', '/etc/ssl', '/etc/localtime'],
];

export interface Sandbox {
  readonly isThere: boolean;
  /** Where bubblewrap lies. */
  readonly command: string;
  /** Why not. */
  readonly why: string;
}

let found: Promise<Sandbox> | null = null;

/** Tried once in a process. */
export function findSandbox(): Promise<Sandbox> {
  found ??= tryBubblewrap('bwrap');
  return found;
}

export async function tryBubblewrap(name: string): Promise<Sandbox> {
  const none = (why: string): Sandbox => ({ isThere: false, command: '', why });
  if (process.platform !== 'linux') return none('bubblewrap is for Linux');
  const found = await findProgram(name, { cwd: '/', path: process.env.PATH ?? '' });
  if (found === null) return none('bubblewrap is not installed');
  try {
    const args = ['--unshare-all', '--cap-drop', 'ALL', '--ro-bind', '/', '/', '--', 'true'];
    await run(found.entry, args, { timeout: TRY_MS_MAX });
    return { isThere: true, command: found.entry, why: 'bubblewrap is there' };
  } catch (error) {
    const said = String((error as { stderr?: string }).stderr ?? '')
      .trim()
      .slice(0, 200);
    return none(`bubblewrap may make no namespaces here (${said})`);
  }
}

export interface SandboxPlan {
  /** For bwrap, up to and with `--`. */
  readonly args: readonly string[];
  readonly gaps: readonly string[];
}

/**
 * `layers` are the roots of the guard and of those it is a child of; `programs` what is executed, and
 * `mounted` what is seen under another path.
 */
export function planSandbox(
  layers: readonly Roots[],
  programs: readonly Program[],
  cwd: string | null,
  mounted: Readonly<Record<string, string>> = {},
): SandboxPlan {
  const gaps: string[] = [];
  const of = (kind: 'read' | 'write' | 'delete'): readonly Root[] =>
    layers.map((roots) => roots[kind]).reduce(common);
  const read = of('read');
  const written = common(read, of('write'));
  // A file that is bound can be written and, being a mount, not deleted; a folder cannot be told so.
  const writable = [
    ...common(written, of('delete')),
    ...written.filter(({ real }) => isFile(real)),
  ];
  for (const { real, said } of written) {
    if (covers(writable, real)) continue;
    gaps.push(`${said} may be written and not deleted from: the child only reads it`);
  }
  const binds = [
    ...[...RUNTIME_PATHS, ...programs.flatMap(({ entry, file }) => [entry, file])].map((path) => ({
      path,
      flag: '--ro-bind',
    })),
    ...read.map(({ real }) => ({ path: real, flag: '--ro-bind' })),
    ...writable.map(({ real }) => ({ path: real, flag: '--bind' })),
  ];
  const present = binds.filter(({ path }) => existsSync(path));
  for (const { real, said } of [...read, ...writable]) {
    if (!existsSync(real)) gaps.push(`${said} is not there: the child does not see it`);
  }
  // Later ones lie over earlier ones: the outermost first, and of one path what may be written last.
  present.sort((a, b) => a.path.length - b.path.length || (a.flag === '--bind' ? 1 : -1));
  const isWhole = ({ path }: { readonly path: string }): boolean => path === '/';
  const whole = present.filter(isWhole);
  // Where everything may be read it is there already, /tmp too; only what may be written lies over it.
  const parts = present.filter(
    (one) => !isWhole(one) && (whole.length === 0 || one.flag === '--bind'),
  );
  const bind = ({ path, flag }: { path: string; flag: string }): string[] => [flag, path, path];
  const hidden = layers.flatMap(({ except }) => except);
  return {
    args: [
      ...['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
      ...whole.flatMap(bind),
      ...['--proc', '/proc', '--dev', '/dev', ...(whole.length === 0 ? ['--tmpfs', '/tmp'] : [])],
      ...parts.flatMap(bind),
      ...hidden.flatMap((root) => hide(root, writable, present, gaps)),
      ...Object.entries(mounted).flatMap(([at, path]) => ['--ro-bind', path, at]),
      ...['--chdir', cwd ?? '/', '--'],
    ],
    gaps: [...new Set(gaps)],
  };
}

function hide(
  { real, said }: Root,
  writable: readonly Root[],
  present: readonly { readonly path: string }[],
  gaps: string[],
): string[] {
  if (!present.some(({ path }) => relativeTo(path, real) !== null)) return [];
  if (!existsSync(real)) {
    if (covers(writable, real)) {
      gaps.push(`${said} is not there: the sandbox cannot keep the child from making it`);
    }
    return [];
  }
  return isFile(real) ? ['--ro-bind', '/dev/null', real] : ['--tmpfs', real, '--remount-ro', real];
}

function covers(roots: readonly Root[], real: string): boolean {
  return roots.some((root) => relativeTo(root.real, real) !== null);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile() && !lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
