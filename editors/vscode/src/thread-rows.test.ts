import { expect, test } from 'vitest';
import { threadRows, threadText } from './thread-rows.ts';

const HEAD = {
  ...{ thread_id: 'm1', channel: 'news', sender: 'ada', sent_at: 1_000, title: null },
  ...{ reply_count: 1 },
};

test('[ED1] a thread is one row, in words that obey nothing', () => {
  const named = { ...HEAD, thread_id: 'm2', title: 'Which $(shape)?', reply_count: 2 };
  expect(threadRows([HEAD, named], 1_000 + 7_200)).toEqual([
    { id: 'm1', label: 'ada on news', description: 'news · 1 reply · 2 h' },
    { id: 'm2', label: 'Which $ (shape)?', description: 'news · 2 replies · 2 h' },
  ]);
});

test('[ED1] a thread is read as plain text, and what cannot be seen is shown', () => {
  const message = { message_id: 'm1', sender: 'ada', sent_at: 0 };
  const text = threadText(
    [
      { ...message, body: { text: 'one\ntwo\u202e' } },
      { ...message, message_id: 'm2', body: { n: 1 } },
    ],
    { isMore: true },
  );
  expect(text).toContain('ada  1970-01-01 00:00:00  m1\n    one\n    two\\u{202e}\n');
  expect(text).toContain('"n": 1');
  expect(text).toMatch(/… and more: synod thread/);
});
