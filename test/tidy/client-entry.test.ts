/**
 * The client runs in a browser: what its entry pulls in has nothing of Node, as source and as built.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { walkImports } from './imports.ts';
import { ROOT } from './repository.ts';

const NODE = new Set([...builtinModules, 'ws', 'hono', 'commander', 'yaml']);
const isOfNode = (name: string): boolean => name.startsWith('node:') || NODE.has(name);

test('the walker sees value imports, and looks through types', () => {
  const dir = mkdtempSync(join(tmpdir(), 'synod-imports-'));
  try {
    writeFileSync(
      join(dir, 'a.ts'),
      `import type { X } from 'only-a-type';\nimport { b } from './b.ts';\n// import 'said';\nexport const a: X = b;\n`,
    );
    writeFileSync(
      join(dir, 'b.ts'),
      `import 'node:fs';\nexport { w } from 'ws';\nexport const b = () => import('late');\n`,
    );
    expect(walkImports(join(dir, 'a.ts')).packages).toEqual(['late', 'node:fs', 'ws']);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('the client entry pulls in nothing of Node', () => {
  const pulled = walkImports(join(ROOT, 'src/client/index.ts'));
  expect(pulled.files.length).toBeGreaterThan(5);
  expect(pulled.packages.filter(isOfNode)).toEqual([]);
  // What a page downloads: a new package here is a decision, not an accident.
  expect(pulled.packages.filter((name) => name !== 'zod')).toEqual([]);
});

const built = join(ROOT, 'dist/client/index.js');
test.runIf(existsSync(built))('nor does the built one', () => {
  const pulled = walkImports(built);
  expect(pulled.files.length).toBeGreaterThan(5);
  expect(pulled.packages.filter(isOfNode)).toEqual([]);
});
