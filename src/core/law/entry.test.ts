import { describe, expect, test } from 'vitest';
import type { MessageSent } from '../talk/message.ts';
import {
  decodeEvent,
  decodeMessage,
  decodeOwnMessage,
  decodePlain,
  EntryError,
  encodeEvent,
  encodeRead,
} from './entry.ts';
import { evolveSettings, type SpaceConfigured } from './settings.ts';
import { createWorld, DEFAULT_SETTINGS } from './state.ts';

function problemOf(entry: string): readonly [problem: string, message: string] {
  try {
    decodeEvent(entry);
  } catch (error) {
    if (error instanceof EntryError) return [error.problem, error.message];
    throw error;
  }
  throw new Error('it was read');
}

describe('an entry', () => {
  test('[L6] that another program wrote is remembered as this one writes it, and its own as it is', () => {
    const head = '"at":1,"by":"ada","channel":"c","seq":1';
    const own = `{"type":"message.sent",${head},"body":{"a":"x","body":{"b":1}}}`;
    const others = [
      `{"type":"message.sent","body":{"a":"x"},${head}}`,
      `{"type":"message.sent",${head},"body":{ "a": 1.0 }}`,
    ];
    for (const entry of [own, ...others]) {
      const { body } = decodeMessage(entry) ?? { body: {} };
      const event = { ...decodeEvent(entry), body: JSON.stringify(body) } as never;
      const written = encodeRead(event, entry);
      expect(JSON.parse(written)).toEqual(JSON.parse(encodeEvent(event)));
      expect(written === entry).toBe(entry === own);
      expect(decodeOwnMessage(written)?.body).toBe(JSON.stringify(body));
    }
    const joined = '{"type":"agent.assumed","at":1,"by":"ada","roles":["lead"]}';
    expect(encodeRead(decodeEvent(joined), joined)).toBe(joined);
  });

  test('[L6] that is a plain message is read the short way as it is the long way, and nothing else is', () => {
    const entryOf = (body: string, by = 'ada', as = 'agent/standard'): string =>
      `{"type":"message.sent","at":17,"by":"${by}","as":"${as}","channel":"c","seq":3,"body":${body}}`;
    const plain = [
      ...['{}', '{"a":"x","n":-7,"z":0,"t":true,"e":null}', '{"a":{"b":[1,"}"]},"c":1.5}'],
      ...[
        '{"a":"ça — \u{1f600}"}',
        '{"a":"line\\n\\"quoted\\" \\u0007"}',
        '{"body":{"a":1}}',
        '{"1":2}',
      ],
    ];
    for (const body of plain) {
      const entry = entryOf(body, 'ada ü');
      const event = { ...decodeEvent(entry), body };
      expect(decodePlain(entry)).toEqual(event);
      expect(encodeEvent(event as never)).toBe(entry);
    }
    const others = [
      ...[
        '{ "a":1}',
        '{"a":1.0}',
        '{"a":01}',
        '{"a":1,}',
        '{"a":"\u0007"}',
        '{"a":"\\u0041"}',
        '{"a":1}}',
      ],
      ...['{"a":1},"held":"x"', '{"a":', '{"b":1,"1":2}', '{"a":"\\"}', ''],
    ].map((body) => entryOf(body));
    const heads = [
      ...[entryOf('{}', 'a\\"b'), entryOf('{}', 'ada', 'agent/king'), `${entryOf('{}')} `],
      entryOf('{}').replace('17', '017'),
      entryOf('{}').replace('"seq":3', '"seq":3,"root":1'),
      '{"type":"agent.seen","at":1,"by":"ada"}',
    ];
    for (const entry of [...others, ...heads])
      expect([entry, decodePlain(entry)]).toEqual([entry, null]);
  });

  test('[L2] of a kind this program does not know is refused by its name', () => {
    expect(problemOf('{"type":"future.thing","at":1}')).toEqual([
      'newer',
      'future.thing is an event of a newer program',
    ]);
    for (const type of ['constructor', '__proto__', 'toString']) {
      expect(problemOf(`{"type":"${type}","at":1}`)[0]).toBe('newer');
    }
    // Memory only: no log holds it.
    expect(problemOf('{"type":"clock.ticked","at":1}')[0]).toBe('newer');
  });

  test('[L6] in which an agent gave itself its roles, or a token came without any, is lifted', () => {
    const assumed = { type: 'agent.assumed', at: 1, by: 'ada', roles: ['lead'] };
    const assigned = { type: 'agent.assigned', at: 1, by: 'ada', agent: 'ada', roles: ['lead'] };
    expect(decodeEvent(JSON.stringify(assumed))).toEqual(assigned);
    const created = { type: 'token.created', at: 1, by: 'root', token: { id: 't' } };
    expect(decodeEvent(JSON.stringify(created))).toMatchObject({ token: { id: 't', roles: [] } });
  });

  test('[L2] of a known kind is refused when a field is missing or is something else', () => {
    const sent = { type: 'message.sent', at: 1, by: 'ada', channel: 'c', seq: 1, body: {} };
    expect(decodeEvent(JSON.stringify(sent))).toEqual(sent);
    const { seq: _, ...without } = sent;
    for (const bad of [without, { ...sent, seq: '1' }, { ...sent, seq: null }]) {
      expect(problemOf(JSON.stringify(bad))).toEqual([
        'shape',
        'message.sent without a seq this program can read',
      ]);
      expect(() => decodeMessage(JSON.stringify(bad))).toThrow(EntryError);
    }
    const drained = { type: 'inbox.drained', at: 1, by: 'ada', through: {} };
    expect(problemOf(JSON.stringify(drained))[1]).toContain('through');
    const made = { type: 'offer.made', at: 1, offer: [] };
    expect(problemOf(JSON.stringify(made))[1]).toContain('offer');
  });

  test('[L2] that is no event at all is refused', () => {
    for (const entry of ['', '{', 'null', '7', '"message.sent"', '[]', '{}']) {
      expect(problemOf(entry)[0]).toBe('shape');
    }
  });
});

describe('an entry from before a setting existed', () => {
  test('[L6] has that setting as it is where nobody has said anything', () => {
    const { retentionMs: _, ...then } = { ...DEFAULT_SETTINGS, queueLimit: 7 };
    const entry = JSON.stringify({ type: 'space.configured', at: 1, by: 'root', settings: then });
    const world = createWorld();
    evolveSettings(world, decodeEvent(entry) as SpaceConfigured);
    expect(world.settings).toEqual({ ...then, retentionMs: 86_400_000 });
  });

  test('[L6] so for a channel, and what was said stays as it was said', () => {
    const settings = { schema: null, schemaVersion: 3, queueLimit: null };
    const event = { type: 'channel.configured', at: 1, by: 'root', channel: 'c', settings };
    expect(decodeEvent(JSON.stringify(event))).toMatchObject({
      ...event,
      settings: {
        schema: null,
        schemaVersion: 3,
        replayPolicy: 'subscriber',
        replayAllow: [],
        backpressureMode: null,
        queueLimit: null,
      },
    });
  });
});

test('[L2] a plain message is stored as JSON would write it, with its body last', () => {
  for (const name of ['agent-1', 'quote "and\\ back', 'é\u2028\u0001', '\ud83d\ude00']) {
    const head = { type: 'message.sent', at: 1_700_000_000_123, by: name, as: 'agent/trusted' };
    const sent = { ...head, channel: `c ${name}`, seq: 7, body: '{"text":"x"}' } as const;
    const { body, ...rest } = sent;
    const expected = `${JSON.stringify(rest).slice(0, -1)},"body":${body}}`;
    expect(encodeEvent(sent as MessageSent)).toBe(expected);
    expect(encodeEvent({ ...(sent as MessageSent), key: 'k' })).toContain('"key":"k"');
    const { as: _, ...without } = sent;
    expect(encodeEvent({ ...without, key: 'k' } as MessageSent)).toContain('"key":"k"');
  }
});

test('[L2] so is each of many that have much in common with the one before', () => {
  const first = { at: 17, by: 'ada', as: 'agent/trusted', channel: 'c' };
  const others = [{}, { at: 18 }, { by: 'b"b' }, { as: 'human/owner' }, { channel: 'd' }];
  for (const other of others.flatMap((one) => [{}, one, one])) {
    const head = { type: 'message.sent', ...first, ...other, seq: 7 };
    const event = { ...head, body: '{"text":"x"}' } as MessageSent;
    expect(encodeEvent(event)).toBe(`${JSON.stringify(head).slice(0, -1)},"body":{"text":"x"}}`);
  }
});
