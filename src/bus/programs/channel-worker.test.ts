/** The manners of a worker on a channel: whom it answers, how often, and what it tells when it cannot. */
import { expect, test } from 'vitest';
import type { AnswerTurn } from './acp-agent.ts';
import {
  type AnswerText,
  answerOnChannel,
  type ChannelManners,
  type Heard,
} from './channel-worker.ts';

interface Played {
  readonly replies: [string, string][];
  readonly refused: [string, string][];
  readonly notes: string[];
  readonly turns: AnswerTurn[];
}

let count = 0;
const says = (sender: string, text: string | null, more: Partial<Heard> = {}): Heard => ({
  ...{ id: `m${++count}`, channel: 'room', sender, text, replyTo: null },
  ...{ origin: 'agent', isDirect: false },
  ...more,
});

async function play(
  heard: readonly Heard[],
  manners: Partial<ChannelManners> = {},
  answer: AnswerText = async (turn) => {
    await turn.say(`to ${turn.text}`);
    return { stopReason: 'end_turn' };
  },
  signal: AbortSignal = new AbortController().signal,
): Promise<Played> {
  const played: Played = { replies: [], refused: [], notes: [], turns: [] };
  await answerOnChannel(
    (turn) => {
      played.turns.push(turn);
      return answer(turn);
    },
    (async function* () {
      yield* heard;
    })(),
    {
      async reply({ id }, text) {
        played.replies.push([id, text]);
        return `answer to ${id}`;
      },
      async refuse({ id }, reason) {
        played.refused.push([id, reason]);
      },
      note: (text) => void played.notes.push(text),
    },
    {
      ...{ name: 'fast', answersAll: () => false, contextMax: 8, answerCharsMax: 100 },
      ...{ everyMs: 0, hourlyMax: 100 },
      ...manners,
    },
    signal,
  );
  return played;
}

test('[WP37] it answers what is addressed to it, and nothing of itself, the hub or another worker', async () => {
  const named = says('ada', 'Fast, are you there?');
  const { replies, refused } = await play([
    says('ada', 'breakfast is fast-paced'),
    says('ada', 'what do you think?'),
    named,
    says('bob', 'and this?', { replyTo: `answer to ${named.id}` }),
    says('bob', 'just us', { channel: 'dm/bob~fast', isDirect: true }),
    says('fast', 'fast speaks of fast'),
    says('__server__', 'fast was named', { origin: 'hub' }),
    says('slow', 'fast, say something', { origin: 'worker' }),
  ]);
  expect(replies.map(([, text]) => text)).toEqual([
    ...['to Fast, are you there?', 'to and this?', 'to just us'],
  ]);
  expect(refused).toEqual([]);
});

test('[WP37] where everything is answered, everything of agents is', async () => {
  const heard = [
    says('ada', 'one'),
    says('ada', 'two', { channel: 'other' }),
    says('fast', 'three'),
  ];
  const { replies } = await play(heard, { answersAll: (channel) => channel === 'room' });
  expect(replies.map(([, text]) => text)).toEqual(['to one']);
});

test('[WP37] the model is shown what was said before, by whom, and the bare message last', async () => {
  const { turns } = await play(
    [
      ...['one', 'two', 'x'.repeat(9_000)].map((text) => says('ada', text)),
      says('fast', 'mine'),
      says('bob', 'elsewhere', { channel: 'other' }),
      says('bob', 'fast?'),
    ],
    { contextMax: 3 },
  );
  const [{ text, session } = { text: '', session: { history: [] } }] = turns;
  expect(text).toBe('fast?');
  expect(session.history).toEqual([
    { role: 'user', text: 'ada: two' },
    { role: 'user', text: expect.stringMatching(/^ada: x{499}…$/) },
    { role: 'assistant', text: 'mine' },
  ]);
});

test('[WP37] one sender has so many answers an hour, and is told; another is answered still', async () => {
  const { replies, refused } = await play(
    [...['1', '2', '3'].map((n) => says('ada', `fast ${n}`)), says('bob', 'fast 4')],
    { hourlyMax: 2 },
  );
  expect(replies.map(([, text]) => text)).toEqual(['to fast 1', 'to fast 2', 'to fast 4']);
  expect(refused).toEqual([[expect.any(String), expect.stringMatching(/2 answers an hour/)]]);
});

test('[WP37] what cannot be answered is told to its sender, and the next one is answered', async () => {
  const { replies, refused, notes } = await play(
    [says('ada', null, { isDirect: true }), says('ada', 'fast fail'), says('ada', 'fast go on')],
    { answerCharsMax: 5 },
    async ({ text, say }) => {
      if (text.endsWith('fail')) throw new Error('the endpoint answered 500');
      await say('a long answer');
      return { stopReason: 'end_turn' };
    },
  );
  expect(replies).toEqual([[expect.any(String), 'a lo…']]);
  expect(refused.map(([, reason]) => reason)).toEqual([
    expect.stringMatching(/only texts/),
    'the endpoint answered 500',
  ]);
  expect(notes).toHaveLength(2);
});

test('[WP37] what is interrupted is neither answered nor refused: it is owed still', async () => {
  const stop = new AbortController();
  const { replies, refused } = await play(
    [says('ada', 'fast?')],
    {},
    async ({ signal }) => {
      stop.abort();
      signal.throwIfAborted();
      return { stopReason: 'end_turn' };
    },
    stop.signal,
  );
  expect([replies, refused]).toEqual([[], []]);
});
