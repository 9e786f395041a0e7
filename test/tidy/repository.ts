/**
 * The repository as its own tests see it: its files, by path from the root.
 *
 * It walks the disk and asks no git, so that a copy without history is tested too.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));

/** Made by tools, or not ours: nobody answers for what is in there. */
const SKIPPED_DIRECTORIES = new Set(['node_modules', 'dist', 'coverage', '.git', '.synod']);

/** Paths of all files below `folder` that end so, sorted, with `/` between folders. */
export function listFiles(folder: string, ending = ''): string[] {
  const found: string[] = [];
  const walk = (path: string): void => {
    for (const entry of readdirSync(join(ROOT, path), { withFileTypes: true })) {
      const below = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!SKIPPED_DIRECTORIES.has(entry.name)) walk(below);
      } else if (entry.isFile() && entry.name.endsWith(ending)) found.push(below);
    }
  };
  walk(folder);
  return found.sort();
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The cells of every row of a Markdown table that has this many columns, header and rule left out. */
export function tableRows(markdown: string, columns: number): string[][] {
  const rows: string[][] = [];
  for (const line of markdown.split('\n')) {
    if (!line.startsWith('| ')) continue;
    const cells = line.split('|').slice(1, -1);
    if (cells.length === columns) rows.push(cells.map((cell) => cell.trim()));
  }
  return rows;
}
