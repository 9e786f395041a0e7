/** Names from when they were free: what has one keeps it, works under it, and can be taken away. */
import { expect, test } from 'vitest';
import { accepted, codeOf, createPrincipal, createStory } from '../../testing/story.ts';
import { evolve } from './world.ts';

const ODD = 'the old "name"\u3164';
const odd = createPrincipal(ODD);
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });
const REST = { epoch: null, idempotency: null };

test('[I15] [C1] what has another name from before keeps it, works under it and can be removed', () => {
  const story = createStory();
  const told = [
    { type: 'message.sent', at: 1, by: ODD, channel: ODD, seq: 1, body: '{}' },
    { type: 'group.created', at: 1, by: ODD, group: `group/${ODD}`, displayName: null },
    { type: 'claim.taken', at: 1, by: ODD, id: ODD, epoch: 1, scope: null, ttlMs: 9e12 },
    { type: 'task.declared', at: 1, by: ODD, id: ODD, title: 't', description: '', dependsOn: [] },
  ];
  const empty = { note: null, git: null, inheritedFrom: null, replayPolicy: null };
  const task = { project: null, suggestedOwner: null, causalParent: null, version: 1 };
  for (const [at, event] of told.entries()) {
    evolve(story.world, { ...empty, ...task, ...event } as never, at);
  }
  const take = { id: ODD, scope: null, ttlMs: null, note: null, git: null };
  accepted(story.do(odd, { type: 'claim.take', ...REST, ...take }));
  accepted(story.trySend(odd, ODD));
  accepted(story.do(odd, { type: 'progress.post', taskId: ODD, kind: 'note', text: 'x' }));
  const release = { id: ODD, evidence: null, isForced: false };
  accepted(story.do(odd, { type: 'claim.release', ...REST, ...release }));
  // Once it is gone, nothing new is called that.
  expect(codeOf(story.do(odd, { type: 'claim.take', ...REST, ...take }))).toBe('claim.id-invalid');
  const done = { id: ODD, status: 'done', suggestedOwner: null, expectedVersion: null } as const;
  accepted(story.do(odd, { type: 'task.update', ...done }));
  accepted(story.do(odd, { type: 'task.remove', id: ODD } as never));
  const group = { type: 'group.remove', group: `group/${ODD}` } as const;
  accepted(story.do(odd, group as never));
  const retire = { type: 'channel.retire', channel: ODD, isForced: true } as const;
  accepted(story.do(root, retire as never));
  const remove = { type: 'agent.remove', agent: ODD, isForced: true, idempotency: null } as const;
  accepted(story.do(root, remove as never));
  expect(story.world.agents.has(ODD)).toBe(false);
});
