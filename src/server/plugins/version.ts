/**
 * Versions as both npm and PEP 440 write them, in one order.
 *
 * `1.0.0a1` is `1.0.0-alpha.1`, `b2` is `-beta.2`, `rc1` is `-rc.1`. Build metadata is ignored.
 * PEP 440 epochs, dev and post releases are not versions here.
 */

export interface Version {
  readonly release: readonly number[];
  /** Pre-release identifiers, or null for a release. */
  readonly pre: readonly (string | number)[] | null;
}

const SHAPE =
  /^v?(\d{1,9}(?:\.\d{1,9})*)(?:-([0-9a-z-]+(?:\.[0-9a-z-]+)*)|[._-]?(alpha|beta|preview|pre|rc|a|b|c)[._-]?(\d{0,9}))?(?:\+[0-9a-z.-]+)?$/i;

const STAGES: Readonly<Record<string, string>> = {
  a: 'alpha',
  alpha: 'alpha',
  b: 'beta',
  beta: 'beta',
  c: 'rc',
  rc: 'rc',
  pre: 'rc',
  preview: 'rc',
};

export function parseVersion(text: string): Version | null {
  const match = SHAPE.exec(text);
  if (match === null) return null;
  const release = (match[1] ?? '').split('.').map(Number);
  const stage = match[3];
  if (stage !== undefined) {
    return { release, pre: [STAGES[stage.toLowerCase()] ?? stage, Number(match[4] || 0)] };
  }
  const tail = match[2];
  if (tail === undefined) return { release, pre: null };
  return {
    release,
    pre: tail.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  };
}

/** Negative when `a` comes before `b`, zero when they are the same version. */
export function compareVersions(a: Version, b: Version): number {
  const length = Math.max(a.release.length, b.release.length);
  for (let i = 0; i < length; i += 1) {
    const difference = (a.release[i] ?? 0) - (b.release[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.pre === null || b.pre === null) return (a.pre === null ? 1 : 0) - (b.pre === null ? 1 : 0);
  return comparePre(a.pre, b.pre);
}

function comparePre(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const left = a[i] as string | number;
    const right = b[i] as string | number;
    if (left === right) continue;
    if (typeof left === 'number' && typeof right === 'number') return left - right;
    // SemVer: a numeric identifier comes before a word.
    if (typeof left === 'number') return -1;
    if (typeof right === 'number') return 1;
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}
