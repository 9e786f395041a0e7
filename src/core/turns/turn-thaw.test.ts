/** Turns go on alike after a restart between any two steps, and what is tried again is handed out once. */
import { expect, test } from 'vitest';
import { accepted, createStory, type Story } from '../../testing/story.ts';
import {
  ada,
  finish,
  kim,
  managedOf,
  root,
  taken,
  tell,
  turnAt,
  wes,
} from '../../testing/turn-story.ts';
import { freezeWorld, thawWorld } from '../law/snapshot.ts';
import type { World } from '../law/state.ts';

function restarted(story: Story): Story {
  return createStory(thawWorld(freezeWorld(story.world)) as World, story.at);
}

test('[L3] [TN5] whether a turn read anything is told alike after a restart', () => {
  const story = tell();
  story.send(ada, 'jobs');
  const turn = taken(story);
  const thawed = restarted(story);
  for (const one of [story, thawed]) accepted(finish(one, turn, 'done'));
  expect(turnAt(thawed, turn.turn.id).isFruitless).toBe(true);
  expect(turnAt(thawed, turn.turn.id)).toEqual(turnAt(story, turn.turn.id));
});

test('[L3] [RA12] a person who speaks to a parked agent frees it, restart or not', () => {
  const story = tell();
  story.send(ada, 'jobs');
  accepted(finish(story, taken(story), 'gave_up'));
  story.send(kim, 'jobs');
  const thawed = restarted(story);
  for (const one of [story, thawed]) {
    one.pass(1);
    expect(managedOf(one).state).toBe('waking');
  }
});

test('[R8] [TN11] what the agent has out on a lease is not owed once more when its turn is tried again', () => {
  const story = tell();
  story.send(ada, 'jobs');
  const { turn } = taken(story);
  accepted(story.do(root, { type: 'turn.cancel', id: turn.id, reason: null }));
  expect(story.take(wes, { leaseMs: 5_000 })).toEqual([1]);
  accepted(story.do(kim, { type: 'turn.retry', id: turn.id }));
  expect(story.take(wes)).toEqual([]);
  story.pass(6_000);
  expect(taken(story).turn.messages).toHaveLength(1);
});
