/**
 * The program, bundled into dist/program for the package: a command or a hub then loads a few files where
 * it would load hundreds, and nothing of its packages that it does not use. A bundled module goes on
 * believing that it lies where `tsc` puts it, so that what it finds beside itself (threads, the page, the
 * executable) is found there. What is loaded by name at run time, and what is optional, stays outside.
 */
import { readFileSync, utimesSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const SOURCES = fileURLToPath(new URL('src/', import.meta.url));
const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
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
  const statement = /^import (?:([\w$]+)|\* as ([\w$]+)|\{([^}]*)\}) from "((?:node:)?[\w/]+)";$/gm;
  const wholeByRequire = /__require\("(https|tls)"\)/g;
  const ask = (id: string) => `globalThis.process.getBuiltinModule("${id}")`;
  const askLater = (id: string) => `new Proxy({}, { get: (_, name) => ${ask(id)}[name] })`;
  return {
    name: 'builtins-by-name',
    renderChunk(code) {
      const told = code.replace(statement, (line, one, all, names, id) => {
        if (!isBuiltin(id)) return line;
        if (names !== undefined) return `const {${names.replaceAll(' as ', ': ')}} = ${ask(id)};`;
        const isLater = /^(node:)?child_process$/.test(id);
        return `const ${one ?? all} = ${isLater ? askLater(id) : ask(id)};`;
      });
      return { code: told.replace(wholeByRequire, (_, id) => askLater(id)), map: null };
    },
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
    writeBundle({ dir = '.' }) {
      utimesSync(join(dir, 'main.js'), begunAt, begunAt);
    },
  };
}

export default defineConfig({
  publicDir: false,
  plugins: [ownUrl(), builtinsByName(), asOldAsItsSources()],
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
      output: { chunkFileNames: '[name]-[hash].js' },
    },
  },
});
