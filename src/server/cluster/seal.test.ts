/** What opens and what does not, and that nothing is heard twice. */
import { expect, test } from 'vitest';
import { createSeed, keyPairOfSeed } from './keys.ts';
import type { Registry, Server } from './registry.ts';
import { createReplays } from './replays.ts';
import { createSeals, type Dropped, markOf, type Opened, type Seals } from './seal.ts';
import type { Session } from './sessions.ts';

interface Party {
  readonly seals: Seals;
  readonly dropped: Dropped[];
}

function parties(...scopes: [name: string, spaces: readonly string[] | null][]) {
  const servers = new Map<string, Server>();
  const registry: Registry = {
    ...{ cluster: 'c', servers, invitations: new Map(), take: () => false },
  };
  const all = scopes.map(([name, spaces]): Party => {
    const key = keyPairOfSeed(createSeed());
    const dropped: Dropped[] = [];
    const seals = createSeals({ name, key, registry, onDropped: (why) => dropped.push(why) });
    servers.set(name, serverOf(name, key.id, spaces));
    return { seals, dropped };
  });
  return { servers, all: all as [Party, Party] };
}

function serverOf(name: string, publicKey: string, spaces: readonly string[] | null): Server {
  const key = readKey(publicKey);
  return {
    name,
    publicKey,
    key,
    spaces,
    tokenKey: null,
    joinedBy: null,
    joinedAt: 0,
    revoked: null,
  };
}

const { readPublicKey } = await import('./keys.ts');
function readKey(id: string) {
  const key = readPublicKey(id);
  if (key === null) throw new Error(id);
  return key;
}

const HELLO = Buffer.from('hello');
const ASK = { purpose: 'ask', space: 'blue', to: 'lease' } as const;

test('[JN3] it opens for its purpose, space, addressee and bytes alone', () => {
  const [{ seals: one }, two] = parties(['one', null], ['two', null]).all;
  const sealed = one.seal(ASK, HELLO);
  expect(two.seals.open(ASK, sealed)).toMatchObject({ from: 'one', bytes: HELLO });
  for (const other of [
    { ...ASK, purpose: 'whisper' as const },
    { ...ASK, space: 'red' },
    { ...ASK, to: 'another lease' },
    { ...ASK, to: '' },
  ])
    expect(two.seals.open(other, sealed)).toBeNull();
  for (let at = 0; at < sealed.byteLength; at += 3) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] as number) ^ 1;
    expect(two.seals.open(ASK, changed)).toBeNull();
  }
  for (let end = 0; end < sealed.byteLength; end += 5)
    expect(two.seals.open(ASK, sealed.subarray(0, end))).toBeNull();
  expect(new Set(two.dropped)).toEqual(
    new Set(['wrong signature', 'unsigned', 'unknown server'] satisfies Dropped[]),
  );
});

test('[JN3] an unknown server, one that was taken out and one of other spaces are not heard', () => {
  const { servers, all } = parties(['one', ['blue']], ['two', null]);
  const [{ seals: one }, two] = all;
  const red = { ...ASK, space: 'red' };
  expect(two.seals.open(red, one.seal(red, HELLO))).toBeNull();
  const known = servers.get('one') as Server;
  servers.set('one', { ...known, revoked: { by: 'two', at: 1 } });
  expect(two.seals.open(ASK, one.seal(ASK, HELLO))).toBeNull();
  servers.delete('one');
  expect(two.seals.open(ASK, one.seal(ASK, HELLO))).toBeNull();
  expect(two.dropped).toEqual(['server of other spaces', 'revoked server', 'unknown server']);
});

test('[JN3] an answer is to one question alone', () => {
  const [{ seals: one }, { seals: two }] = parties(['one', null], ['two', null]).all;
  const [first, second] = [one.seal(ASK, HELLO), one.seal(ASK, HELLO)];
  const asked = two.open(ASK, first);
  const answer = { purpose: 'answer', space: 'blue', to: asked?.mark as Uint8Array } as const;
  const sealed = two.seal(answer, HELLO);
  expect(one.open({ ...answer, to: markOf(first) }, sealed)).not.toBeNull();
  expect(one.open({ ...answer, to: markOf(second) }, sealed)).toBeNull();
});

/** As after a challenge of each by the other. */
function meet(one: Seals, two: Seals): Session {
  for (const [asks, answers] of [
    [one, two],
    [two, one],
  ] as const) {
    const hello = { purpose: 'hello', space: null, to: Buffer.alloc(32, 7) } as const;
    asks.meet(asks.open(hello, answers.seal(hello, answers.half)) as Opened);
  }
  return one.sessionWith({ from: two.name, incarnation: two.incarnation }) as Session;
}

test('[JN10] two that have met vouch with a key of theirs, for the same as a signature and to nobody else', () => {
  const { servers, all } = parties(['one', null], ['two', null], ['three', null]);
  const [{ seals: one }, two, three] = all as readonly Party[] as [Party, Party, Party];
  const session = meet(one, two.seals);
  meet(one, three.seals);
  meet(two.seals, three.seals);
  const sealed = one.seal(ASK, HELLO, session);
  expect(sealed.byteLength).toBeLessThan(one.seal(ASK, HELLO).byteLength);
  const opened = two.seals.open(ASK, sealed) as Opened;
  expect(opened).toMatchObject({ from: 'one', bytes: HELLO, mark: markOf(sealed) });
  expect([two.seals.hear(opened), two.seals.hear(opened)]).toEqual(['fresh', 'repeated']);
  const answer = { purpose: 'answer', space: 'blue', to: opened.mark } as const;
  expect(one.open(answer, two.seals.seal(answer, HELLO, opened.session))).not.toBeNull();
  // Neither to a third nor back to who said it, and for nothing that is for all.
  expect(three.seals.open(ASK, sealed)).toBeNull();
  expect(one.open(ASK, sealed)).toBeNull();
  const whisper = { purpose: 'whisper', space: 'blue' } as const;
  expect(two.seals.open(whisper, one.seal(whisper, HELLO, session))).toBeNull();
  for (const other of [
    { ...ASK, purpose: 'part' as const },
    { ...ASK, space: 'red' },
    { ...ASK, to: '' },
  ])
    expect(two.seals.open(other, sealed)).toBeNull();
  for (let at = 0; at < sealed.byteLength; at++) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] as number) ^ 1;
    expect(two.seals.open(ASK, changed)).toBeNull();
  }
  const known = servers.get('one') as Server;
  servers.set('one', { ...known, revoked: { by: 'two', at: 1 } });
  expect(two.seals.open(ASK, one.seal(ASK, HELLO, session))).toBeNull();
  expect(two.seals.sessionWith(opened)).toBeNull();
  // Joined again, with another key: what was agreed with the one before is void.
  const { id } = keyPairOfSeed(createSeed());
  servers.set('one', serverOf('one', id, null));
  expect(two.seals.open(ASK, one.seal(ASK, HELLO, session))).toBeNull();
  expect(two.seals.sessionWith(opened)).toBeNull();
});

test('[JN10] who has not met another, or met one of before, has no key with it', () => {
  const [{ seals: one }, { seals: two, dropped }] = parties(['one', null], ['two', null]).all;
  const [a, b] = [
    { from: 'one', incarnation: one.incarnation },
    { from: 'two', incarnation: two.incarnation },
  ];
  expect([one.sessionWith(b), two.sessionWith(a)]).toEqual([null, null]);
  const hello = { purpose: 'hello', space: null, to: Buffer.alloc(32, 7) } as const;
  // As a server answers that knows nothing of keys; or one that gives a point by which all secrets are the same.
  for (const half of [new Uint8Array(), new Uint8Array(32)]) {
    one.meet(one.open(hello, two.seal(hello, half)) as Opened);
    expect(one.sessionWith(b)).toBeNull();
  }
  one.meet(one.open(hello, two.seal(hello, two.half)) as Opened);
  const session = one.sessionWith(b);
  expect(session).not.toBeNull();
  expect(one.sessionWith({ ...b, incarnation: 'another' })).toBeNull();
  // Two has not heard of one's half: it cannot tell who says this.
  expect(two.open(ASK, one.seal(ASK, HELLO, session))).toBeNull();
  expect(dropped).toEqual(['unconfirmed']);
});

test('[JN4] nothing is heard twice, and nothing of an incarnation that answered no challenge', () => {
  const [{ seals: one }, two] = parties(['one', null], ['two', null]).all;
  const heard = (sealed: Uint8Array) => {
    const opened = two.seals.open(ASK, sealed);
    return opened === null ? null : two.seals.hear(opened);
  };
  const early = one.seal(ASK, HELLO);
  expect(heard(early)).toBe('unconfirmed');
  two.seals.replays.confirm('one', one.incarnation, one.count);
  expect(heard(early)).toBe('repeated');
  const later = one.seal(ASK, HELLO);
  expect(heard(later)).toBe('fresh');
  expect(heard(later)).toBe('repeated');
});

test('[JN4] what overtakes is heard, once; what is older than anybody remembers is not', () => {
  const replays = createReplays();
  replays.confirm('one', 'i', 10);
  expect([12, 11, 12, 11, 10, 9].map((count) => replays.hear('one', 'i', count))).toEqual([
    ...['fresh', 'fresh', 'repeated', 'repeated', 'repeated', 'repeated'],
  ]);
  expect(replays.hear('one', 'i', 100_000)).toBe('fresh');
  expect(replays.hear('one', 'i', 13)).toBe('repeated');
  expect(replays.hear('one', 'i', 99_999)).toBe('fresh');
  expect(replays.hear('one', 'i', 99_999)).toBe('repeated');
  // Started again, and the old one speaks once more.
  replays.confirm('one', 'j', 0);
  expect(replays.hear('one', 'i', 100_001)).toBe('unconfirmed');
  expect(replays.hear('one', 'j', 1)).toBe('fresh');
});

test('[JN5] a word of a lease that was read before is held to all but its signature anew', () => {
  const { servers, all } = parties(['one', ['blue']], ['two', null]);
  const [{ seals: one }, two] = all;
  const lease = { purpose: 'lease', space: 'blue', to: 'space blue' } as const;
  const sealed = one.seal(lease, HELLO);
  for (let times = 0; times < 3; times++) expect(two.seals.open(lease, sealed)).not.toBeNull();
  expect(two.seals.open({ ...lease, to: 'space red' }, sealed)).toBeNull();
  for (let at = 0; at < sealed.byteLength; at++) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] as number) ^ 1;
    expect(two.seals.open(lease, changed)).toBeNull();
  }
  const known = servers.get('one') as Server;
  for (const other of [
    { ...known, revoked: { by: 'two', at: 1 } },
    { ...known, spaces: ['red'] },
    serverOf('one', keyPairOfSeed(createSeed()).id, null),
  ]) {
    servers.set('one', other);
    expect(two.seals.open(lease, sealed)).toBeNull();
  }
});
