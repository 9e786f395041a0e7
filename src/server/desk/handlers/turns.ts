/**
 * Managed agents and turns. A supervisor outside the hub takes turns here with the same commands as
 * the one inside; a turn is handed out with the bodies of its messages and a token of its own.
 */
import { z } from 'zod';
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import type { Principal } from '../../../core/law/principal.ts';
import { parseMessageId } from '../../../core/talk/message-id.ts';
import { managedPage, turnsPage } from '../../../core/turns/turn-pages.ts';
import type { Cost } from '../../../core/turns/turn-state.ts';
import { WAKE_ALWAYS } from '../../../core/turns/wake-rule.ts';
import {
  isRunnerKind,
  RUNNER_KINDS,
  type RunnerSpec,
  runnerChoice,
} from '../../../wire/operations/runner-spec.ts';
import { shape } from '../../../wire/shape.ts';
import { idempotencyOf } from '../idempotency.ts';
import { parseFields } from '../input.ts';
import type { Handlers, Room } from '../room.ts';
import { takeTurn } from '../take-turn.ts';
import { readTools } from '../turn-tools.ts';
import { managedView, turnView } from '../turn-view.ts';

/** One shape for each kind is too much for a list of tools, so that it is looked at here. */
const runnerInput = shape(() => z.object({ runner: runnerChoice() }));

/** What a turn said last may be on its way for so long after its end. */
const LIVELY_MS = 2_000;

export const turnHandlers: Handlers<
  | 'agents.manage'
  | 'agents.unmanage'
  | 'agents.managed'
  | 'turns.list'
  | 'turns.get'
  | 'turns.cancel'
  | 'turns.retry'
  | 'turns.pause'
  | 'turns.resume'
  | 'turns.take'
  | 'turns.renew'
  | 'turns.finish'
> = {
  async 'agents.manage'({ hub, by, platform, caller }, input) {
    const { agent_id: agent, session, limits, wake } = input;
    const runner = await runnerFor(platform, caller, input.runner);
    if (isRefusal(runner)) return runner;
    const tools = input.tools == null ? null : readTools(input.tools);
    if (isRefusal(tools)) return tools;
    const config = {
      ...(tools !== null && { tools }),
      ...{ runner: JSON.stringify(runner), runnerKind: runner.kind, session },
      limits: limits ?? {},
      wake: {
        ...WAKE_ALWAYS,
        ...(wake?.channels != null && { channels: wake.channels }),
        ...(wake?.from != null && { from: wake.from }),
        ...(wake?.kinds != null && { kinds: wake.kinds }),
        ...(wake?.min_tier != null && { minTier: wake.min_tier }),
      },
    };
    const at = hub.stamp();
    const answer = await hub.submit({ type: 'agent.manage', by, at, agent, config });
    if (isRefusal(answer)) return answer;
    return hub.ask((world) => {
      const managed = world.turns.agents.get(agent);
      return managed === undefined
        ? refuse('agent.not-managed', `${agent} was left to itself meanwhile`)
        : managedView(managed, at);
    });
  },

  async 'agents.unmanage'({ hub, by, platform }, input) {
    const { agent_id: agent } = input;
    const idempotency = idempotencyOf(platform, input);
    const at = hub.stamp();
    const answer = await hub.submit({ type: 'agent.unmanage', by, at, agent, idempotency });
    return isRefusal(answer) ? answer : { agent_id: agent, unmanaged: true };
  },

  async 'agents.managed'({ hub, by }, { state, after, limit }) {
    const agent = isPerson(by) ? undefined : by.id;
    const at = hub.stamp();
    return hub.ask((world) => {
      const page = managedPage(world.turns, { agent, state, after, limit });
      return { agents: page.rows.map((one) => managedView(one, at)), next: page.next };
    });
  },

  async 'turns.list'({ hub, by }, { agent_id, state, after, limit }) {
    const agent = isPerson(by) ? agent_id : by.id;
    if (agent_id !== undefined && agent_id !== agent) return notYours();
    return hub.ask((world) => {
      const page = turnsPage(world.turns, { agent, state, after, limit });
      return { turns: page.rows.map(turnView), next: page.next };
    });
  },

  async 'turns.get'(room, { turn_id }) {
    const turn = await turnOf(room, turn_id);
    if (isRefusal(turn)) return turn;
    const { hub, platform } = room;
    const isLively = turn.state === 'busy' || hub.stamp() - (turn.ended_at ?? 0) * 1000 < LIVELY_MS;
    const said = (await platform.turns?.tail(hub.space, turn_id, isLively)) ?? [];
    return { ...turn, output: said.map((line) => ({ ...line, at: line.at / 1000 })) };
  },

  async 'turns.cancel'(room, input) {
    const { hub, by, platform } = room;
    const { turn_id: id, reason = null } = input;
    const idempotency = idempotencyOf(platform, input);
    const at = hub.stamp();
    const answer = await hub.submit({ type: 'turn.cancel', by, at, id, reason, idempotency });
    return isRefusal(answer) ? answer : turnOf(room, id);
  },

  async 'turns.retry'(room, input) {
    const { hub, by, platform } = room;
    const { turn_id: id } = input;
    const idempotency = idempotencyOf(platform, input);
    const answer = await hub.submit({ type: 'turn.retry', by, at: hub.stamp(), id, idempotency });
    return isRefusal(answer) ? answer : turnOf(room, id);
  },

  async 'turns.pause'({ hub, by }, input) {
    const agent = oneOrAll(input);
    if (isRefusal(agent)) return agent;
    const { reason = null } = input;
    const at = hub.stamp();
    const answer = await hub.submit({ type: 'agent.pause', by, at, agent: agent.name, reason });
    return isRefusal(answer) ? answer : { paused: [...answer.agents] };
  },

  async 'turns.resume'({ hub, by }, input) {
    const agent = oneOrAll(input);
    if (isRefusal(agent)) return agent;
    const at = hub.stamp();
    const answer = await hub.submit({ type: 'agent.resume', by, at, agent: agent.name });
    return isRefusal(answer) ? answer : { resumed: [...answer.agents] };
  },

  'turns.take': takeTurn,

  async 'turns.renew'(room, input) {
    const { hub, by } = room;
    const { turn_id: id, epoch, lease_ms: leaseMs = null, pid = null, transcript = null } = input;
    const answer = await hub.submit({
      ...{ type: 'turn.renew', by, at: hub.stamp(), id, epoch, leaseMs, pid, transcript },
      cost: costOf(input.cost),
    });
    return isRefusal(answer) ? answer : turnView(answer.turn);
  },

  async 'turns.finish'(room, input) {
    const { hub, by, platform } = room;
    const { turn_id: id, epoch, outcome, output = null, note = null } = input;
    const { session_ref: sessionRef = null, quota } = input;
    const consumed = positionsOf(input.consumed ?? null);
    if (consumed !== 'all' && isRefusal(consumed)) return consumed;
    const answer = await hub.submit({
      ...{ type: 'turn.finish', by, at: hub.stamp(), id, epoch, outcome, output, note },
      ...{ sessionRef, consumed, cost: costOf(input.cost), isRestart: false },
      quota:
        quota == null
          ? null
          : { kind: quota.kind, until: quota.until == null ? null : quota.until * 1000 },
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : turnOf(room, id);
  },
};

async function runnerFor(
  platform: Room['platform'],
  caller: Room['caller'],
  said: string | Record<string, unknown>,
): Promise<RunnerSpec | Refusal> {
  if (typeof said === 'object' && !isRunnerKind(said.kind)) {
    const message = `a runner is one of ${RUNNER_KINDS.join(', ')}`;
    const violations = [{ field: 'runner.kind', issue: 'is no kind of runner' }];
    return refuse('runner.unknown', message, { violations });
  }
  const parsed = parseFields('agents_manage', runnerInput(), { runner: said });
  if (isRefusal(parsed)) return parsed;
  const { runner: choice } = parsed.value;
  if (!caller.isOwner && !isHarmless(choice)) return notOwners();
  if (platform.checkRunner !== undefined) return platform.checkRunner(choice);
  if (typeof choice !== 'string') return choice;
  return refuse('runner.unknown', `no runner is called ${JSON.stringify(choice)} here`, {
    violations: [{ field: 'runner', issue: 'names no runner' }],
  });
}

/**
 * What a runner starts, reads and reaches it does as the hub's user, who owns every space; a token is
 * of one. It chooses what the owner wrote down, or what starts nothing [RU22].
 */
function isHarmless(choice: string | RunnerSpec): boolean {
  if (typeof choice === 'string' || choice.kind === 'outside') return true;
  return choice.name !== undefined || (choice.kind === 'rule' && choice.cwd === undefined);
}

function notOwners(): Refusal {
  const issue =
    'is one of the configuration file by its name, or rule without cwd, or outside; the rest is for the owner’s credential';
  return refuse('access.denied', `runner ${issue}`, { violations: [{ field: 'runner', issue }] });
}

async function turnOf(
  { hub, by }: Room,
  id: string,
): Promise<ReturnType<typeof turnView> | Refusal> {
  return hub.ask((world) => {
    const turn = world.turns.turns.get(id);
    // Whose turn it is is nobody else's to learn.
    if (turn !== undefined && (isPerson(by) || turn.agent === by.id)) return turnView(turn);
    return refuse(
      'turn.not-found',
      `there is no turn ${id} that you may see; turns.list shows them`,
    );
  });
}

function oneOrAll(input: {
  readonly agent_id?: string | undefined;
  readonly all?: boolean | undefined;
}): { readonly name: string | null } | Refusal {
  const { agent_id: name = null, all = false } = input;
  if ((name !== null) !== all) return { name };
  const issue = 'name one agent, or say all';
  return refuse('input.invalid', `agent_id: ${issue}`, {
    violations: [{ field: 'agent_id', issue }],
  });
}

function positionsOf(
  consumed: 'all' | readonly string[] | null,
): 'all' | number[] | null | Refusal {
  if (consumed === null || consumed === 'all') return consumed;
  const positions = consumed.map(parseMessageId);
  if (positions.every((position) => position !== null)) return positions;
  const issue = 'names messages by their ids';
  return refuse('input.invalid', `consumed ${issue}`, {
    violations: [{ field: 'consumed', issue }],
  });
}

function costOf(
  cost:
    | { usd?: number | undefined; tokens_in?: number | undefined; tokens_out?: number | undefined }
    | null
    | undefined,
): Cost | null {
  if (cost == null) return null;
  return { usd: cost.usd ?? 0, tokensIn: cost.tokens_in ?? 0, tokensOut: cost.tokens_out ?? 0 };
}

function isPerson({ kind }: Principal): boolean {
  return kind === 'admin' || kind === 'human';
}

function notYours(): Refusal {
  return refuse('access.denied', 'an agent sees its own turns; those of others are for people');
}
