/**
 * A question that was asked for a time is off the docket when that time is up, and its asker hears
 * that nobody answered: silence is no answer, and never a yes [DK7].
 */
import { toChannel } from '../law/name.ts';
import type { World, WorldView } from '../law/state.ts';
import { type MessageSent, serverMessage } from '../talk/message.ts';
import { settleItem } from './docket.ts';
import { itemId } from './docket-state.ts';

export interface DocketLapsed {
  readonly type: 'docket.lapsed';
  readonly at: number;
  readonly agent: string;
  readonly questions: readonly string[];
}

export function lapsedQuestions(
  world: WorldView,
  agent: string,
  at: number,
): (DocketLapsed | MessageSent)[] {
  const questions: string[] = [];
  const items = new Set<string>();
  for (const id of world.docket.agents.get(agent)?.open ?? []) {
    for (const { subject, until } of world.docket.items.get(id)?.subjects.values() ?? []) {
      if (until === null || until > at) continue;
      questions.push(subject);
      items.add(itemId(id));
    }
  }
  if (questions.length === 0) return [];
  const body = {
    ...{ event: 'docket_lapsed', items: [...items], questions },
    remedy: 'no person answered in time, which is no answer; ask again with docket.raise',
  };
  const told = tellAgent(world, agent, body, at);
  return [{ type: 'docket.lapsed', at, agent, questions }, ...told];
}

export function evolveLapsedQuestions(world: World, event: DocketLapsed): void {
  for (const question of event.questions) {
    settleItem(world, event.at, 'question', question, 'lapsed');
  }
}

/** In private, and only where there is somebody to tell. */
function tellAgent(world: WorldView, agent: string, body: object, at: number): MessageSent[] {
  if (!world.agents.has(agent)) return [];
  const text = JSON.stringify(body);
  return [serverMessage(world, toChannel(agent), text, { at, actor: null })];
}
