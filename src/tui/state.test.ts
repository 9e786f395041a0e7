import fc from 'fast-check';
import { expect, test } from 'vitest';
import { giveColours } from './colours.ts';
import { type ChatEvent, type ChatState, evolve, findChannel, initialState } from './state.ts';
import type { Said } from './talk.ts';

const ME = { agent_id: 'ada', kind: 'agent', tier: 'trusted', space: 'lab' } as const;
const fresh = initialState(ME, 0);

function said(channel: string, seq: number): Said {
  return {
    id: `${channel}${seq}`,
    channel,
    seq,
    sender: 'bob',
    sentAt: seq,
    replyTo: null,
    text: '',
  };
}

function after(events: readonly ChatEvent[], from: ChatState = fresh): ChatState {
  return events.reduce(evolve, from);
}

const channelName = fc.constantFrom('a', 'b', 'dm/ada~bob', 'group/g');
const someSaid = fc.array(
  fc.tuple(channelName, fc.integer({ min: 1, max: 30 })).map(([name, seq]) => said(name, seq)),
  { maxLength: 8 },
);
const anyEvent: fc.Arbitrary<ChatEvent> = fc.oneof(
  fc.record({ type: fc.constant('said' as const), messages: someSaid }),
  fc.record({
    type: fc.constantFrom('joined' as const, 'left' as const, 'focused' as const),
    channel: channelName,
  }),
  fc.record({
    type: fc.constant('channels' as const),
    joined: fc.uniqueArray(channelName),
    others: fc.uniqueArray(channelName),
  }),
  fc.record({
    type: fc.constant('owed' as const),
    channels: fc.uniqueArray(channelName).map((names) => new Map(names.map((one) => [one, 2]))),
  }),
  fc.record({
    type: fc.constant('scrolled' as const),
    by: fc.integer({ min: -9, max: 9 }),
    most: fc.integer({ min: 0, max: 20 }),
  }),
  fc.constant<ChatEvent>({ type: 'opened', panel: { kind: 'claims' } }),
);

test('[TU3] whatever happens, channels are listed once and in order, and the focus is one of them', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 30 }), (events) => {
      const { channels, focus, scroll } = after(events);
      const names = channels.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      expect(focus === null ? names : [focus]).toEqual(focus === null ? [] : [focus]);
      if (focus !== null) expect(names).toContain(focus);
      expect(scroll).toBeGreaterThanOrEqual(0);
      for (const { talk } of channels) {
        const seqs = talk.map(({ seq }) => seq);
        expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
      }
    }),
  );
});

test('[TU3] a stream, a drain and a replay of the same messages come to the same talk', () => {
  const all = [1, 2, 3, 4].map((seq) => said('a', seq));
  const cut = fc.tuple(
    fc.subarray(all),
    fc.subarray(all),
    fc.shuffledSubarray(all, { minLength: 4 }),
  );
  fc.assert(
    fc.property(cut, ([first, second, whole]) => {
      const state = after([
        { type: 'joined', channel: 'a' },
        { type: 'said', messages: first },
        { type: 'history', channel: 'a', messages: whole, isWhole: true },
        { type: 'said', messages: second },
      ]);
      expect(findChannel(state, 'a')?.talk).toEqual(all);
    }),
  );
});

test('unread is what the hub says, and turning to a channel marks where the new begins', () => {
  const state = after([
    { type: 'channels', joined: ['a', 'b'], others: [] },
    { type: 'said', messages: [1, 2, 3].map((seq) => said('b', seq)) },
    { type: 'owed', channels: new Map([['b', 2]]) },
  ]);
  expect(state.channels.map(({ unread }) => unread)).toEqual([0, 2]);
  const turned = evolve(state, { type: 'focused', channel: 'b' });
  expect(turned.focus).toBe('b');
  expect(findChannel(turned, 'b')?.newFrom).toBe(2);
});

test('while somebody reads further up, what arrives does not move the text', () => {
  const state = after([
    { type: 'said', messages: [1, 2].map((seq) => said('a', seq)) },
    { type: 'scrolled', by: 3, most: 9 },
    { type: 'said', messages: [said('a', 3)] },
  ]);
  expect([state.scroll, state.upTo]).toEqual([3, 2]);
  const down = evolve(state, { type: 'scrolled', by: -9, most: 9 });
  expect([down.scroll, down.upTo]).toEqual([0, null]);
});

test('a panel opens at its beginning, and one page down is one page', () => {
  const open = evolve(fresh, { type: 'opened', panel: { kind: 'help' } });
  expect(evolve(open, { type: 'scrolled', by: -5, most: 20 }).scroll).toBe(15);
});

test('my own receipt of my own message is no news', () => {
  const state = after([
    {
      type: 'receipts',
      seen: [
        { message: 'm1', agent: 'ada', state: 'consumed' },
        { message: 'm1', agent: 'bob', state: 'accepted' },
        { message: 'm1', agent: 'bob', state: 'acted' },
      ],
    },
  ]);
  expect([...(state.receipts.get('m1') ?? [])]).toEqual([['bob', 'acted']]);
});

test('why the line is down stays known until it is up', () => {
  const down = after([
    { type: 'link', state: 'waiting', reason: 'no hub answers' },
    { type: 'link', state: 'connecting', reason: null },
  ]);
  expect(down.linkReason).toBe('no hub answers');
  expect(evolve(down, { type: 'link', state: 'open', reason: null }).linkReason).toBeNull();
});

test('[TU9] a line that was begun stays with its channel, also when the channel goes', () => {
  const type = (state: ChatState, text: string) =>
    evolve(state, { type: 'edited', change: { edit: 'insert', text } });
  const both = evolve(initialState(ME, 0), { type: 'channels', joined: ['a', 'b'], others: [] });
  const begun = type(both, 'for a');
  const turned = evolve(begun, { type: 'focused', channel: 'b' });
  expect(turned.input.text).toBe('');
  const back = evolve(type(turned, 'for b'), { type: 'focused', channel: 'a' });
  expect(back.input).toMatchObject({ text: 'for a', cursor: 5 });
  expect(evolve(back, { type: 'left', channel: 'a' }).input.text).toBe('for b');
  // Typed before there was any channel: it belongs to the first.
  const early = type(initialState(ME, 0), 'early');
  expect(evolve(early, { type: 'joined', channel: 'a' }).input.text).toBe('early');
});

test('the first ten who speak have ten colours, and keep them', () => {
  const names = Array.from({ length: 10 }, (_, i) => `agent-${i}`);
  const first = giveColours(new Map(), names);
  expect(new Set(first.values()).size).toBe(10);
  const later = giveColours(first, ['one more', ...names]);
  for (const name of names) expect(later.get(name)).toBe(first.get(name));
});
