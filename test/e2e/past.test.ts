/**
 * Looking back: what the hub answered while a story ran is written down, and asked again by record.at
 * after restarts, snapshots and a compaction. Then the moments that are none, and what cannot be asked.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compactSpace } from '../../src/server/run/compact.ts';
import { operationList } from '../../src/wire/operations/table.ts';
import { type Json, openRunningHub, type RunningHub } from './running-hub.ts';

let dir: string;
let hub: RunningHub;
/** What was said, and when. */
interface Said {
  readonly position: number;
  readonly operation: string;
  readonly input: object;
  readonly answer: Json;
}
const said: Said[] = [];
let first = '';
let endOfStory = 0;

const QUESTIONS: readonly (readonly [string, () => object])[] = [
  ['plan.board', () => ({})],
  ['plan.notes', () => ({})],
  ['claims.list', () => ({})],
  ['docket.list', () => ({})],
  ['gates.list', () => ({ state: 'all' })],
  ['channels.list_channels', () => ({})],
  ['channels.list_agents', () => ({})],
  ['channels.replay', () => ({ channel: 'news', since: 0, limit: 50 })],
  ['receipts.get', () => ({ message_id: first })],
  ['receipts.waits', () => ({})],
  ['group.list', () => ({})],
  ['offers.list', () => ({})],
  ['cards.manifest', () => ({})],
  ['findings.list', () => ({})],
  ['held.list', () => ({})],
  ['tokens.list', () => ({})],
  ['inbox.peek', () => ({})],
  ['presence.list', () => ({})],
];

const STORY: readonly (() => Promise<unknown>)[] = [
  async () => {
    first = (await hub.ask('ada', 'send', { channel: 'news', body: { text: 'one' } })).message_id;
  },
  () => hub.ask('bob', 'subscribe', { pattern: 'news' }),
  () => hub.ask('ada', 'plan_declare', { task_id: 'parse', title: 'Parse it' }),
  () => hub.ask('ada', 'plan_declare', { task_id: 'ship', title: 'Ship', depends_on: ['parse'] }),
  () => hub.ask('bob', 'claims_take', { task_id: 'parse', note: 'mine' }),
  () => hub.ask('ada', 'send', { channel: 'news', body: { text: 'two' }, reply_to: first }),
  () => hub.ask('bob', 'recv', {}),
  () => hub.ask('bob', 'ack', { message_id: first, status: 'done' }).catch(() => {}),
  () => hub.ask('bob', 'plan_progress', { task_id: 'parse', text: 'half' }),
  () => hub.ask('bob', 'docket_raise', { text: 'keep the old shape?' }),
  () => hub.ask('ada', 'group_create', { group_id: 'council' }),
  () => hub.ask('bob', 'gates_ask', { action: 'push', subject: 'main', deadline: 3600 }),
  () => hub.ask('ada', 'offers_make', { kind: 'gpu', name: 'big', ttl_seconds: 3600 }),
  () => hub.ask('bob', 'claims_release', { task_id: 'parse', evidence: 'done' }),
  () => hub.ask('ada', 'plan_update', { task_id: 'parse', status: 'done' }),
];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'synod-past-'));
  hub = await openRunningHub({ dir });
  await hub.admin('status');
  for (const [at, step] of STORY.entries()) {
    await step();
    await writeDown();
    // Snapshots lie in between, and the log is read by another program than wrote it.
    if (at % 5 === 4) await reopen();
  }
  endOfStory = await length();
  await hub.close();
  const url = `sqlite://${join(dir, 'spaces', 'default.sqlite')}`;
  const drop = { olderThanMs: 0, isDryRun: false, by: 'owner', at: Date.now() + 1 };
  expect((await compactSpace(url, drop)).dropped).toBeGreaterThan(0);
  hub = await openRunningHub({ dir });
});
afterAll(async () => {
  await hub.close();
  await rm(dir, { recursive: true, force: true });
});

async function reopen(): Promise<void> {
  await hub.close();
  hub = await openRunningHub({ dir });
}

async function length(): Promise<number> {
  return (await hub.admin('status')).entries;
}

async function writeDown(): Promise<void> {
  for (;;) {
    const position = await length();
    const answers: Said[] = [];
    for (const [operation, input] of QUESTIONS) {
      const answer = await hub.admin(nameOf(operation), input());
      answers.push({ position, operation, input: input(), answer });
    }
    // What became due in between would be in one answer and not in another.
    if ((await length()) === position) return void said.push(...answers);
  }
}

function nameOf(id: string): string {
  return operationList.find((one) => one.id === id)?.name ?? id;
}

const at = (position: number, operation: string, input: object = {}): Promise<Json> =>
  hub.admin('record_at', { position, operation, input });

async function refusal(input: object): Promise<Json> {
  const { status, body } = await hub.post('record_at', input, {
    authorization: `Bearer ${hub.owner}`,
  });
  expect(status).not.toBe(200);
  return body.detail;
}

/** What only memory knew then is not on the record: connections, calls, what hooks told. */
function onRecord(operation: string, answer: Json): Json {
  if (operation === 'presence.list') {
    return answer.agents
      .map(({ agent_id, roles, claims, owed }: Json) => ({ agent_id, roles, claims, owed }))
      .filter(({ agent_id }: Json) => agent_id !== 'owner');
  }
  // Bodies that a compaction dropped are gone, also from the past.
  if (operation !== 'channels.replay') return answer;
  const messages = answer.messages.map(({ body: _, dropped: __, ...rest }: Json) => rest);
  return { ...answer, messages };
}

test('[PA1] the past is what the hub said then, over restarts, snapshots and a compaction', async () => {
  expect(new Set(said.map(({ position }) => position)).size).toBeGreaterThan(10);
  // Backwards all the way, and then forwards in strides, as somebody drags.
  const strides = said.filter((_, i) => i % 5 === 0);
  for (const { position, operation, input, answer } of [...said].reverse().concat(strides)) {
    const then = await at(position, operation, input);
    expect(then).toMatchObject({ position, operation });
    const shown = onRecord(operation, then.answer);
    expect([position, operation, shown]).toEqual([
      position,
      operation,
      onRecord(operation, answer),
    ]);
  }
});

test('[PA1] looking back stores nothing', async () => {
  const before = await hub.mark();
  await at(3, 'plan.board');
  await hub.admin('record_span', { buckets: 10 });
  expect(await hub.mark()).toBe(before);
});

test('[PA2] a moment is a position or a time, from before the first entry until now', async () => {
  const now = await length();
  const nothing = await at(0, 'plan.board');
  expect(nothing).toMatchObject({ position: 0, at: null, answer: { tasks: [] } });
  expect((await at(now, 'plan.board')).position).toBe(now);
  expect((await hub.admin('record_at', { operation: 'plan.board' })).position).toBe(now);
  const byTime = (time: number): Promise<Json> =>
    hub.admin('record_at', { time, operation: 'plan.board' });
  expect(await byTime(1)).toMatchObject({ position: 0, at: null });
  expect((await byTime(Date.now() / 1000 + 9e6)).position).toBe(now);
  const middle = await at(Math.floor(endOfStory / 2), 'plan.board');
  const again = await byTime(middle.at);
  expect(again.at).toBe(middle.at);
  expect(again.position).toBeGreaterThanOrEqual(middle.position);
});

test('[PA2] what is no moment is refused by its field, and a position beyond the log by its code', async () => {
  const operation = 'plan.board';
  const far = await refusal({ position: 1e9, operation });
  expect(far).toMatchObject({ reason: 'record.position', position: 1e9, length: await length() });
  for (const bad of [{ position: -1 }, { position: 1.5 }, { position: '3' }, { time: -1 }]) {
    const refused = await refusal({ ...bad, operation });
    expect(refused.reason).toBe('input.invalid');
    expect(refused.violations[0].field).toBe(Object.keys(bad)[0]);
  }
  const both = await refusal({ position: 1, time: 1, operation });
  expect(both).toMatchObject({ reason: 'input.invalid', violations: [{ field: 'time' }] });
});

test('[PA3] what does not only read the log cannot be asked of the past', async () => {
  for (const operation of [
    'channels.send',
    'claims.check',
    'hub.status',
    'hub.vitals',
    'record.at',
    'nothing',
  ]) {
    expect([operation, (await refusal({ position: 2, operation })).reason]).toEqual([
      operation,
      'record.operation',
    ]);
  }
  const placed = { position: 2, operation: 'claims.list', input: { worktree: '/' } };
  expect((await refusal(placed)).reason).toBe('record.operation');
  const wrong = { position: 2, operation: 'plan.board', input: { limit: 0 } };
  expect((await refusal(wrong)).violations[0].field).toBe('limit');
});

test('[PA3] every operation that reads can be asked of the past, or says that it cannot', async () => {
  for (const { id, hints } of operationList) {
    const { body } = await hub.post(
      'record_at',
      { position: endOfStory, operation: id },
      { authorization: `Bearer ${hub.owner}` },
    );
    expect([id, body.detail?.reason]).not.toEqual([id, 'internal']);
    if (!hints.readOnlyHint) expect([id, body.detail?.reason]).toEqual([id, 'record.operation']);
  }
});

test('[PA6] the log in slices of time: every entry is in one, and each ends at a position', async () => {
  const span = await hub.admin('record_span', { buckets: 7 });
  const now = await length();
  expect(span.length).toBe(now);
  expect(span.entries).toHaveLength(7);
  expect(span.entries.reduce((a: number, b: number) => a + b)).toBe(now);
  expect(span.positions.at(-1)).toBe(now);
  expect(span.from).toBe(span.first);
  const rest = await hub.admin('record_span', { buckets: 2, from: span.last + 1 });
  expect(rest).toMatchObject({ entries: [0, 0], positions: [now, now] });
  expect((await at(span.positions[3], 'plan.board')).position).toBe(span.positions[3]);
});
