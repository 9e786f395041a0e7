/**
 * Goal: what must be told in more than one place cannot be forgotten in one of them.
 * Method: a copy of the law gets a new kind of event, of command and of memory-only event,
 * and a new field in every state a snapshot has a table for. The compiler must name each of
 * them in the file where its row is missing. It runs once.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listFiles, ROOT, readText } from '../tidy/repository.ts';
import { run } from '../tidy/walled-tree.ts';

const tree = mkdtempSync(join(tmpdir(), 'synod-forgetting-'));
afterAll(() => rmSync(tree, { recursive: true, force: true }));

/** Each state, where it is declared, and where the table of its fields is. */
const STATES: readonly (readonly [state: string, declared: string, table: string])[] = [
  ['World', 'law/state.ts', 'law/snapshot.ts'],
  ['Channel', 'law/state.ts', 'law/snapshot.ts'],
  ['Member', 'law/state.ts', 'law/snapshot.ts'],
  ['Agent', 'law/state.ts', 'law/snapshot.ts'],
  ['Presence', 'law/state.ts', 'law/snapshot.ts'],
  ['Group', 'law/state.ts', 'law/snapshot.ts'],
  ['ClaimBook', 'work/claim/claim-state.ts', 'work/claim/claim-snapshot.ts'],
  ['Claim', 'work/claim/claim-state.ts', 'work/claim/claim-snapshot.ts'],
  ['Wait', 'work/claim/claim-state.ts', 'work/claim/claim-snapshot.ts'],
  ['PlanBook', 'work/plan/plan.ts', 'work/plan/plan.ts'],
  ['TaskNode', 'work/plan/plan.ts', 'work/plan/plan.ts'],
  ['OfferBook', 'work/offer.ts', 'work/offer.ts'],
  ['CardBook', 'work/card.ts', 'work/card.ts'],
  ['FindingBook', 'work/finding.ts', 'work/finding.ts'],
  ['Managed', 'turns/turn-state.ts', 'turns/turn-snapshot.ts'],
  ['TurnBook', 'turns/turn-state.ts', 'turns/turn-snapshot.ts'],
  ['RailBook', 'turns/rails/rails.ts', 'turns/rails/rails.ts'],
  ['AgentRails', 'turns/rails/rails.ts', 'turns/rails/rails.ts'],
  ['ChainBook', 'turns/rails/chains.ts', 'turns/rails/rails.ts'],
  ['Diary', 'turns/rails/diary.ts', 'turns/rails/rails.ts'],
  ['TriggerBook', 'turns/rails/triggers.ts', 'turns/rails/rails.ts'],
  ['ContextBook', 'context/context-state.ts', 'context/context-state.ts'],
  ['Namespace', 'context/context-state.ts', 'context/context-state.ts'],
  ['ProcessBook', 'processes/process-state.ts', 'processes/process-state.ts'],
  ['SessionBook', 'sessions/session-state.ts', 'sessions/session-state.ts'],
  ['Session', 'sessions/session-state.ts', 'sessions/session-state.ts'],
  ['WorkflowBook', 'workflows/run-state.ts', 'workflows/run-snapshot.ts'],
  ['Run', 'workflows/run-state.ts', 'workflows/run-snapshot.ts'],
  ['GateBook', 'gates/gate-state.ts', 'gates/gate-state.ts'],
  ['Gate', 'gates/gate-state.ts', 'gates/gate-state.ts'],
  ['EndedGate', 'gates/gate-state.ts', 'gates/gate-state.ts'],
  ['Item', 'docket/docket-state.ts', 'docket/docket-state.ts'],
  ['DocketBook', 'docket/docket-state.ts', 'docket/docket-state.ts'],
];

/** Written as rows by hand, because there are 100,000 of them; snapshot-fields.test.ts tries each field. */
const BY_HAND: ReadonlySet<string> = new Set(['Run']);

/** Records that a snapshot stores as they are: what is planted there cannot be stored like that. */
const RECORDS: readonly (readonly [record: string, declared: string])[] = [
  ['SpaceSettings', 'law/state.ts'],
  ['ChannelSettings', 'law/state.ts'],
  ['PastMember', 'law/state.ts'],
  ['Held', 'law/state.ts'],
  ['Described', 'law/state.ts'],
  ['Fate', 'law/state.ts'],
  ['Token', 'law/state.ts'],
];

/** Each union, a new kind of it, and the files that must know every kind. */
const KINDS: readonly (readonly [union: string, type: string, ...files: string[]])[] = [
  ['DurableEvent', 'plant.stored', 'law/shape.ts', 'law/world.ts'],
  ['EphemeralEvent', 'plant.passing', 'law/world.ts'],
  ['Command', 'plant.ask', 'law/world.ts'],
];

type Change = readonly [path: string, change: (text: string) => string];

/** What tsc says of a copy of the law with these changes. */
function compile(name: string, changes: readonly Change[]): readonly string[] {
  const copy = join(tree, name);
  cpSync(join(ROOT, 'src/core'), join(copy, 'src/core'), {
    recursive: true,
    filter: (path) => !path.endsWith('.test.ts'),
  });
  for (const file of ['package.json', 'tsconfig.base.json']) {
    cpSync(join(ROOT, file), join(copy, file));
  }
  for (const [path, change] of changes) {
    const file = join(copy, 'src/core', path);
    const text = readFileSync(file, 'utf8');
    const planted = change(text);
    expect(planted, path).not.toBe(text);
    writeFileSync(file, planted);
  }
  return run(copy, 'tsc', [
    '-p',
    'src/core',
    '--noEmit',
    '--noErrorTruncation',
    '--pretty',
    'false',
  ]).split(/\n(?=src)/);
}

function withField(name: string, declared: string): Change {
  const head = new RegExp(`(export interface ${name}\\b[^{]*\\{)`);
  return [declared, (text) => text.replace(head, `$1\n  planted${name}: Map<string, number>;`)];
}

function withKind(union: string, type: string): Change {
  const head = new RegExp(`(export type ${union} =)\\s*\\|?`);
  const kind = `{ readonly type: '${type}'; readonly at: number }`;
  return ['law/world.ts', (text) => text.replace(head, `$1 ${kind} |`)];
}

/** Errors in one file of the law. */
function saidOf(said: readonly string[], path: string): readonly string[] {
  return said.filter((one) => one.startsWith(`src/core/${path}(`));
}

test('every table of fields is tried', () => {
  const tables = listFiles('src/core', '.ts')
    .filter((path) => !/fields\.ts|\.test\.ts$/.test(path))
    .flatMap((path) => [...readText(path).matchAll(/fieldsOf<(\w+)>\(\)\(/g)])
    .map(([, state]) => state);
  const states = STATES.map(([state]) => state).filter((state) => !BY_HAND.has(state));
  expect(tables.sort()).toEqual(states.sort());
});

describe('[L11] tsc names what is new and has no row:', () => {
  let said: readonly string[];
  beforeAll(() => {
    said = compile('rows', [
      ...STATES.map(([state, declared]) => withField(state, declared)),
      ...KINDS.map(([union, type]) => withKind(union, type)),
    ]);
  });

  test.each(STATES)('a field of %s (%s)', (state, _, table) => {
    expect(saidOf(said, table).join('\n')).toMatch(`Property 'planted${state}' is missing`);
  });

  test.each(KINDS)('a kind of %s, %s', (_, type, ...files) => {
    for (const file of files) expect(saidOf(said, file).join('\n')).toContain(type);
  });
});

describe('[L11] tsc refuses to store as it is what is no plain JSON:', () => {
  let lines: readonly string[];
  beforeAll(() => {
    const said = compile(
      'records',
      RECORDS.map(([record, declared]) => withField(record, declared)),
    );
    const table = readFileSync(join(ROOT, 'src/core/law/snapshot.ts'), 'utf8').split('\n');
    lines = saidOf(said, 'law/snapshot.ts').map((one) => {
      const number = Number(/\((\d+),/.exec(one)?.[1]);
      return `${table[number - 1]} ${one}`;
    });
  });

  test.each(RECORDS)('a map in %s (%s)', (record) => {
    expect(lines.filter((line) => new RegExp(`\\b${record}\\b`).test(line))).not.toEqual([]);
  });
});
