/**
 * Actors of a simulation who mark threads, the way the desk has it done: some may, some are strangers,
 * some name a version they saw before. What is answered is held against what is stored.
 */
import { isRefusal } from '../core/law/decider.ts';
import type { Principal } from '../core/law/principal.ts';
import type { Mark, RootRef } from '../core/threads/mark.ts';
import type { ModelThread } from './mark-model.ts';
import { MIA } from './persons.ts';
import type { Stage } from './stage.ts';

const MARKS: readonly Mark[] = ['close', 'reopen', 'pin', 'unpin', 'resolve', 'unresolve'];
const RECENT = 30;
const MARKED = 4;

/** What the desk reads of a root in the log. */
export function rootRef({ channel, seq, position, by, owners }: ModelThread): RootRef {
  return { channel, seq, position, sender: by, owners };
}

/** As often as not one that was marked before, so that marks meet each other. */
export function pickThread({ chance, model, threads }: Stage): ModelThread | undefined {
  const marked = [...threads.marked].slice(-MARKED);
  if (marked.length > 0 && chance.isLikely(0.5)) return chance.pick(marked);
  const message = chance.pick([...model.messages.slice(-RECENT), null]);
  return message === null ? undefined : threads.threadOf(message.position);
}

export function createMarker(stage: Stage, agents: readonly Principal[]): () => void {
  const { chance, threads } = stage;
  return () => {
    const thread = pickThread(stage);
    if (thread === undefined) return;
    const able = agents.filter(({ id }) => threads.mayMark(thread, id));
    const by = chance.isLikely(0.6) ? chance.pick([...able, MIA]) : chance.pick(agents);
    const { closed, pinned, resolved } = thread.is;
    const changes: readonly Mark[] = [
      ...([closed ? 'reopen' : 'close', pinned ? 'unpin' : 'pin'] as const),
      resolved ? 'unresolve' : 'resolve',
    ];
    const mark = chance.pick(chance.isLikely(0.8) ? changes : MARKS);
    const note = mark === 'close' ? `over, says ${by.id}` : null;
    const expectedVersion = chance.isLikely(0.2) ? thread.marks.length : null;
    const before = thread.marks.length;
    stage.begin(`${by.id} marks ${thread.position} ${mark} at ${expectedVersion}`, async (hub) => {
      const answer = await hub.submit({
        ...{ type: 'thread.mark', by, at: hub.stamp(), root: rootRef(thread) },
        ...{ mark, note, expectedVersion },
      });
      stage.learn();
      const isAble = threads.mayMark(thread, by.id);
      const { position, marks } = thread;
      if (isRefusal(answer)) {
        if (answer.refused === 'mark.not-author' && isAble) {
          stage.fail(`${by.id} may mark ${position}, and was refused`);
        }
        const isStale = expectedVersion !== null && marks.length > before;
        if (answer.refused === 'mark.version' && !isStale) {
          stage.fail(`${by.id} named version ${expectedVersion} of ${position}, and was refused`);
        }
        return;
      }
      if (!isAble) stage.fail(`${by.id}, a stranger, was told that ${position} is marked`);
      if (!answer.isChanged) return;
      const { version, last } = answer.marks;
      if (version <= before || marks[version - 1] !== last) {
        stage.fail(`${position} was marked ${version} at ${last}, its marks are ${marks}`);
      }
    });
  };
}
