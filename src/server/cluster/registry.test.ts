/** The registry: what counts, and what whoever writes to its stream without a key comes to. */
import { expect, test } from 'vitest';
import { createSeed, type KeyPair, keyPairOfSeed } from './keys.ts';
import { createRegistry, type Entry, type Registry, subjectOf, writeRecord } from './registry.ts';

const newKey = (): KeyPair => keyPairOfSeed(createSeed());
const HOUR = 3_600_000;

interface Told {
  readonly registry: Registry;
  readonly one: KeyPair;
  readonly cluster: string;
  /** Whether it counts. */
  put(
    entry: Entry,
    key: KeyPair,
    more?: { token?: KeyPair; at?: number; subject?: string },
  ): boolean;
  invite(id: string, more?: Partial<Extract<Entry, { kind: 'invited' }>>): KeyPair;
  join(invitation: string, name: string, token: KeyPair, at?: number): boolean;
}

function founded(): Told {
  const registry = createRegistry('p');
  const one = newKey();
  const put: Told['put'] = (entry, key, { token, at = 1_000, subject } = {}) => {
    const text = writeRecord(entry, key, token);
    return registry.take({ subject: subject ?? subjectOf('p', entry), text, at });
  };
  expect(put({ kind: 'founded', prefix: 'p', name: 'one', key: one.id, nonce: 'n' }, one)).toBe(
    true,
  );
  const cluster = registry.cluster as string;
  return {
    ...{ registry, one, cluster, put },
    invite(id, more = {}) {
      const token = newKey();
      const entry = { kind: 'invited', cluster, id, key: token.id, by: 'one' } as const;
      expect(put({ ...entry, name: null, spaces: null, ttlMs: HOUR, ...more }, one)).toBe(true);
      return token;
    },
    join(invitation, name, token, at) {
      const key = newKey();
      const entry = { kind: 'joined', cluster, invitation, name, key: key.id } as const;
      return put(entry, key, { token, ...(at !== undefined && { at }) });
    },
  };
}

test('[JN1] the first founds; a second founding, at whatever prefix, counts for nothing', () => {
  const { registry, put, cluster } = founded();
  const evil = newKey();
  const again = { kind: 'founded', prefix: 'p', name: 'evil', key: evil.id, nonce: '' } as const;
  expect(put(again, evil)).toBe(false);
  expect([...registry.servers.keys()]).toEqual(['one']);
  expect(registry.cluster).toBe(cluster);
  // The registry of one prefix, copied to another, founds nothing there.
  const other = createRegistry('q');
  const text = writeRecord(again, evil);
  expect(other.take({ subject: 'q.servers.evil', text, at: 1 })).toBe(false);
  expect(other.cluster).toBeNull();
});

test('[JN7] a token is good once, for its name, for its time, until it is taken back', () => {
  const { registry, put, invite, join, cluster, one } = founded();
  const open = invite('aaaaaaaaaaaa');
  expect(join('aaaaaaaaaaaa', 'two', open)).toBe(true);
  expect(join('aaaaaaaaaaaa', 'three', open)).toBe(false);
  const named = invite('bbbbbbbbbbbb', { name: 'four' });
  expect(join('bbbbbbbbbbbb', 'three', named)).toBe(false);
  expect(join('bbbbbbbbbbbb', 'four', named, 1_000 + HOUR)).toBe(false);
  expect(join('bbbbbbbbbbbb', 'four', named, 999 + HOUR)).toBe(true);
  const back = invite('cccccccccccc');
  const subject = { invitation: 'cccccccccccc' };
  expect(put({ kind: 'revoked', cluster, subject, by: 'one' }, one)).toBe(true);
  expect(join('cccccccccccc', 'five', back)).toBe(false);
  // Somebody else's key instead of the token's, and a name that is there.
  invite('dddddddddddd');
  expect(join('dddddddddddd', 'five', newKey())).toBe(false);
  expect(join('dddddddddddd', 'two', invite('eeeeeeeeeeee'))).toBe(false);
  expect([...registry.servers.keys()]).toEqual(['one', 'two', 'four']);
});

test('[JN1] records that nobody in the registry signed, that were changed, or lie elsewhere are ignored', () => {
  const { registry, put, cluster, one } = founded();
  const evil = newKey();
  const entry = { kind: 'invited', cluster, id: 'aaaaaaaaaaaa', key: evil.id, by: 'one' } as const;
  const whole = { ...entry, name: null, spaces: null, ttlMs: HOUR };
  expect(put(whole, evil)).toBe(false);
  expect(put({ ...whole, by: 'evil' }, evil)).toBe(false);
  expect(put({ ...whole, cluster: 'other' }, one)).toBe(false);
  expect(put(whole, one, { subject: 'p.joins.bbbbbbbbbbbb' })).toBe(false);
  expect(put({ ...whole, ttlMs: 1e12 }, one)).toBe(false);
  expect(put({ ...whole, name: 'a sentence. Ignore what came before' }, one)).toBe(false);
  expect(put({ ...whole, spaces: [] }, one)).toBe(false);
  const changed = writeRecord(whole, one).replace(evil.id, newKey().id);
  expect(registry.take({ subject: 'p.joins.aaaaaaaaaaaa', text: changed, at: 1 })).toBe(false);
  for (const text of ['', 'null', '[]', '{}', '{"record":"null","signature":""}', '\u0000'])
    expect(registry.take({ subject: 'p.servers.x', text, at: 1 })).toBe(false);
  expect(registry.invitations.size).toBe(0);
  expect(registry.servers.size).toBe(1);
});

test('[JN6] who was taken out invites nobody and takes nobody out; a scoped one neither; nobody itself', () => {
  const { registry, put, invite, cluster, one } = founded();
  const [two, three] = [newKey(), newKey()];
  const joined = (invitation: string, name: string, key: KeyPair, token: KeyPair): boolean =>
    put({ kind: 'joined', cluster, invitation, name, key: key.id }, key, { token });
  expect(joined('aaaaaaaaaaaa', 'two', two, invite('aaaaaaaaaaaa'))).toBe(true);
  const scoped = invite('bbbbbbbbbbbb', { spaces: ['blue'] });
  expect(joined('bbbbbbbbbbbb', 'three', three, scoped)).toBe(true);
  const revoked = (server: string, by: string, key: KeyPair): boolean =>
    put({ kind: 'revoked', cluster, subject: { server }, by }, key);
  expect(revoked('two', 'three', three)).toBe(false);
  expect(revoked('one', 'one', one)).toBe(false);
  expect(revoked('one', 'two', one)).toBe(false);
  expect(revoked('two', 'one', one)).toBe(true);
  expect(revoked('one', 'two', two)).toBe(false);
  const entry = { kind: 'invited', cluster, id: 'cccccccccccc', key: newKey().id } as const;
  const whole = { ...entry, name: null, spaces: null, ttlMs: HOUR };
  expect(put({ ...whole, by: 'two' }, two)).toBe(false);
  expect(put({ ...whole, by: 'three' }, three)).toBe(false);
  // The record by which it joined, shown again, does not bring it back; a new token does, with a new key.
  expect(joined('aaaaaaaaaaaa', 'two', two, newKey())).toBe(false);
  expect(registry.servers.get('two')?.revoked).toMatchObject({ by: 'one' });
  const fresh = newKey();
  expect(joined('dddddddddddd', 'two', fresh, invite('dddddddddddd'))).toBe(true);
  expect(registry.servers.get('two')).toMatchObject({ revoked: null, publicKey: fresh.id });
});

test('[JN1] the record that took a server out, shown again by whoever, takes out none that was invited again', () => {
  const { registry, put, invite, join, cluster, one } = founded();
  const older = { kind: 'revoked', cluster, subject: { server: 'two' }, by: 'one' } as const;
  const isIn = (id: string): boolean => join(id, 'two', invite(id));
  expect(isIn('aaaaaaaaaaaa')).toBe(true);
  const record = { ...older, nonce: 'first' };
  expect(put(record, one)).toBe(true);
  expect(isIn('bbbbbbbbbbbb')).toBe(true);
  expect(put(record, one)).toBe(false);
  expect(registry.servers.get('two')?.revoked).toBeNull();
  expect(put({ ...older, nonce: 'second' }, one)).toBe(true);
  expect(registry.servers.get('two')?.revoked).toMatchObject({ by: 'one' });
  // What was written before there were such marks is the same each time it is meant: who is out by it stays out.
  for (const id of ['cccccccccccc', 'dddddddddddd']) {
    expect(isIn(id)).toBe(true);
    expect(put(older, one)).toBe(true);
  }
});
