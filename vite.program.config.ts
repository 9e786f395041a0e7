/**
 * The program, bundled into dist/program for the package: a command or a hub then loads a few files where
 * it would load hundreds, and nothing of its packages that it does not use. A bundled module goes on
 * believing that it lies where `tsc` puts it, so that what it finds beside itself (threads, the page, the
 * executable) is found there. What is loaded by name at run time, and what is optional, stays outside.
 */
import { readdirSync, readFileSync, utimesSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, type Rolldown } from 'vite';

const SOURCES = fileURLToPath(new URL('src/', import.meta.url));
const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
/** What nearly every command needs: one file of it is found, read and linked sooner than seven. */
const EVERY_COMMAND =
  /\/src\/(cli\/(main|program|plain-arguments|commands|command-words|context|failure|terminal|parse-value|body-input)|client\/(error|node\/(call|http|one-go|target))|wire\/(errors|fields|plain-line)|core\/law\/(nearest|hidden))\.ts$/;
/** The file of each command. */
const COMMANDS: ReadonlyMap<string, string> = new Map(
  Array.from(
    readFileSync(join(SOURCES, 'cli/commands.ts'), 'utf8').matchAll(
      /^ {2}'?([\w-]+)'?: async \(\) => \(await import\('\.\/([\w-]+\.ts)'\)\)/gm,
    ),
    ([, name = '', file = '']) => [name, join(SOURCES, 'cli', file)],
  ),
);
const optional = Object.keys(peerDependencies).map((name) => new RegExp(`^${name}(/|$)`));

/** `import.meta.url` of a bundled module: the file that was built of it alone. */
function ownUrl(): Plugin {
  return {
    name: 'own-url',
    transform(code, id) {
      if (!id.startsWith(SOURCES) || !code.includes('import.meta.url')) return null;
      const built = `../${relative(SOURCES, id).replace(/\.ts$/, '.js')}`;
      const url = `new URL(${JSON.stringify(built)}, import.meta.url).href`;
      return { code: code.replaceAll('import.meta.url', url), map: null };
    },
  };
}

/**
 * Node's own modules are asked for by name and not imported: an import reads every export there is, and
 * behind some (`WebSocket` of `node:http`) lies all of `fetch`, a third of a command's start. What packages
 * take whole and most processes never use is asked for when it is.
 */
function builtinsByName(): Plugin {
  const statement =
    /^import (?:([\w$]+)|\* as ([\w$]+)|(?:([\w$]+), )?\{([^}]*)\}) from "((?:node:)?[\w/]+)";$/gm;
  const wholeByRequire = /__require\("(https|tls)"\)/g;
  const ask = (id: string) => `globalThis.process.getBuiltinModule("${id}")`;
  const askLater = (id: string) => `new Proxy({}, { get: (_, name) => ${ask(id)}[name] })`;
  return {
    name: 'builtins-by-name',
    renderChunk(code) {
      const told = code.replace(statement, (line, one, all, beside, names, id) => {
        if (!isBuiltin(id)) return line;
        const whole = beside === undefined ? '' : `const ${beside} = ${ask(id)}; `;
        if (names !== undefined)
          return `${whole}const {${names.replaceAll(' as ', ': ')}} = ${ask(id)};`;
        const isLater = /^(node:)?child_process$/.test(id);
        return `const ${one ?? all} = ${isLater ? askLater(id) : ask(id)};`;
      });
      return { code: told.replace(wholeByRequire, (_, id) => askLater(id)), map: null };
    },
  };
}

/**
 * Which sources there are, for the executable of a checkout, and of which each command is made, with the threads
 * that it starts. What it finds beside itself and is none (the page, the executable) is the same for sources.
 */
function sourcesList(): Plugin {
  const thread = /['"`]\.\/((?:[\w-]+-)?thread)[.$]/g;
  const relativeImport = /\bfrom '(\.[^']+)'/g;
  return {
    name: 'sources-list',
    generateBundle() {
      const all = readdirSync(SOURCES, { recursive: true, withFileTypes: true });
      const nameOf = (entry: (typeof all)[number]) =>
        relative(SOURCES, join(entry.parentPath, entry.name));
      const folders = ['', ...all.filter((one) => one.isDirectory()).map(nameOf)];
      const files = all.filter((one) => /(?<!\.test)\.ts$/.test(one.name)).map(nameOf);
      /** A thread is bundled by nobody, so nobody has read it yet. */
      const importedBy = (id: string): string[] =>
        Array.from(readFileSync(id, 'utf8').matchAll(relativeImport), ([, path = '']) =>
          join(dirname(id), path),
        );
      const threadsOf = (id: string): string[] => {
        const code = readFileSync(id, 'utf8');
        if (!code.includes('import.meta.url')) return [];
        return Array.from(code.matchAll(thread), ([, name]) => join(dirname(id), `${name}.ts`));
      };
      const reached = (from: string, isWhole: boolean): Set<string> => {
        const found = new Set([from]);
        for (const id of found) {
          const info = this.getModuleInfo(id);
          const next = [
            ...(info?.importedIds ?? importedBy(id)),
            ...(isWhole ? (info?.dynamicallyImportedIds ?? []) : []),
            ...(isWhole ? threadsOf(id) : []),
          ];
          for (const one of next) if (one.startsWith(SOURCES)) found.add(one);
        }
        return found;
      };
      // What is not plain is read with commander, by any command.
      const always = reached(join(SOURCES, 'cli/main.ts'), false).union(
        reached(join(SOURCES, 'cli/full-program.ts'), false),
      );
      const commands: Record<string, number[]> = {};
      for (const [name, file] of COMMANDS) {
        const ids = always.union(reached(file, true));
        commands[name] = [...ids].map((id) => files.indexOf(relative(SOURCES, id)));
      }
      // With a transport of SOX it is the other.
      commands.serve = [...new Set([...(commands.serve ?? []), ...(commands.mcp ?? [])])];
      const source = JSON.stringify({ folders, files, commands });
      this.emitFile({ type: 'asset', fileName: 'sources.json', source });
    },
  };
}

/**
 * What a hub loads before it answers, and nothing beside it. Cut so that commands share with it what they need, it is
 * eighty files; a file is found, read and linked in a third of a millisecond. So there is a second program, the
 * same, in which all this is one.
 */
const inHub = asOne('all', [
  ...['cli/main.ts', 'cli/serve.ts', 'server/run/config.ts', 'server/run/server.ts'],
  ...['log/lock.ts', 'log/sqlite.ts'],
]);
/** And what `synod mcp` loads, which starts with every agent. */
const inBridge = asOne('all', [
  ...['cli/main.ts', 'cli/mcp.ts', 'harness/bridge/run.ts', 'client/node/start-hub.ts'],
  'server/run/version.ts',
]);
/** Of a program that is run for one command alone: what the others are made of. */
function without(commands: ReadonlySet<string>): Rolldown.Plugin {
  return {
    name: 'without-commands',
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((one) => one.type === 'chunk');
      const kept = new Set(chunks.filter(({ isEntry, name }) => isEntry && name === 'main'));
      for (const { imports, dynamicImports } of kept) {
        for (const name of [...imports, ...dynamicImports]) {
          const chunk = bundle[name];
          if (chunk?.type === 'chunk' && !commands.has(chunk.facadeModuleId ?? '')) kept.add(chunk);
        }
      }
      for (const chunk of chunks) if (!kept.has(chunk)) delete bundle[chunk.fileName];
    },
  };
}

/** What a bus loads; the little of it that workers in the box need they take with the rest. */
const inBus = asOne('bus', ['cli/bus.ts', 'bus/router/serve-bus.ts']);

/** Names what these import, and all that is imported by that. */
function asOne(name: string, begins: readonly string[]) {
  let found: Set<string> | null = null;
  return (id: string, context: Rolldown.ChunkingContext): string | null => {
    if (found === null) {
      found = new Set(begins.map((begin) => join(SOURCES, begin)));
      for (const one of found) {
        for (const next of context.getModuleInfo(one)?.importedIds ?? []) found.add(next);
      }
    }
    return found.has(id) ? name : null;
  };
}

/** The program is as old as the sources that were read: one that is saved during the build is newer. */
function asOldAsItsSources(): Plugin {
  let begunAt = new Date();
  return {
    name: 'as-old-as-its-sources',
    buildStart() {
      begunAt = new Date();
    },
    writeBundle({ dir = '.' }, bundle) {
      for (const name of ['main.js', 'hub.js', 'mcp.js'].filter((one) => one in bundle))
        utimesSync(join(dir, name), begunAt, begunAt);
    },
  };
}

/**
 * As it is written, but for comments, and in ASCII: of a file with one other letter V8 keeps two bytes for each, and
 * Node reads it letter by letter.
 */
const slim = {
  minify: {
    ...{ compress: false, mangle: false },
    codegen: { removeWhitespace: false, asciiOnly: true },
  },
  comments: false,
} as const;

export default defineConfig({
  publicDir: false,
  plugins: [ownUrl(), builtinsByName(), sourcesList(), asOldAsItsSources()],
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: 'dist/program',
    emptyOutDir: true,
    target: 'node24',
    minify: false,
    license: { fileName: 'LICENSES.md' },
    rolldownOptions: {
      input: { main: 'src/cli/main.ts' },
      external: optional,
      // Files are cut by what loads them, not by how they are imported; said to who installs it, it reads as a fault.
      checks: { ineffectiveDynamicImport: false },
      output: [
        {
          ...slim,
          entryFileNames: '[name].js',
          chunkFileNames: '[name]-[hash].js',
          codeSplitting: {
            groups: [
              { name: 'command', test: EVERY_COMMAND, priority: 1 },
              { name: inBus, debugName: 'bus' },
            ],
          },
        },
        {
          ...slim,
          entryFileNames: ({ name }) => (name === 'main' ? 'hub.js' : 'hub-[name].js'),
          chunkFileNames: 'hub-[name]-[hash].js',
          codeSplitting: { groups: [{ name: inHub, debugName: 'hub' }] },
        },
        {
          ...slim,
          entryFileNames: ({ name }) => (name === 'main' ? 'mcp.js' : 'bridge-[name].js'),
          chunkFileNames: 'bridge-[name]-[hash].js',
          codeSplitting: { groups: [{ name: inBridge, debugName: 'bridge' }] },
          plugins: [
            without(new Set([...COMMANDS.values()].filter((one) => one !== COMMANDS.get('mcp')))),
          ],
        },
      ],
    },
  },
});
