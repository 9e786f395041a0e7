/**
 * `state_request`, `board_request`, `manifest_request`, `who_request`: one look at the state,
 * so that its parts agree with each other, cut to what fits into a frame: the newest is kept,
 * and `truncated` says that there is more [SY5]. To plugins each is the operation it amounts to [P24].
 */
import type { WorldView } from '../../../core/law/state.ts';
import type { Operation } from '../../../wire/operation.ts';
import { listAgents } from '../../../wire/operations/channels.ts';
import { claimList } from '../../../wire/operations/claims.ts';
import { cardManifest } from '../../../wire/operations/offers.ts';
import { planBoard } from '../../../wire/operations/plan.ts';
import { type Fields, newestThatFit } from './speech.ts';
import { type Handler, refuseWith, type Turn } from './turn.ts';
import {
  cardObject,
  claimObject,
  liveClaim,
  noteObject,
  offerObject,
  taskObject,
} from './views.ts';

const BYTES_MAX = 900_000;
const AGENTS_BYTES_MAX = 150_000;
const OFFERS_BYTES_MAX = 150_000;
const CLAIMS_BYTES_MAX = 600_000;
const TASKS_BYTES_MAX = 550_000;
const NOTES_BYTES_MAX = 300_000;

export const snapshotFrames: Readonly<Record<string, Handler>> = {
  state_request: (turn) => answer(turn, 'state_snapshot', claimList, stateOf),
  board_request: (turn) => answer(turn, 'board_snapshot', planBoard, boardOf),
  manifest_request: (turn) => answer(turn, 'manifest_snapshot', cardManifest, manifestOf),

  async who_request(turn) {
    const online = turn.online();
    const fields = { online_agents: online, connected_clients: turn.clients };
    const shown = await turn.callAs(listAgents, {}, async () => fields);
    if ('error' in shown) return refuseWith(turn, 'error', shown.error);
    turn.reply('who_snapshot', `${online.length} online`, fields);
  },
};

async function answer(
  turn: Turn,
  type: string,
  operation: Operation,
  look: (world: WorldView, at: number) => Fields,
): Promise<void> {
  const at = turn.hub.stamp();
  const shown = await turn.callAs(operation, {}, () => turn.hub.ask((world) => look(world, at)));
  if ('ok' in shown) return turn.reply(type, type.replace('_', ' '), shown.ok);
  refuseWith(turn, 'error', shown.error);
}

function stateOf(world: WorldView, at: number): Fields {
  const live = [...world.claims.claims.values()].sort((a, b) => a.claimedAt - b.claimedAt);
  const claims = newestThatFit(
    live.flatMap(({ id }) => {
      const found = liveClaim(world, id);
      return found === null ? [] : [claimObject(found.claim, found.hasScope)];
    }),
    CLAIMS_BYTES_MAX,
  );
  const seen = [...world.agents.values()]
    .filter(({ presence }) => presence.beatAt > 0)
    .sort((a, b) => a.presence.beatAt - b.presence.beatAt)
    .map(({ name, presence }) => ({ agent: name, last_seen: presence.beatAt / 1000 }));
  const agents = newestThatFit(seen, AGENTS_BYTES_MAX);
  const offers = [...world.offers.agents.values()]
    .flatMap((mine) => [...mine.values()])
    .sort((a, b) => a.offeredAt - b.offeredAt);
  const resources = newestThatFit(offers.map(offerObject), OFFERS_BYTES_MAX);
  const isCut = claims.isCut || agents.isCut || resources.isCut;
  return {
    snapshot: {
      active_claims: claims.rows.sort(by('task_id')),
      agents: agents.rows.sort(by('agent')),
      resources: resources.rows.sort(by('agent', 'kind', 'name')),
      generated_at: at / 1000,
    },
    ...(isCut && { truncated: true }),
  };
}

function boardOf(world: WorldView): Fields {
  const nodes = [...world.plan.nodes.values()].sort((a, b) => a.task.updatedAt - b.task.updatedAt);
  const tasks = newestThatFit(
    nodes.map(({ task }) => taskObject(task)),
    TASKS_BYTES_MAX,
  );
  const shown = new Set(tasks.rows.map(({ task_id }) => task_id));
  const ready = nodes
    .filter(({ task, unmet }) => task.status === 'open' && unmet === 0 && shown.has(task.id))
    .map(({ task }) => task.id)
    .sort();
  const progress = newestThatFit(world.plan.notes.map(noteObject), NOTES_BYTES_MAX);
  return {
    board: { tasks: tasks.rows.sort(by('task_id')), ready, progress: progress.rows },
    ...((tasks.isCut || progress.isCut) && { truncated: true }),
  };
}

function manifestOf(world: WorldView): Fields {
  const cards = [...world.cards.cards.values()].sort((a, b) => a.advertisedAt - b.advertisedAt);
  const { rows, isCut } = newestThatFit(
    cards.map((card) => cardObject(card.agent, card, card.advertisedAt)),
    BYTES_MAX,
  );
  return { manifest: rows.sort(by('agent')), ...(isCut && { truncated: true }) };
}

function by(...names: readonly string[]): (a: Fields, b: Fields) => number {
  return (a, b) => {
    for (const name of names) {
      const [x, y] = [String(a[name]), String(b[name])];
      if (x !== y) return x < y ? -1 : 1;
    }
    return 0;
  };
}
