/**
 * The files of the page, as Vite built them. They are read once and served from memory: a path that is
 * asked for is only looked up, so that none leads out of the folder. A page that is built again is read
 * again when its `index.html` is next asked for.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const INDEX = '/index.html';
/** What is smaller gains nothing. */
const GZIP_BYTES_MIN = 1_024;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
};
const GZIPPED = /^text\/|javascript|svg|json/;

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Null where it would be no smaller. */
  readonly gzipped: Buffer | null;
}

export interface PageFiles {
  /** By the path of a URL; null when there is none, and for everything while nothing is built. */
  find(path: string): Promise<PageFile | null>;
}

export function createPageFiles(dir: string): PageFiles {
  let read: { readonly builtAt: number; readonly files: Promise<Map<string, PageFile>> } | null =
    null;

  return {
    async find(path) {
      const wanted = path === '/' ? INDEX : path;
      if (read === null || wanted === INDEX) {
        const built = await stat(join(dir, INDEX)).catch(() => null);
        if (built === null) return null;
        if (read?.builtAt !== built.mtimeMs) {
          read = { builtAt: built.mtimeMs, files: readAll(dir) };
          // A build that is under way is looked at again with the next request.
          read.files.catch(() => {
            read = null;
          });
        }
      }
      return (await read.files).get(wanted) ?? null;
    },
  };
}

async function readAll(dir: string): Promise<Map<string, PageFile>> {
  const files = new Map<string, PageFile>();
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path);
    const isSmaller = GZIPPED.test(type) && bytes.length >= GZIP_BYTES_MIN;
    const gzipped = isSmaller ? await promisify(gzip)(bytes) : null;
    files.set(`/${relative(dir, path).split(sep).join('/')}`, { type, bytes, gzipped });
  }
  return files;
}
