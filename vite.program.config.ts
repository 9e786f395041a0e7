/**
 * The program, bundled into dist/program for the package: a command or a hub then loads a few files where
 * it would load hundreds, and nothing of its packages that it does not use. A bundled module goes on
 * believing that it lies where `tsc` puts it, so that what it finds beside itself (threads, the page, the
 * executable) is found there. What is loaded by name at run time, and what is optional, stays outside.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
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

export default defineConfig({
  publicDir: false,
  plugins: [ownUrl()],
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
