/**
 * A small tree with our own tsconfig files and biome.json and next to nothing to check,
 * so that the real tools with the real settings answer in a second or two.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { folders, layers, type Plant, way } from './plants.ts';
import { ROOT } from './repository.ts';

/** The tree every plant is set in: real configuration, and next to nothing to check. */
export function makeTree(tree: string, plants: readonly Plant[]): void {
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  };
  const copy = (path: string): void => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    copyFileSync(join(ROOT, path), join(tree, path));
  };
  for (const path of [
    'package.json',
    'biome.json',
    'knip.json',
    'tsconfig.base.json',
    '.gitignore',
  ])
    copy(path);
  copy('test/tidy/no-ambient-entropy.grit');
  copy('test/tidy/json-is-read-once.grit');
  // Linked one by one: the folder itself must be the tree's own, because tsc keeps its notes there.
  mkdirSync(join(tree, 'node_modules'));
  for (const entry of readdirSync(join(ROOT, 'node_modules'))) {
    if (entry.startsWith('.')) continue;
    symlinkSync(join(ROOT, 'node_modules', entry), join(tree, 'node_modules', entry));
  }
  for (const { folder, mayImport } of layers) {
    copy(`src/${folder}/tsconfig.json`);
    put(`src/${folder}/inside.ts`, 'export const inside: number = 1;\n');
    for (const other of mayImport) {
      const text = `import { inside } from '${way(folder, other)}';\n\nexport const taken: number = inside;\n`;
      put(`src/${folder}/uses-${other.replace('/', '-')}.ts`, text);
    }
  }
  for (const adapter of ['memory', 'file', 'sqlite']) {
    put(`src/log/${adapter}.ts`, 'export const inside: number = 1;\n');
  }
  put(
    'tsconfig.json',
    JSON.stringify(
      { files: [], references: folders.map((name) => ({ path: `src/${name}` })) },
      null,
      2,
    ),
  );
  for (const { file, text } of plants) put(file, text);
}

/** What each file is accused of; '?' holds what was said of no file. */
export type Accusations = Map<string, string[]>;

export function runTsc(tree: string): Accusations {
  const said = run(tree, 'tsc', ['-b', '--pretty', 'false']);
  const found: Accusations = new Map();
  for (const line of said.split('\n')) {
    const [, file, code] = /^([^\s(]+)\(\d+,\d+\): error (TS\d+)/.exec(line) ?? [];
    if (file !== undefined && code !== undefined) accuse(found, file, code);
    else if (line.includes('error TS')) accuse(found, '?', line);
  }
  return found;
}

export function runBiome(tree: string): Accusations {
  const flags = ['--reporter=github', '--max-diagnostics=none', '--vcs-enabled=false'];
  const said = run(tree, 'biome', ['lint', ...flags, 'src']);
  const found: Accusations = new Map();
  for (const line of said.split('\n')) {
    const [, title, file] = /^::error title=([^,]+),file=([^,]+),/.exec(line) ?? [];
    if (file !== undefined && title !== undefined) accuse(found, relative(tree, file), title);
  }
  return found;
}

/** Whether each accusation is of a file, an export or a dependency, as knip calls them. */
export function runKnip(tree: string): Accusations {
  const said = run(tree, 'knip', ['--reporter', 'json', '--no-progress', '--no-config-hints']);
  const found: Accusations = new Map();
  const { issues } = JSON.parse(said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1));
  for (const { file, ...kinds } of issues) {
    for (const [kind, list] of Object.entries(kinds)) {
      if (!Array.isArray(list)) continue;
      for (const { name } of list) accuse(found, file, `${kind} ${name}`);
    }
  }
  return found;
}

function accuse(all: Accusations, file: string, what: string): void {
  all.set(file, [...(all.get(file) ?? []), what]);
}

export function run(cwd: string, tool: string, args: readonly string[]): string {
  const { error, stdout, stderr } = spawnSync(join(ROOT, 'node_modules', '.bin', tool), args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined) throw error;
  return `${stdout}\n${stderr}`;
}
