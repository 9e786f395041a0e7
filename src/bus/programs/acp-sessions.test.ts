import { expect, test } from 'vitest';
import { createSessions } from './acp-sessions.ts';

test('[WP35] above the limit the session idle for longest goes, never one with a turn', () => {
  const closed: string[] = [];
  const sessions = createSessions({ sessionsMax: 2, onClose: ({ id }) => closed.push(id) });
  const first = sessions.open('/', null);
  first.turn = new AbortController();
  const second = sessions.open('/', null);
  second.updatedAt = new Date(first.updatedAt.getTime() + 1_000);
  const third = sessions.open('/', null);
  expect(closed).toEqual([second.id]);
  expect([first, third].map(({ id }) => sessions.find(id) !== undefined)).toEqual([true, true]);
});

test('[WP35] a history keeps its latest entries and begins with a question', () => {
  const sessions = createSessions({ historyEntriesMax: 5, onClose: () => {} });
  const session = sessions.open('/', null);
  for (let turn = 1; turn <= 4; turn += 1) {
    sessions.remember(session, [
      { role: 'user', text: `q${turn}` },
      { role: 'assistant', text: `a${turn}` },
    ]);
  }
  expect(session.history.map(({ text }) => text)).toEqual(['q3', 'a3', 'q4', 'a4']);
  sessions.remember(session, [
    { role: 'user', text: 'x'.repeat(300_000) },
    { role: 'assistant', text: 'y'.repeat(300_000) },
  ]);
  expect(session.history).toEqual([]);
});
