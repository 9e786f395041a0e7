/**
 * The environment of a worker: an allow-list, never the bus's own.
 *
 * Taken over are the variables a program needs to run at all, and those the pool asks for, by name
 * or by prefix with a `*` at the end [WO4]. Variables in which a hub or a coding agent keeps its
 * tokens and sessions are not caught by a prefix, only by their exact name; the hub's own token is
 * never taken over [WO5]. What the pool sets itself is set as it says.
 */

const NEEDED = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_*', 'TERM', 'TMPDIR', 'TZ'],
  // Without these a Windows program finds neither its libraries nor a folder to write to.
  ...['SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'PATHEXT', 'TEMP', 'TMP', 'USERNAME'],
  ...['USERPROFILE', 'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA'],
  ...['PROGRAMFILES', 'PROCESSOR_ARCHITECTURE', 'NUMBER_OF_PROCESSORS'],
];

const GUARDED_PREFIXES = ['SYNOD_', 'SOX_', 'CLAUDE_CODE_', 'CODEX_'];
const FORBIDDEN = 'SYNOD_TOKEN';

export function workerEnvironment(
  from: Readonly<Record<string, string | undefined>>,
  allow: readonly string[],
  set: Readonly<Record<string, string>>,
  isWindows: boolean = process.platform === 'win32',
): Record<string, string> {
  // Windows knows `Path` by any spelling; elsewhere `path` is another variable.
  const spelt = (name: string): string => (isWindows ? name.toUpperCase() : name);
  const patterns = [...NEEDED, ...allow].map(spelt);
  const taken = Object.entries(from).filter(
    ([name, value]) => value !== undefined && isAllowed(spelt(name), patterns),
  );
  return { ...(Object.fromEntries(taken) as Record<string, string>), ...set };
}

function isAllowed(name: string, patterns: readonly string[]): boolean {
  // The guard does not care about case: a token is no less a token as `Synod_Token`.
  const upper = name.toUpperCase();
  if (upper === FORBIDDEN) return false;
  if (patterns.includes(name)) return true;
  if (GUARDED_PREFIXES.some((prefix) => upper.startsWith(prefix))) return false;
  return patterns.some((one) => one.endsWith('*') && name.startsWith(one.slice(0, -1)));
}
