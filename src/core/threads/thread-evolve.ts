/** What the events of threads and descriptions change. */
import type { World } from '../law/state.ts';
import { type ChannelDescribed, evolveDescribed } from './describe.ts';
import { evolveMarked, type ThreadMarked } from './mark.ts';

export type ThreadEvent = ChannelDescribed | ThreadMarked;

export function evolveThreads(world: World, event: ThreadEvent, position: number): void {
  if (event.type === 'thread.marked') evolveMarked(world, event, position);
  else evolveDescribed(world, event);
}
