/** What belongs to which trace, where messages, turns and what is said in them meet. */
import { expect, test } from 'vitest';
import type { Story } from '../../testing/story.ts';
import { ada, finish, taken, tell, turnAt, wes } from '../../testing/turn-story.ts';
import type { MessageSent } from '../talk/message.ts';

const ONE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const OTHER = '00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01';
const TAKER = '00-11111111111111111111111111111111-2222222222222222-00';

const lastSaid = ({ events }: Story): MessageSent =>
  events.findLast((event) => event.type === 'message.sent') as MessageSent;

test('[TL10] what is said in a turn belongs to its trace, unless it says another', () => {
  const story = tell();
  story.send(ada, 'jobs', { trace: ONE });
  story.send(ada, 'jobs', { trace: OTHER });
  const run = taken(story, { trace: TAKER });
  const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-2222222222222222-01';
  expect(run.turn.trace).toBe(trace);
  expect(run.turn.messages.map((one) => one.trace)).toEqual([ONE, OTHER]);
  expect(turnAt(story, run.turn.id).trace).toBe(trace);
  const inTurn = { ...wes, turn: { id: run.turn.id, epoch: run.turn.epoch } };
  story.send(inTurn, 'answers');
  expect(lastSaid(story).trace).toBe(trace);
  story.send(inTurn, 'answers', { trace: OTHER });
  expect(lastSaid(story).trace).toBe(OTHER);
  finish(story, run, 'done');
  story.send(wes, 'answers');
  expect(lastSaid(story)).not.toHaveProperty('trace');
});

test('[TL10] a turn that is tried again is another span of the same trace', () => {
  const story = tell();
  story.send(ada, 'jobs', { trace: ONE });
  const first = taken(story, { trace: TAKER });
  finish(story, first, 'failed');
  story.pass(60_000);
  const second = taken(story, { trace: TAKER.replaceAll('2', '3') });
  expect(second.turn.id).toBe(first.turn.id);
  expect(second.turn.trace).toBe('00-4bf92f3577b34da6a3ce929d0e0e4736-3333333333333333-01');
});
