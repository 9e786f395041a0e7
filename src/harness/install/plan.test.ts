/** The plan alone, over files that exist only here: nothing is read, nothing is written. */
import fc from 'fast-check';
import { stringify } from 'smol-toml';
import { expect, test } from 'vitest';
import { VENDORS } from '../../wire/tool-names.ts';
import { wantedFiles } from './install.ts';
import { type Plan, type PlanInput, planVendor } from './plan.ts';
import { isProblem } from './problem.ts';
import { emptyRecord } from './record.ts';
import { DEFAULT_OPTIONS, type InstallOptions, type InstallSite } from './vendors/vendor.ts';

const site: InstallSite = {
  scope: 'project',
  home: '/home/ada',
  root: '/srv/app',
  synodHome: '/home/ada/.synod',
  env: {},
  exists: () => false,
};

type Files = ReadonlyMap<string, Buffer>;

function must(plan: ReturnType<typeof planVendor>): Plan {
  if (isProblem(plan)) throw new Error(plan.message);
  return plan;
}

function changed(files: Files, { changes }: Plan): Map<string, Buffer> {
  const next = new Map(files);
  for (const { path, before, after } of changes) {
    expect(next.get(path) ?? null).toEqual(before);
    if (after === null) next.delete(path);
    else next.set(path, after);
  }
  return next;
}

function planIn(
  files: Files,
  originals: Files,
  rest: Pick<PlanInput, 'vendor' | 'record' | 'wanted' | 'options'>,
): Plan {
  return must(
    planVendor({
      ...rest,
      present: {
        bytes: (path) => files.get(path) ?? null,
        original: (digest) => originals.get(digest) ?? null,
        missingFolders: () => [],
      },
    }),
  );
}

const json = fc
  .tuple(
    fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom('model', 'env', 'theme')),
      fc.jsonValue({ maxDepth: 2 }),
      { maxKeys: 4 },
    ),
    fc.record(
      {
        mcpServers: fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 1 })),
        hooks: fc.dictionary(
          fc.constantFrom('Stop', 'BeforeTool'),
          fc.array(fc.jsonValue({ maxDepth: 2 })),
        ),
        permissions: fc.record({ allow: fc.array(fc.string()) }, { requiredKeys: [] }),
        mcp: fc.dictionary(fc.constant('c'), fc.jsonValue({ maxDepth: 1 })),
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom(undefined, 1, 2, '\t'),
    fc.constantFrom('', '\uFEFF'),
    fc.constantFrom('', '\n', '\r\n'),
  )
  .map(([free, known, indent, bom, end]) => {
    const text = JSON.stringify({ ...free, ...known }, null, indent);
    return Buffer.from(bom + (end === '\r\n' ? text.replaceAll('\n', end) : text) + end);
  });

const toml = fc
  .dictionary(
    fc.constantFrom('a', 'b', 'projects'),
    fc.oneof(fc.string(), fc.dictionary(fc.string({ minLength: 1 }), fc.integer())),
  )
  .map((made) => Buffer.from(stringify(made)));

const markdown = fc.string({ unit: 'grapheme' }).map((text) => Buffer.from(text));

const options: fc.Arbitrary<InstallOptions> = fc.record({
  permissions: fc.boolean(),
  autoSubscribe: fc.boolean(),
  channels: fc.array(fc.string({ minLength: 1 }), { maxLength: 2 }),
  gates: fc.constantFrom(null, 5, 3_600),
});

test.each(VENDORS)(
  '[IN1] %s: for any files and options, uninstall gives back the very bytes',
  (vendor) => {
    const world = fc.record({
      json: fc.option(json),
      toml: fc.option(toml),
      markdown: fc.option(markdown),
    });
    fc.assert(
      fc.property(world, options, options, (made, first, second) => {
        const before = new Map<string, Buffer>();
        for (const { path, format } of wantedFiles(vendor, site, DEFAULT_OPTIONS)) {
          const bytes = format === 'own' ? null : made[format];
          if (bytes !== null) before.set(path, bytes);
        }
        let files: Map<string, Buffer> = new Map(before);
        let record = emptyRecord(site);
        let originals: Files = new Map();
        for (const chosen of [first, first, second]) {
          const wanted = wantedFiles(vendor, site, chosen);
          const plan = planIn(files, originals, { vendor, record, wanted, options: chosen });
          if (record.files.length > 0 && chosen === first) expect(plan.changes).toEqual([]);
          files = changed(files, plan);
          ({ record, originals } = plan);
        }
        const gone = planIn(files, originals, { vendor, record, wanted: [], options: null });
        expect([...changed(files, gone)].sort()).toEqual([...before].sort());
        expect(gone.record.files).toEqual([]);
      }),
      { numRuns: 150 },
    );
  },
);
