/** Context at both doors: compare-and-set, snapshots, comparison, waiting. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';

describe.each(DOORS)('context over %s', (name) => {
  let hub: RunningHub;
  let door: Door;

  beforeAll(async () => {
    hub = await openRunningHub();
    door = createDoor(hub, name);
  });
  afterAll(async () => {
    await door.close();
    await hub.close();
  });

  const set = (agent: string | null, ns: string, key: string, value: unknown, more = {}) =>
    door.ask(agent, 'context.set', { ns, key, value, ...more });
  const get = (agent: string | null, ns: string, key: string, more = {}) =>
    door.ask(agent, 'context.get', { ns, key, ...more });

  test('[CX1] a write from a version that is not the newest is refused with the one that is', async () => {
    const { version } = await set('ada', 'cas', 'goal', { text: 'ship' }, { if_version: 0 });
    const next = await set('bob', 'cas', 'goal', 'later', { if_version: version });
    const late = { ns: 'cas', key: 'goal', value: 'no', if_version: version };
    const { detail } = await door.refusal('ada', 'context.set', late);
    expect(detail).toMatchObject({ reason: 'context.version', version: next.version, by: 'bob' });
    const gone = { ns: 'cas', key: 'goal', if_version: version };
    expect((await door.refusal('ada', 'context.delete', gone)).detail.version).toBe(next.version);
    expect(await get('eve', 'cas', 'goal')).toMatchObject({ value: 'later', by: 'bob' });
  });

  test('[CX1] of many writes from one version exactly one is done', async () => {
    const { version } = await set('ada', 'race', 'n', 0);
    const writes = Array.from({ length: 20 }, (_, n) =>
      set(`w${n}`, 'race', 'n', n, { if_version: version }).then(
        () => 1,
        () => 0,
      ),
    );
    const done = await Promise.all(writes);
    expect(done.reduce<number>((sum, one) => sum + one, 0)).toBe(1);
  });

  test('[CX4] any JSON under any name comes back as it was', async () => {
    const names = [
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'a/b:c.d',
      'länge',
      '🙂',
    ];
    const values = [
      ...[null, false, 0, -1.5e-7, '', 'a\u0000b\u202e', [], {}, [[[]]]],
      JSON.parse('{"__proto__": {"x": 1}, "constructor": [1], "a": {"__proto__": null}}'),
      'x'.repeat(200_000),
    ];
    for (const [i, value] of values.entries()) {
      const key = names[i % names.length] as string;
      await set('ada', 'any', key, value);
      const found = await get('ada', 'any', key);
      expect(JSON.stringify(found.value)).toBe(JSON.stringify(value));
    }
    const { entries } = await door.ask('ada', 'context.list', { ns: 'any', values: true });
    expect(entries.map(({ key }: Json) => key)).toEqual([...names].sort());
    expect(({} as Json).x).toBeUndefined();
    expect(await get('ada', 'any', 'valueOf')).toMatchObject({ version: 0, value: null });
  });

  test('[CX4] what is no JSON, too deep or too large is refused by field', async () => {
    const deep = JSON.parse(`${'['.repeat(66)}${']'.repeat(66)}`);
    for (const value of [undefined, deep, 'x'.repeat(262_143)]) {
      const { detail } = await door.refusal('ada', 'context.set', { ns: 'bad', key: 'k', value });
      expect(detail.violations).toMatchObject([{ field: 'value' }]);
    }
  });

  test('[CX5] a snapshot shows what was there, whatever is set, deleted or lapses later', async () => {
    await set('ada', 'snap', 'a', 1);
    await set('ada', 'snap', 'b', 2, { ttl: 3 });
    const { snapshot, keys } = await door.ask('bob', 'context.snapshot', { ns: 'snap' });
    expect(keys).toBe(2);
    const before = await door.ask('bob', 'context.list', {
      ns: 'snap',
      at: snapshot,
      values: true,
    });
    await set('bob', 'snap', 'a', 'other');
    await set('bob', 'snap', 'c', 3);
    await door.ask('bob', 'context.delete', { ns: 'snap', key: 'a' });
    const since = { ns: 'snap', since: snapshot, prefix: 'b', wait_ms: 60_000 };
    const { changes } = await door.ask('bob', 'context.watch', since);
    expect(changes).toMatchObject([{ key: 'b', change: 'removed' }]);
    const after = await door.ask('bob', 'context.list', { ns: 'snap', at: snapshot, values: true });
    expect(after).toEqual(before);
    expect(await get('bob', 'snap', 'a', { at: snapshot })).toMatchObject({ value: 1 });
    expect(await get('bob', 'snap', 'b', { at: snapshot })).toMatchObject({ value: 2 });
    expect(await get('bob', 'snap', 'c', { at: snapshot })).toMatchObject({ version: 0 });
    expect(await get('bob', 'snap', 'b')).toMatchObject({ version: 0 });
    const beyond = await door.refusal('bob', 'context.get', { ns: 'snap', key: 'a', at: 1e9 });
    expect(beyond.detail.reason).toBe('record.position');
  });

  test('[CX8] a comparison tells what was added, changed and removed', async () => {
    for (const key of ['keep', 'change', 'remove']) await set('ada', 'diff', key, key);
    const { snapshot: from } = await door.ask('ada', 'context.snapshot', {});
    await set('bob', 'diff', 'change', 'new');
    await set('bob', 'diff', 'add', 1);
    await set('bob', 'diff', 'passing', 1);
    await door.ask('bob', 'context.delete', { ns: 'diff', prefix: 'pass' });
    await door.ask('bob', 'context.delete', { ns: 'diff', key: 'remove' });
    const { snapshot: to } = await door.ask('ada', 'context.snapshot', {});
    await set('bob', 'diff', 'keep', 'after');
    const asked = { ns: 'diff', from, to, values: true };
    const { changes, next } = await door.ask('ada', 'context.diff', asked);
    expect(changes).toMatchObject([
      { key: 'add', change: 'added', before: 0, value: 1, by: 'bob' },
      { key: 'change', change: 'changed', value: 'new', before_value: 'change' },
      { key: 'remove', change: 'removed', after: 0, before_value: 'remove' },
    ]);
    expect(next).toBeNull();
    const page = await door.ask('ada', 'context.diff', { ns: 'diff', from, to, limit: 2 });
    expect(page.next).toBe('change');
    const rest = await door.ask('ada', 'context.diff', { ns: 'diff', from, to, after: 'change' });
    expect(rest.changes.map(({ key }: Json) => key)).toEqual(['remove']);
    await door.refusal('ada', 'context.diff', { ns: 'diff', from: to, to: from });
  });

  test('[CX8] a wait ends with the first change that is meant, and with none when its time is up', async () => {
    const { snapshot } = await door.ask('ada', 'context.snapshot', {});
    const wait = { ns: 'watch', since: snapshot, prefix: 'job/', values: true };
    const quiet = await door.ask('ada', 'context.watch', { ...wait, wait_ms: 1 });
    expect(quiet.changes).toEqual([]);
    const coming = door.ask('ada', 'context.watch', { ...wait, wait_ms: 60_000 });
    await set('bob', 'watch', 'other', 1);
    await set('bob', 'elsewhere', 'job/1', 1);
    await set('bob', 'watch', 'job/1', 'done');
    const { changes, snapshot: now } = await coming;
    expect(changes).toMatchObject([{ key: 'job/1', change: 'added', value: 'done' }]);
    expect(now).toBeGreaterThan(snapshot);
    // What came before the wait is told at once.
    const again = await door.ask('ada', 'context.watch', { ...wait, wait_ms: 60_000 });
    expect(again.changes).toHaveLength(1);
  });

  test('[CX6] what has a time to live is gone when it is over', async () => {
    const { expires_at, version } = await set('ada', 'ttl', 'k', 1, { ttl: 2 });
    const { set_at } = await get('ada', 'ttl', 'k');
    expect(expires_at - set_at).toBeCloseTo(2, 3);
    const wait = { ns: 'ttl', since: version, wait_ms: 20_000 };
    expect((await door.ask('ada', 'context.watch', wait)).changes).toMatchObject([
      { key: 'k', change: 'removed', by: '__server__' },
    ]);
    expect((await door.ask('ada', 'context.list', { ns: 'ttl' })).entries).toEqual([]);
  });

  test('[CX2] names of namespaces are listed to those who may read them', async () => {
    await set('ada', 'private/ada', 'k', 1);
    await set('ada', 'by/ada', 'k', 1);
    const listed = async (agent: string | null) =>
      (await door.ask(agent, 'context.list', { prefix: '' })).namespaces.map(({ ns }: Json) => ns);
    expect(await listed('ada')).toContain('private/ada');
    expect(await listed(null)).toContain('private/ada');
    expect(await listed('bob')).not.toContain('private/ada');
    expect(await listed('bob')).toContain('by/ada');
    expect(await get('bob', 'by/ada', 'k')).toMatchObject({ value: 1 });
    await door.refusal('bob', 'context.get', { ns: 'private/ada', key: 'k' }, 'recorded');
    await door.refusal('bob', 'context.watch', { ns: 'private/ada', since: 0 }, 'recorded');
  });
});

describe('the past of a namespace', () => {
  let hub: RunningHub;
  beforeAll(async () => {
    hub = await openRunningHub();
  });
  afterAll(() => hub.close());

  const KEYS = ['a', 'b', 'c', '__proto__'];
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ key: fc.constantFrom(...KEYS), value: fc.jsonValue() }) },
    fc.record({ key: fc.constantFrom(...KEYS) }),
    fc.constant('snapshot' as const),
  );

  test('[CX5] [CX8] told by any history, each snapshot and each difference are those of a plain copy', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const ns = `run${run++}`;
        const ask = (id: string, input: object): Promise<Json> =>
          hub.ask('ada', id, { ns, ...input });
        const model = new Map<string, string>();
        const copies: { at: number; held: Map<string, string> }[] = [];
        const look = async (): Promise<void> => {
          const { snapshot } = await ask('context.snapshot', {});
          copies.push({ at: snapshot, held: new Map(model) });
        };
        await look();
        for (const one of steps) {
          if (one === 'snapshot') await look();
          else if ('value' in one) {
            await ask('context.set', one);
            model.set(one.key, JSON.stringify(one.value));
          } else {
            await ask('context.delete', one);
            model.delete(one.key);
          }
        }
        await look();
        for (const { at, held } of copies) {
          const { entries } = await ask('context.list', { at, values: true });
          const found = entries.map(({ key, value }: Json) => [key, JSON.stringify(value)]);
          expect(new Map(found)).toEqual(held);
        }
        const [first, last] = [copies[0], copies.at(-1)];
        for (const from of copies) {
          for (const to of [last, from, first]) {
            if (to === undefined || to.at < from.at) continue;
            const { changes } = await ask('context.diff', {
              from: from.at,
              to: to.at,
              values: true,
            });
            const told = new Map(from.held);
            for (const { key, change, value, before_value } of changes as Json[]) {
              expect(JSON.stringify(before_value)).toBe(told.get(key));
              if (change === 'removed') told.delete(key);
              else told.set(key, JSON.stringify(value));
            }
            expect(told).toEqual(to.held);
          }
        }
      }),
      { numRuns: 15 },
    );
  });

  test('[CX5] a snapshot that lies too far back to be walked to is looked up in the log', async () => {
    await hub.ask('ada', 'context.set', { ns: 'far', key: 'first', value: 'kept' });
    await hub.ask('ada', 'context.set', { ns: 'far', key: 'gone', value: 'too' });
    const { snapshot } = await hub.ask('ada', 'context.snapshot', {});
    await hub.ask('ada', 'context.delete', { ns: 'far', key: 'gone' });
    // Ten values of a quarter of a megabyte, often enough that a walk is given up.
    const big = 'x'.repeat(262_000);
    for (let n = 0; n < 135; n++)
      await hub.ask('ada', 'context.set', { ns: 'far', key: 'b', value: big });
    const then = await hub.ask('ada', 'context.list', { ns: 'far', at: snapshot, values: true });
    expect(then.entries.map(({ key, value }: Json) => [key, value])).toEqual([
      ['first', 'kept'],
      ['gone', 'too'],
    ]);
    expect(
      await hub.ask('ada', 'context.get', { ns: 'far', key: 'gone', at: snapshot }),
    ).toMatchObject({
      value: 'too',
    });
    const { status, body } = await hub.post(
      'context.diff',
      { ns: 'far', from: snapshot },
      hub.as('ada'),
    );
    expect([status, body.detail.reason]).toEqual([409, 'context.too-far']);
  });
});
