/**
 * Which file of a package makes its plugin: the `"./plugin"` export, else `"."`. A store's: `"./store"`.
 *
 * Conditions are taken in the order written, as Node does for an import. A package without
 * `exports` is entered by `main`, else `index.js`. Null when the package exports neither.
 */

const CONDITIONS: ReadonlySet<string> = new Set(['node', 'import', 'module-sync', 'default']);
const DEPTH_MAX = 8;

export function entryPath(
  description: unknown,
  subpath: './plugin' | './store' = './plugin',
): string | null {
  const { exports, main } = description as { exports?: unknown; main?: unknown };
  if (exports === undefined || exports === null) {
    return typeof main === 'string' ? main : 'index.js';
  }
  if (typeof exports === 'object' && !Array.isArray(exports)) {
    const keys = Object.keys(exports);
    if (keys.some((key) => key.startsWith('.'))) {
      const subpaths = exports as Record<string, unknown>;
      return target(subpaths[subpath], 0) ?? target(subpaths['.'], 0);
    }
  }
  return target(exports, 0);
}

function target(value: unknown, depth: number): string | null {
  if (depth > DEPTH_MAX || value === undefined || value === null) return null;
  if (typeof value === 'string') return value.startsWith('./') ? value : null;
  if (Array.isArray(value)) {
    for (const item of value) {
      const path = target(item, depth + 1);
      if (path !== null) return path;
    }
    return null;
  }
  if (typeof value !== 'object') return null;
  for (const [condition, inner] of Object.entries(value)) {
    const path = CONDITIONS.has(condition) ? target(inner, depth + 1) : null;
    if (path !== null) return path;
  }
  return null;
}
