/**
 * Taking a turn that is due, or waiting for one. The secret of its token is made here and told once;
 * the law keeps its hash. A message whose body cannot be read goes to nobody: the turn is handed
 * out with what could be read.
 */
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import { readJson } from '../../core/law/json.ts';
import { messageId } from '../../core/talk/message-id.ts';
import type { TakenTurn } from '../../core/turns/turn-events.ts';
import type { Waking } from '../../core/turns/turn-state.ts';
import { kindOf, tierOf } from '../../core/turns/wake-rule.ts';
import type { Hub } from '../../hub/hub.ts';
import type { TextMessage } from '../../hub/message-store.ts';
import type { OutputOf, ParsedInputOf } from '../../wire/operation.ts';
import type { turnsTake } from '../../wire/operations/turns.ts';
import { checkStanding } from './identity.ts';
import { readInPieces } from './message-page.ts';
import type { Room } from './room.ts';
import { turnView } from './turn-view.ts';

type Input = ParsedInputOf<typeof turnsTake>;
type Output = OutputOf<typeof turnsTake>;

const NOTHING: Output = { turn: null, messages: [], token: null, runner: null, session_ref: null };

export function turnTokenText(space: string, id: string, secret: string): string {
  return `syt_${space}.${id}.${secret}`;
}

export async function takeTurn(room: Room, input: Input): Promise<Output | Refusal> {
  const { hub, by, platform, caller } = room;
  const waitUntil = platform.elapsedMs() + (input.wait_ms ?? 0);
  for (;;) {
    const fallen = await hub.ask((world) => checkStanding(world, caller, hub.stamp()));
    if (fallen !== null) return fallen;
    if (room.signal?.aborted) return NOTHING;
    const secret = platform.newSecret();
    const taken = await hub.submit({
      ...{ type: 'turn.take', by, at: hub.stamp(), agents: input.agents ?? null },
      ...{ leaseMs: input.lease_ms ?? null, hash: platform.digest(secret) },
      runnerKinds: input.agents === undefined ? ['outside'] : null,
    });
    if (isRefusal(taken)) return taken;
    if (taken !== null) return handOut(room, taken, secret);
    const leftMs = Math.ceil(waitUntil - platform.elapsedMs());
    if (leftMs <= 0 || hub.watch.isEnding) return NOTHING;
    const woken = await hub.watch.due(by.id, leftMs, room.signal);
    if (woken === null) {
      return refuse('limit.reached', 'too many callers wait already; ask without wait_ms');
    }
  }
}

async function handOut(room: Room, taken: TakenTurn, secret: string): Promise<Output | Refusal> {
  const { turn, config, sessionRef } = taken;
  return {
    turn: turnView(turn),
    messages: await givenMessages(room.hub, room.by.id, turn.messages),
    token: turnTokenText(room.caller.space, turn.id, secret),
    runner: readJson(config.runner) as Record<string, unknown>,
    session_ref: sessionRef,
  };
}

/** The messages of a turn with their bodies, for whoever runs it; they are few, and may be large. */
export async function givenMessages(
  hub: Hub,
  agent: string,
  messages: readonly Waking[],
): Promise<Output['messages']> {
  const positions = messages.map(({ position }) => position);
  const given: Output['messages'] = [];
  for await (const piece of readInPieces({ hub, agent }, positions)) {
    for (const message of piece) if (message !== null) given.push(givenMessage(message));
  }
  return given;
}

function givenMessage(message: TextMessage): Output['messages'][number] {
  const { position, channel, by, as = null, at, replyTo } = message;
  const body = readJson(message.body) as Record<string, unknown>;
  return {
    message_id: messageId(position),
    ...{ channel, sender: by, kind: kindOf(as), trust: tierOf(as), body, sent_at: at / 1000 },
    reply_to: replyTo === undefined ? null : messageId(replyTo),
  };
}
