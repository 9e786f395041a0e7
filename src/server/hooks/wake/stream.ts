/**
 * An agent that waits by itself, as with `synod arm`: its stream has already brought the message, so there
 * is nothing to send. It is given its time before anything else is tried.
 */
import type { HarnessHub } from '../harness-hub.ts';
import type { WakeMeans } from './means.ts';

export function createStreamMeans(hub: HarnessHub): WakeMeans {
  return {
    name: 'stream',
    isFor: ({ space, agent }) => hub.streams(space, agent) > 0,
    attempt: () => Promise.resolve(null),
  };
}
