/** Children of guards, rails before deeds, and what is told to the record. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { GuardDecision } from './decision.ts';
import { createGuard } from './guard.ts';
import type { Rail } from './rails.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'synod-guard-all-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));
mkdirSync(join(base, 'a/b/c'), { recursive: true });
mkdirSync(join(base, 'd'));
writeFileSync(join(base, 'a/file'), 'x');

describe('[PO11] a child', () => {
  test('[PO11] has at most what its parent has, whatever it asks for', async () => {
    const parent = createGuard({ read: ['a/b'], write: ['a/b/c'], env: ['PATH'] }, { cwd: base });
    const child = parent.child({ read: ['/'], write: ['/'], delete: ['/'], execute: [] });
    const grandchild = child.child({ read: ['a/b/c', 'd'] });
    const asked = async (guard: typeof parent, path: string) =>
      (await guard.check({ kind: 'read', path })).allowed;
    expect(await asked(child, 'a/b/x')).toBe(true);
    expect(await asked(child, 'a/file')).toBe(false);
    expect(await asked(grandchild, 'a/b/c/x')).toBe(true);
    expect(await asked(grandchild, 'a/b/x')).toBe(false);
    expect(await asked(grandchild, 'd/x')).toBe(false);
    expect((await child.check({ kind: 'delete', path: 'a/b/c/x' })).allowed).toBe(false);
    await expect(child.writeFile('a/b/x', 'no')).rejects.toMatchObject({ code: 'guard.no-rule' });
  });

  test('[PO11] of every policy, for every path, kind and address', async () => {
    const path = fc.constantFrom('.', 'a', 'a/b', 'a/b/c', 'd', 'd/e');
    const rule = fc.record({
      scheme: fc.constantFrom('https' as const, 'http' as const),
      host: fc.constantFrom('*', '*.x.org', 'a.x.org', 'b.org'),
      methods: fc.subarray(['GET', 'POST', '*']),
    });
    const lists = { read: fc.array(path), write: fc.array(path), delete: fc.array(path) };
    const policy = fc.record({ ...lists, except: fc.array(path), connect: fc.array(rule) });
    const request = fc.oneof(
      fc.record({ kind: fc.constantFrom('read', 'write', 'delete' as const), path }),
      fc.record({
        kind: fc.constant('connect' as const),
        url: fc.constantFrom('https://a.x.org', 'http://b.org', 'https://x.org'),
        method: fc.constantFrom('GET', 'POST'),
      }),
    );
    await fc.assert(
      fc.asyncProperty(policy, policy, request, async (mine, theirs, asked) => {
        const options = { cwd: base, lookup: async () => ['8.8.8.8'] };
        const [parent, alone] = [createGuard(mine, options), createGuard(theirs, options)];
        const child = await parent.child(theirs).check(asked);
        const both = [await parent.check(asked), await alone.check(asked)];
        expect(child.allowed).toBe(both.every(({ allowed }) => allowed));
      }),
      { numRuns: 100 },
    );
  });

  test('[PO11] keeps the rails of its parent', async () => {
    const rail: Rail = { name: 'never', on: 'input', check: () => 'no' };
    const child = createGuard({ write: ['d'] }, { cwd: base, rails: [rail] }).child(
      { write: ['d'] },
      { rails: [] },
    );
    await expect(child.writeFile('d/kept', 'x')).rejects.toMatchObject({ code: 'guard.rail' });
    expect(existsSync(join(base, 'd/kept'))).toBe(false);
  });
});

describe('[PO9] rails', () => {
  const rails = (...list: Rail[]) => createGuard({ write: ['d'] }, { cwd: base, rails: list });
  const noSecrets: Rail = {
    ...{ name: 'no-secrets', on: 'input' },
    check: (value) => (String(value).includes('sk-') ? 'it holds a key' : null),
  };

  test('[PO9] a rail that says no: the file is not there, and the next one is', async () => {
    const guard = rails(noSecrets);
    await expect(guard.writeFile('d/leak', 'sk-123')).rejects.toMatchObject({
      code: 'guard.rail',
      message: expect.stringContaining('it holds a key'),
    });
    expect(existsSync(join(base, 'd/leak'))).toBe(false);
    await guard.writeFile('d/fine', 'nothing');
    expect(existsSync(join(base, 'd/fine'))).toBe(true);
  });

  test.each([
    ['throws', () => Promise.reject(new Error('broken'))],
    ['never answers', () => new Promise<null>(() => {})],
    ['answers nonsense', () => true as unknown as null],
  ])('[PO9] a rail that %s has tripped', async (_, check) => {
    const file = join(base, 'd/undone');
    const guard = rails({ name: 'bad', on: 'input', timeoutMs: 20, check });
    await expect(guard.pass('write', 'x', () => writeFileSync(file, 'x'))).rejects.toMatchObject({
      code: 'guard.rail',
    });
    expect(existsSync(file)).toBe(false);
  });

  test('[PO9] all rails of the input have answered before the deed begins', async () => {
    const order: string[] = [];
    const slow: Rail = {
      ...{ name: 'slow', on: 'input' },
      async check() {
        await new Promise((resolve) => setImmediate(resolve));
        order.push('rail');
        return null;
      },
    };
    const guard = rails(slow, { ...slow, on: 'output' });
    expect(await guard.pass('deed', 1, () => order.push('deed'))).toBe(2);
    expect(order).toEqual(['rail', 'deed', 'rail']);
  });

  test('[PO9] what comes out is kept back by a rail on the output', async () => {
    const guard = rails({ ...noSecrets, on: 'output' });
    await expect(guard.pass('ask', 'x', () => 'the key is sk-1')).rejects.toMatchObject({
      code: 'guard.rail',
    });
  });

  test('[PO9] a rail beside lets the deed begin, and keeps its outcome back', async () => {
    let done = 0;
    const guard = rails({ name: 'late', on: 'input', when: 'beside', check: async () => 'no' });
    await expect(guard.pass('deed', 1, () => ++done)).rejects.toMatchObject({ code: 'guard.rail' });
    expect(done).toBe(1);
  });
});

describe('[PO2] the record', () => {
  test('[PO2] is told of what was allowed and what was refused, with why', async () => {
    const told: GuardDecision[] = [];
    const guard = createGuard(
      { read: ['a'] },
      { cwd: base, name: 'builder', record: (decision) => void told.push(decision) },
    );
    await guard.readFile('a/file');
    await guard.readFile('d/x').catch(() => {});
    await guard.child({}, { name: 'helper' }).check({ kind: 'read', path: 'a/file' });
    expect(told).toMatchObject([
      { guard: 'builder', kind: 'read', what: join(base, 'a/file'), allowed: true, rule: 'read a' },
      { guard: 'builder', allowed: false, code: 'guard.no-rule', rule: null },
      { guard: 'helper', allowed: false },
    ]);
  });

  test('[PO2] a recorder that throws changes no decision', async () => {
    const record = (): void => {
      throw new Error('the disk is full');
    };
    const guard = createGuard({ read: ['a'] }, { cwd: base, record });
    expect(String(await guard.readFile('a/file'))).toBe('x');
    await expect(guard.readFile('d/x')).rejects.toMatchObject({ code: 'guard.no-rule' });
  });
});
