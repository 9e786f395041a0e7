/**
 * The traces: what the law decides, as text that a change of the law changes. `npx vitest run
 * test/traces -u` writes them again; the diff is what a reviewer reads.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeEvent, encodeEvent } from '../../src/core/law/entry.ts';
import { DURABLE_KINDS } from '../../src/core/law/shape.ts';
import { type EphemeralEvent, isEphemeral } from '../../src/core/law/world.ts';
import { REFUSALS } from '../../src/wire/errors.ts';
import { listFiles, readText } from '../tidy/repository.ts';
import { play } from './play.ts';

const HERE = import.meta.dirname;
const nouns = readdirSync(HERE).filter((name) => name.endsWith('.txt'));

test.each(nouns)('[L7] the law decides as it is written in %s', async (name) => {
  const { text } = play(readText(`test/traces/${name}`));
  await expect(text).toMatchFileSnapshot(join(HERE, name));
});

const EPHEMERAL: Readonly<Record<EphemeralEvent['type'], true>> = {
  'presence.beaten': true,
  'inbox.presented': true,
  'offer.refreshed': true,
  'clock.ticked': true,
};

/** Refusals of the law that no trace shows, and where they are shown instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'channel.retired': 'answers a question, no command: src/core/talk/removal.test.ts',
  'ack.forgotten': 'needs 100,000 acked messages: src/core/talk/ack.test.ts',
};

test('[L7] every kind of event and every refusal of the law is in some trace', () => {
  const played = nouns.map((name) => play(readText(`test/traces/${name}`)));
  const kinds = new Set<string>(played.flatMap(({ events }) => events.map(({ type }) => type)));
  expect([...DURABLE_KINDS, ...Object.keys(EPHEMERAL)].filter((kind) => !kinds.has(kind))).toEqual(
    [],
  );
  const refused = new Set<string>(
    played.flatMap(({ refusals }) => refusals.map((refusal) => refusal.refused)),
  );
  const decided = refusalsInCore();
  expect(decided.size).toBeGreaterThan(40);
  expect([...decided].filter((code) => !refused.has(code) && !(code in ELSEWHERE))).toEqual([]);
});

test('[L2] every event of the law has the shape that reading demands of its kind', () => {
  const played = nouns.flatMap((name) => play(readText(`test/traces/${name}`)).events);
  const stored = played.filter((event) => !isEphemeral(event));
  expect(stored.length).toBeGreaterThan(1_000);
  for (const event of stored) {
    const entry = encodeEvent(event);
    expect(decodeEvent(entry)).toEqual(JSON.parse(entry));
  }
});

/** Codes that stand in the code of the law; a union of them in a type is a list, not a decision. */
function refusalsInCore(): Set<string> {
  const sources = listFiles('src/core', '.ts').filter((path) => !path.endsWith('.test.ts'));
  const found = new Set<string>();
  for (const path of sources) {
    const code = readText(path).replaceAll(/^\s*\| '[^']+';?$/gm, '');
    for (const [, word = ''] of code.matchAll(/'([a-z]+\.[a-z-]+)'/g)) {
      if (word in REFUSALS) found.add(word);
    }
  }
  return found;
}
