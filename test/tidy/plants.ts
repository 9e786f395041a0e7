/**
 * One violation a file, for every wall we claim to have, and who must report it.
 *
 * The crossings between folders are not listed but computed: whatever the table of
 * layers does not allow is planted.
 */
import { relative } from 'node:path';
import { type Layer, reachOf, readLayers } from './layers.ts';

export interface Plant {
  readonly file: string;
  readonly text: string;
  /** A code of tsc (`TS6307`) or a rule of Biome (`noEnum`). */
  readonly caught: RegExp;
}

export const layers: readonly Layer[] = readLayers();
export const folders: readonly string[] = layers.map(({ folder }) => folder);

/** How a file of one folder writes the import of another folder's. */
export function way(from: string, to: string): string {
  const path = relative(from, `${to}/inside.ts`);
  return path.startsWith('.') ? path : `./${path}`;
}

const crossings: readonly Plant[] = layers.flatMap(({ folder }) =>
  folders
    .filter((other) => other !== folder && !reachOf(layers, folder).has(other))
    .map((other) => ({
      file: `src/${folder}/reaches-${other.replace('/', '-')}.ts`,
      text: `import { inside } from '${way(folder, other)}';\nexport const taken: number = inside;\n`,
      caught: /TS6307|TS6059/,
    })),
);

const worlds: readonly Plant[] = layers
  .filter(({ world }) => world !== 'Node')
  .flatMap(({ folder, world }) => [
    {
      file: `src/${folder}/reads-disk.ts`,
      text: `import { readFileSync } from 'node:fs';\nexport const text: string = String(readFileSync('x'));\n`,
      caught: /TS2591|TS2307|TS2580/,
    },
    {
      file: `src/${folder}/asks-process.ts`,
      text: 'export const path: string = String(process.env.PATH);\n',
      caught: /TS2591|TS2580|TS2304/,
    },
    ...(world === 'ES'
      ? [
          {
            file: `src/${folder}/sets-timer.ts`,
            text: 'export const timer: unknown = setTimeout(() => {}, 1);\n',
            caught: /TS2304/,
          },
        ]
      : []),
  ]);

export const forTsc: readonly Plant[] = [
  ...crossings,
  ...worlds,
  {
    file: 'src/core/not-erasable.ts',
    text: 'export enum Colour {\n  red = 1,\n}\n',
    caught: /TS1294/,
  },
  {
    file: 'src/core/untyped-export.ts',
    text: 'export const answer = [1].map((one) => one + 1);\n',
    caught: /TS9010/,
  },
];

export const forBiome: readonly Plant[] = [
  {
    file: 'src/core/tells-time.ts',
    text: 'export const now: number = Date.now();\n',
    caught: /noRestrictedGlobals/,
  },
  {
    file: 'src/hub/tells-time.ts',
    text: 'export const now: Date = new Date();\n',
    caught: /noRestrictedGlobals/,
  },
  {
    file: 'src/core/draws-lots.ts',
    text: 'export const chance: number = Math.random();\n',
    caught: /plugin/,
  },
  {
    file: 'src/hub/draws-lots.ts',
    text: 'export const chance: number = Math.random();\n',
    caught: /plugin/,
  },
  ...['core', 'server/doors', 'client', 'cli'].map((room) => ({
    file: `src/${room}/reads-json.ts`,
    text: "export const read: unknown = JSON.parse('{}');\n",
    caught: /plugin/,
  })),
  ...['memory', 'file', 'sqlite'].map((adapter) => ({
    file: `src/hub/names-${adapter}.ts`,
    text: `import { inside } from '../log/${adapter}.ts';\n\nexport const taken: number = inside;\n`,
    caught: /noRestrictedImports/,
  })),
  {
    file: 'src/cli/names-adapter.ts',
    text: `import { inside } from '../log/sqlite.ts';\n\nexport const taken: number = inside;\n`,
    caught: /noRestrictedImports/,
  },
  {
    file: 'src/wire/egg.ts',
    text: `import { hen } from './hen.ts';\n\nexport const egg: () => number = () => hen();\n`,
    caught: /noImportCycles/,
  },
  {
    file: 'src/wire/hen.ts',
    text: `import { egg } from './egg.ts';\n\nexport const hen: () => number = () => egg() + 1;\n`,
    caught: /noImportCycles/,
  },
  {
    file: 'src/wire/type-egg.ts',
    text: `import type { Hen } from './type-hen.ts';\n\nexport interface Egg {\n  readonly of: Hen;\n}\n`,
    caught: /noImportCycles/,
  },
  {
    file: 'src/wire/type-hen.ts',
    text: `import type { Egg } from './type-egg.ts';\n\nexport interface Hen {\n  readonly from: Egg;\n}\n`,
    caught: /noImportCycles/,
  },
  {
    file: 'src/wire/barrel.ts',
    text: `export { inside } from './inside.ts';\n`,
    caught: /noBarrelFile/,
  },
  {
    file: 'src/client/index.ts',
    text: `export * from './inside.ts';\n`,
    caught: /noReExportAll/,
  },
  {
    file: 'src/core/lists-kinds.ts',
    text: 'export enum Colour {\n  red = 1,\n}\n',
    caught: /noEnum/,
  },
  {
    file: 'src/core/has-default.ts',
    text: 'export default 1;\n',
    caught: /noDefaultExport/,
  },
  {
    file: 'src/server/run/WrongName.ts',
    text: 'export const name: number = 1;\n',
    caught: /useFilenamingConvention/,
  },
  {
    file: 'src/server/run/undeclared.ts',
    text: `import lodash from 'lodash';\n\nexport const version: string = lodash.VERSION;\n`,
    caught: /noUndeclaredDependencies/,
  },
  {
    file: 'src/server/run/throws-text.ts',
    text: `export function stop(): never {\n  throw 'no';\n}\n`,
    caught: /useThrowOnlyError/,
  },
  {
    file: 'src/server/run/loses-cause.ts',
    text: `export function tell(): void {\n  try {\n    JSON.parse('x');\n  } catch (_cause) {\n    throw new Error('no');\n  }\n}\n`,
    caught: /useErrorCause/,
  },
  {
    file: 'src/server/run/floats.ts',
    text: `async function run(): Promise<number> {\n  return 1;\n}\n\nexport function start(): void {\n  run();\n}\n`,
    caught: /noFloatingPromises/,
  },
  {
    file: 'src/server/run/misses-case.ts',
    text: `export function name(kind: 'a' | 'b'): string {\n  switch (kind) {\n    case 'a':\n      return 'A';\n  }\n  return '';\n}\n`,
    caught: /useExhaustiveSwitchCases/,
  },
  {
    file: 'src/server/run/prints.ts',
    text: `export function say(): void {\n  console.log('hello');\n}\n`,
    caught: /noConsole/,
  },
];

/** A command that is run, something it uses, and what nobody does. */
export const forKnip: readonly Plant[] = [
  {
    file: 'src/cli/main.ts',
    text: `import { used } from './alive.ts';\n\nexport const main: number = used;\n`,
    caught: /^$/,
  },
  {
    file: 'src/cli/alive.ts',
    text: 'export const used: number = 1;\nexport const unused: number = 2;\n',
    caught: /^exports unused$/,
  },
  {
    file: 'src/cli/dead.ts',
    text: 'export const forgotten: number = 1;\n',
    caught: /^files /,
  },
  // No file of the small tree imports it.
  { file: 'package.json', text: '', caught: /dependencies ajv/ },
];
