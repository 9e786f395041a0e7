/**
 * What a module really pulls in: the value imports that are left once types are stripped,
 * followed from file to file. Packages are named and not entered.
 */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, resolve } from 'node:path';

export interface Pulled {
  readonly files: readonly string[];
  readonly packages: readonly string[];
}

const IMPORTS = /\b(?:import|export)\b(?:[\w\s{},*$]+?\bfrom)?\s*['"]([^'"]+)['"]/g;
const LATER = /\bimport\(\s*['"]([^'"]+)['"]/g;

export function walkImports(entry: string): Pulled {
  const files = new Set<string>();
  const packages = new Set<string>();
  const walk = (path: string): void => {
    if (files.has(path)) return;
    files.add(path);
    const text = readFileSync(path, 'utf8');
    const code = withoutComments(path.endsWith('.ts') ? stripTypeScriptTypes(text) : text);
    for (const pattern of [IMPORTS, LATER]) {
      for (const [, target = ''] of code.matchAll(pattern)) {
        if (target.startsWith('.')) walk(resolve(dirname(path), target));
        else packages.add(target);
      }
    }
  };
  walk(entry);
  return { files: [...files].sort(), packages: [...packages].sort() };
}

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}
