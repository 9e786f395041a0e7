/** Taking and closing: one person gets it, what is decided elsewhere is not closed here, askers hear. */
import { expect, test } from 'vitest';
import { createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { raiseItem } from './docket.ts';
import type { CloseItem } from './docket-commands.ts';
import { findItem } from './docket-page.ts';

const ada = createPrincipal('ada');
const hana = createPrincipal('hana', { kind: 'human' });
const carl = createPrincipal('carl', { kind: 'human' });
const NO_ONE = { to: null, thread: null, forMs: null };

function ask(story: Story, text: string): void {
  story.do(ada, { type: 'docket.raise', text, ...NO_ONE });
}

function close(wish: Partial<CloseItem>): Omit<CloseItem, 'by' | 'at'> {
  return { type: 'docket.close', id: 1, subject: null, outcome: 'done', note: null, ...wish };
}

test('[DK4] of two who take an item one gets it, and the other is told who', () => {
  const story = createStory();
  ask(story, 'which?');
  expect(story.do(hana, { type: 'docket.take', id: 1, isForced: false })).toBeNull();
  const told = { refused: 'docket.taken', detail: { taken_by: 'hana', taken_at: story.at / 1000 } };
  expect(story.do(carl, { type: 'docket.take', id: 1, isForced: false })).toMatchObject(told);
  expect(story.do(carl, close({}))).toMatchObject(told);
  expect(story.do(carl, { type: 'docket.take', id: 1, isForced: true })).toBeNull();
  expect(story.do(carl, close({}))).toBeNull();
  const ended = { refused: 'docket.closed', detail: { closed_by: 'carl', outcome: 'done' } };
  expect(story.do(carl, close({}))).toMatchObject(ended);
  expect(story.do(hana, { type: 'docket.take', id: 1, isForced: true })).toMatchObject(ended);
});

test('[DK5] an item about a gate says what decides it, and the rest of it can be answered', () => {
  const story = createStory();
  ask(story, 'which?');
  const gate = { kind: 'gate', agent: 'ada', reason: 'approval', thread: null } as const;
  raiseItem(story.world, story.at, { ...gate, text: 'rm -rf', subject: 'g7' });
  expect(story.do(hana, close({}))).toMatchObject({
    refused: 'docket.undecided',
    detail: { subject: 'g7', operation: 'gates.decide' },
  });
  expect(story.do(hana, close({ subject: 'g7' }))).toMatchObject({ refused: 'docket.undecided' });
  expect(story.do(hana, close({ subject: 'q1', outcome: 'answered', note: 'that' }))).toBeNull();
  const item = findItem(story.world.docket, hana, 1);
  expect([...(item?.subjects.keys() ?? [])]).toEqual(['gate g7']);
  expect(story.do(hana, close({ outcome: 'answered', note: 'yes' }))).toMatchObject({
    refused: 'docket.undecided',
  });
});

test('[DK7] the asker hears the answer in private, with who gave it', () => {
  const story = createStory();
  ask(story, 'which port?');
  story.do(hana, close({ outcome: 'answered', note: '8080' }));
  const said = story.events.findLast(({ type }) => type === 'message.sent');
  expect(said).toMatchObject({ channel: 'sox/to/ada', actor: 'hana', as: 'human/standard' });
  expect(JSON.parse((said as { body: string }).body)).toEqual({
    ...{ event: 'docket_answered', item_id: 'd1', outcome: 'answered', by: 'hana', note: '8080' },
    questions: [{ subject: 'q1', text: 'which port?', thread: null }],
  });
  expect(story.world.agents.get('ada')?.ready.size).toBe(1);
});

test('[DK7] a managed agent wakes for the answer of a person, whatever its wake rule', () => {
  const story = createStory();
  const wake = { channels: ['jobs'], from: null, kinds: null, minTier: null };
  const runner = { runner: '{"kind":"outside"}', runnerKind: 'outside' };
  const config = { ...runner, wake, limits: {}, session: 'resume' } as const;
  ask(story, 'which port?');
  story.do(hana, { type: 'agent.manage', agent: 'ada', config });
  story.do(hana, close({ outcome: 'answered', note: '8080' }));
  story.pass(1_000);
  expect(story.events.map(({ type }) => type)).toContain('turn.due');
});
