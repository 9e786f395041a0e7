/**
 * The law of work told a second time, slowly and plainly, from nothing but the entries
 * of the log: one live claim a path, epochs that only grow, leases that end neither early
 * nor late, turns that are kept, a plan without a circle, and work that comes back.
 */
import { coversByTrying, everyPath } from './scope-oracle.ts';

export interface ModelClaim {
  readonly id: string;
  owner: string;
  epoch: number;
  worktree: string;
  /** Null covers nothing; none cover everything. */
  paths: readonly string[] | null;
  dueAt: number;
  status: string;
  checkpoint: string | null;
  /** The plan must show its task in progress. */
  startsTask: boolean;
  offeredTo: string | null;
}

// biome-ignore lint/suspicious/noExplicitAny: entries are read as they lie, without the types of core.
type Entry = any;

export interface WorkModel {
  readonly claims: ReadonlyMap<string, ModelClaim>;
  readonly counts: Readonly<Record<string, number>>;
  /** Takes in the next entry; throws when it contradicts what came before. */
  add(event: Entry): void;
  /** Who ever held the claim. */
  holders(id: string): ReadonlySet<string>;
  wasTaken(id: string, epoch: number, by: string): boolean;
  /** The checkpoint a tenure began with. */
  inherited(id: string, epoch: number): string | null;
  /** Throws when something that must have followed by now has not. */
  check(): void;
}

/** The names claimed paths are made of: what two scopes share shows within this depth. */
const PATHS = everyPath(['a', 'b', 'x.ts'], 3);

export function createWorkModel(): WorkModel {
  const claims = new Map<string, ModelClaim>();
  const highest = new Map<string, number>();
  const left = new Map<string, string>();
  const held = new Map<string, Set<string>>();
  const tenures = new Set<string>();
  const keys = new Set<string>();
  const began = new Map<string, string | null>();
  const turns = new Map<number, { agent: string; id: string | null }>();
  const tasks = new Map<string, { dependsOn: readonly string[]; status: string }>();
  const counts: Record<string, number> = {};

  const fail = (why: string): never => {
    throw new Error(why);
  };
  const live = (event: Entry, holder: string): ModelClaim => {
    const claim = claims.get(event.id) ?? fail(`${event.type} of ${event.id}, which nobody holds`);
    if (claim.owner !== holder) {
      fail(`${event.type} of ${event.id} by ${holder}; ${claim.owner} holds it`);
    }
    if (event.type !== 'claim.expired' && event.at >= claim.dueAt) {
      fail(`${event.type} of ${event.id}, which had lapsed before`);
    }
    return claim;
  };
  const own = (claim: ModelClaim, owner: string, epoch: number): void => {
    claim.owner = owner;
    claim.epoch = epoch;
    highest.set(claim.id, epoch);
    held.set(claim.id, (held.get(claim.id) ?? new Set()).add(owner));
    tenures.add(`${claim.id} ${epoch} ${owner}`);
  };
  const rise = (event: Entry): void => {
    const before = highest.get(event.id) ?? 0;
    if (event.epoch <= before) fail(`${event.id} goes from epoch ${before} to ${event.epoch}`);
  };
  const keepTurn = (id: string, agent: string): void => {
    for (const turn of turns.values()) {
      if (turn.id === id && turn.agent !== agent) {
        fail(`${agent} took ${id} in the turn of ${turn.agent}`);
      }
    }
  };

  const told: Record<string, (event: Entry) => void> = {
    'claim.taken'(event) {
      if (claims.has(event.id)) fail(`${event.id} is taken twice`);
      rise(event);
      keepTurn(event.id, event.by);
      const task = tasks.get(event.id);
      const claim: ModelClaim = {
        id: event.id,
        owner: event.by,
        epoch: event.epoch,
        worktree: event.scope?.worktree ?? '',
        paths: event.scope?.paths ?? null,
        dueAt: event.at + event.ttlMs,
        status: 'claimed',
        checkpoint: left.get(event.id) ?? null,
        offeredTo: null,
        startsTask: task !== undefined && !isOver(task.status),
      };
      claims.set(event.id, claim);
      left.delete(event.id);
      began.set(`${event.id} ${event.epoch}`, claim.checkpoint);
      own(claim, event.by, event.epoch);
      checkAlone(claim, event.at);
    },
    'claim.renewed'(event) {
      const claim = live(event, event.by);
      if (event.epoch < claim.epoch) fail(`${event.id} is renewed at an old epoch`);
      own(claim, event.by, event.epoch);
      claim.dueAt = event.at + event.ttlMs;
      if (event.scope !== undefined) {
        claim.worktree = event.scope.worktree;
        claim.paths = event.scope.paths;
      }
      checkAlone(claim, event.at);
    },
    'claim.updated'(event) {
      live(event, event.by).status = event.status;
    },
    'claim.checkpointed'(event) {
      live(event, event.by).checkpoint = event.checkpoint;
    },
    'claim.offered'(event) {
      const { owner } = claims.get(event.id) ?? fail(`${event.id} is offered and not held`);
      // The hub itself takes back what was offered to one that is forgotten.
      live(event, event.to === null ? owner : event.by).offeredTo = event.to;
    },
    'claim.handed-off'(event) {
      const claim = live(event, event.by);
      if (claim.offeredTo !== event.to) fail(`${event.id} went to ${event.to} unoffered`);
      claim.offeredTo = null;
      rise(event);
      began.set(`${event.id} ${event.epoch}`, claim.checkpoint);
      own(claim, event.to, event.epoch);
      claim.dueAt = event.lapsesAt;
      if (event.scope !== undefined) {
        claim.worktree = event.scope.worktree;
        claim.paths = event.scope.paths;
      }
      checkAlone(claim, event.at);
    },
    'claim.released'(event) {
      const claim = live(event, event.owner);
      // What is done needs no one to go on with it.
      if (claim.status === 'done') claim.checkpoint = null;
      end(claim);
    },
    'claim.expired'(event) {
      const claim = live(event, event.owner);
      if (event.at < claim.dueAt) fail(`${event.id} lapsed ${claim.dueAt - event.at} ms early`);
      end(claim);
    },
    'claim.keyed'(event) {
      const key = `${event.by} ${event.command} ${event.key}`;
      if (keys.has(key)) fail(`the key ${key} was used twice`);
      keys.add(key);
    },
    'wait.reserved': (event) => turns.set(event.number, event),
    'wait.ended': (event) => turns.delete(event.number),
    'task.declared'(event) {
      const { id, dependsOn } = event;
      // A task that is declared while it is claimed waits for its holder to move it.
      if (!tasks.has(id)) excuse(id);
      tasks.set(id, { dependsOn, status: tasks.get(id)?.status ?? 'open' });
      if (doesReach(tasks, dependsOn, id)) fail(`${id} waits for itself`);
    },
    'task.updated'(event) {
      const task = tasks.get(event.id) ?? fail(`${event.id} is updated and not on the plan`);
      task.status = event.status;
      if (event.cause !== 'claim') excuse(event.id);
    },
    'task.removed'(event) {
      tasks.delete(event.id);
      excuse(event.id);
    },
  };

  function end(claim: ModelClaim): void {
    claims.delete(claim.id);
    if (claim.checkpoint !== null) left.set(claim.id, claim.checkpoint);
  }

  function excuse(id: string): void {
    const claim = claims.get(id);
    if (claim !== undefined) claim.startsTask = false;
  }

  function checkAlone(claim: ModelClaim, at: number): void {
    for (const other of claims.values()) {
      if (other.owner === claim.owner || other.worktree !== claim.worktree) continue;
      const both = PATHS.find((path) => covers(claim, path) && covers(other, path));
      if (both === undefined) continue;
      const late = other.dueAt <= at ? ', which lapsed' : '';
      fail(`${claim.owner} (${claim.id}) and ${other.owner} (${other.id}${late}) hold ${both}`);
    }
  }

  return {
    claims,
    counts,
    add(event) {
      const tell = told[event.type];
      if (tell === undefined) return;
      counts[event.type] = (counts[event.type] ?? 0) + 1;
      tell(event);
    },
    holders: (id) => held.get(id) ?? new Set(),
    wasTaken: (id, epoch, by) => tenures.has(`${id} ${epoch} ${by}`),
    inherited: (id, epoch) => began.get(`${id} ${epoch}`) ?? null,
    check() {
      for (const [id, { status }] of tasks) {
        if (status === 'in_progress' && !claims.has(id)) fail(`the work of ${id} never came back`);
      }
      for (const { id, owner, status, startsTask } of claims.values()) {
        const shown = tasks.get(id)?.status;
        if (startsTask && status !== 'done' && status !== 'failed' && shown !== 'in_progress') {
          fail(`${owner} holds ${id}, and the plan shows it ${shown}`);
        }
      }
    },
  };
}

function covers({ paths }: ModelClaim, path: string): boolean {
  if (paths === null) return false;
  return paths.length === 0 || paths.some((pattern) => coversByTrying(pattern, path));
}

function isOver(status: string): boolean {
  return status === 'done' || status === 'cancelled';
}

function doesReach(
  tasks: ReadonlyMap<string, { readonly dependsOn: readonly string[] }>,
  from: readonly string[],
  goal: string,
): boolean {
  const seen = new Set<string>();
  const open = [...from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === goal) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...(tasks.get(id)?.dependsOn ?? []));
  }
  return false;
}
