/** Answers in parts: whole whatever the order, of one server alone, and nothing where there is no room at all. */
import { expect, test } from 'vitest';
import { createAnswerReader, PARTS_MAX, writeAnswer } from './answer-parts.ts';
import { createSeed, keyPairOfSeed, readPublicKey } from './keys.ts';
import type { Registry, Server } from './registry.ts';
import { createSeals, type Seals } from './seal.ts';

const MARK = Buffer.alloc(64, 7);
const SPACE = 'blue';
const ROOM = 10;

function sealsOf(...names: string[]): Seals[] {
  const servers = new Map<string, Server>();
  const registry: Registry = {
    ...{ cluster: 'c', servers, invitations: new Map(), take: () => false },
  };
  return names.map((name) => {
    const key = keyPairOfSeed(createSeed());
    const known = { name, publicKey: key.id, key: readPublicKey(key.id), spaces: null };
    servers.set(name, { ...known, revoked: null } as unknown as Server);
    const onDropped = (why: string): never => {
      throw new Error(why);
    };
    return createSeals({ name, key, registry, onDropped });
  });
}

const textOf = (size: number, from = 0): Buffer =>
  Buffer.from(Array.from({ length: size }, (_, i) => (from + i) % 251));

test('[SQ26] an answer is whole when all of its parts have come, in whatever order and how often', () => {
  const [one, two] = sealsOf('one', 'two') as [Seals, Seals];
  for (const size of [0, 1, ROOM, ROOM + 1, 3 * ROOM, PARTS_MAX * ROOM]) {
    const answer = textOf(size);
    const messages = writeAnswer(one, SPACE, MARK, answer, ROOM) ?? [];
    expect(messages.length).toBe(Math.max(1, Math.ceil(size / ROOM)));
    const read = createAnswerReader(two, SPACE, MARK);
    const last = messages.shift() as Uint8Array;
    for (const message of [...messages.toReversed(), ...messages]) expect(read(message)).toBeNull();
    expect(Buffer.from(read(last)?.bytes ?? [])).toEqual(answer);
  }
  expect(writeAnswer(one, SPACE, MARK, textOf(PARTS_MAX * ROOM + 1), ROOM)).toBeNull();
});

test('[SQ26] parts of two servers that were asked the same make no answer together', () => {
  const [one, two, three] = sealsOf('one', 'two', 'three') as [Seals, Seals, Seals];
  const answer = textOf(2 * ROOM);
  const [first, second] = writeAnswer(one, SPACE, MARK, answer, ROOM) as [Uint8Array, Uint8Array];
  const others = writeAnswer(two, SPACE, MARK, textOf(2 * ROOM, 100), ROOM) as Uint8Array[];
  const read = createAnswerReader(three, SPACE, MARK);
  expect(read(first)).toBeNull();
  for (const other of others) expect(read(other)).toBeNull();
  expect(Buffer.from(read(second)?.bytes ?? [])).toEqual(answer);
});
