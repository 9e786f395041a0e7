/**
 * Actors that work: they take, renew, update, hand over, release and wait for claims,
 * with stale epochs and repeated keys as it happens, and declare, move and remove the tasks of
 * a plan. What they are told is held against what is stored; a late holder must be fenced.
 */

import { isRefusal, type Refusal } from '../core/law/decider.ts';
import type { ClaimView } from '../core/work/claim/claim-state.ts';
import type { Scope } from '../core/work/claim/scope.ts';
import { PEOPLE } from './actors.ts';
import { PLAIN_TASK } from './plan-story.ts';
import type { Venue } from './simulated-process.ts';
import type { Stage } from './stage.ts';

const IDS = ['t1', 't2', 't3', 't4', 't5', 't6'];
const SCOPES: readonly (readonly string[])[] = [
  ['a'],
  ['a/b'],
  ['b/*.ts'],
  ['a/**/x.ts'],
  ['{a,b}/x.ts'],
  ['b/a', 'a/a'],
  [],
];

/** What somebody was told it holds; it may be long over. */
interface Tenure {
  readonly id: string;
  readonly by: (typeof PEOPLE)[number];
  readonly epoch: number;
}

interface Keyed {
  readonly by: (typeof PEOPLE)[number];
  readonly id: string;
  readonly key: string;
  readonly scope: Scope | null;
}

export interface Workers {
  act(): void;
}

export function createWorkers(stage: Stage): Workers {
  const { chance, work } = stage;
  const tenures: Tenure[] = [];
  const unanswered = new Set<Keyed>();
  let keyCount = 0;

  function take(): void {
    const again = chance.isLikely(0.2) && unanswered.size > 0;
    const wish: Keyed = again ? chance.pick([...unanswered]) : newWish();
    const { by, id, key, scope } = wish;
    const isKeyed = again || chance.isLikely(0.2);
    if (isKeyed) unanswered.add(wish);
    const ttlMs = chance.isLikely(0.5) ? chance.int(1, 60_000) : 30_000;
    stage.begin(`${by.id} takes ${id} ${scope?.paths} key ${isKeyed && key}`, async (hub) => {
      const answer = await hub.submit({
        type: 'claim.take',
        by,
        at: hub.stamp(),
        id,
        epoch: null,
        scope,
        ttlMs,
        note: null,
        git: null,
        idempotency: isKeyed ? { key, digest: key } : null,
      });
      if (!isRefusal(answer) || answer.refused !== 'store.unknown') unanswered.delete(wish);
      stage.learn();
      if (isRefusal(answer)) return checkLoser(by.id, id, answer);
      const { claim } = answer;
      remember(by, claim);
      if (!work.wasTaken(id, claim.epoch, by.id)) {
        stage.fail(`${by.id} was told it holds ${id} at ${claim.epoch}, which is not stored`);
      }
      if (!answer.isRenewal && claim.checkpoint !== work.inherited(id, claim.epoch)) {
        stage.fail(`${by.id} took ${id} and did not get the checkpoint left there`);
      }
      if (scope !== null && JSON.stringify(claim.scope) !== JSON.stringify(scope)) {
        stage.fail(`${by.id} asked for ${JSON.stringify(scope)} of ${id} and got another scope`);
      }
    });
  }

  function newWish(): Keyed {
    const worktree = chance.pick(['w', 'w', 'v']);
    const hasScope = chance.isLikely(0.85);
    const scope = hasScope ? { worktree, branch: null, paths: chance.pick(SCOPES) } : null;
    return { by: chance.pick(PEOPLE), id: chance.pick(IDS), key: `k${++keyCount}`, scope };
  }

  /** Every loser learns who. */
  function checkLoser(agent: string, id: string, { refused, detail, retryAt }: Refusal): void {
    if (refused !== 'claim.held' && refused !== 'claim.overlap') return;
    const holder = String(detail?.holder);
    const of = refused === 'claim.held' ? id : String(detail?.id);
    if (holder === agent || !work.holders(of).has(holder) || retryAt === undefined) {
      stage.fail(`${agent} lost ${id} and was told ${JSON.stringify(detail)}`);
    }
  }

  function remember(by: Tenure['by'], { id, epoch }: ClaimView): void {
    tenures.push({ id, by, epoch });
    if (tenures.length > 40) tenures.shift();
  }

  /** A claim acted on with the epoch of some tenure, current or not. */
  const inTenure =
    (name: string, run: (hub: Venue, asked: Asked) => Promise<ClaimView | Refusal>) => (): void => {
      if (tenures.length === 0) return take();
      const { by, id, epoch } = chance.pick(chance.isLikely(0.6) ? tenures.slice(-8) : tenures);
      stage.begin(`${by.id} ${name} ${id} at ${epoch}`, async (hub) => {
        const answer = await run(hub, { by, id, epoch, at: hub.stamp(), idempotency: null });
        stage.learn();
        if (isRefusal(answer)) return;
        if (answer.epoch !== epoch) {
          stage.fail(`${by.id} ${name} ${id} at epoch ${epoch}; it was at ${answer.epoch}`);
        }
        const to = PEOPLE.find((one) => one.id === answer.offer?.to);
        if (name === 'offers' && to !== undefined) takeOver(to, answer);
      });
    };

  /** Nobody has it before it was taken, and then at a new epoch. */
  function takeOver(by: Tenure['by'], { id, epoch }: ClaimView): void {
    stage.begin(`${by.id} takes over ${id}`, async (hub) => {
      const wish = { id, epoch: null, scope: null, ttlMs: null, note: null, git: null };
      const at = hub.stamp();
      const answer = await hub.submit({ type: 'claim.take', by, at, ...wish, idempotency: null });
      stage.learn();
      if (isRefusal(answer)) return;
      remember(by, answer.claim);
      if (answer.claim.epoch <= epoch) stage.fail(`${id} was taken over without a new epoch`);
    });
  }

  const renew = inTenure('renews', (hub, asked) =>
    hub.submit({ type: 'claim.renew', ...asked, ttlMs: null }),
  );
  const update = inTenure('updates', (hub, asked) =>
    hub.submit({
      type: 'claim.update',
      ...asked,
      status: chance.pick(['working', 'working', 'input_required', 'done', 'failed', null]),
      note: null,
      dataRef: null,
      expectedVersion: null,
    }),
  );
  const checkpoint = inTenure('checkpoints', (hub, asked) =>
    hub.submit({
      type: 'claim.checkpoint',
      ...asked,
      checkpoint: `at ${asked.at}`,
      expectedVersion: null,
    }),
  );
  const handOff = inTenure('offers', (hub, asked) =>
    hub.submit({
      type: 'claim.hand-off',
      ...asked,
      to: chance.pick(PEOPLE).id,
      ttlMs: null,
      note: null,
    }),
  );
  const release = inTenure('releases', (hub, asked) =>
    hub.submit({ type: 'claim.release', ...asked, evidence: null, isForced: false }),
  );

  function wait(): void {
    const { by, id, scope } = newWish();
    const ttlMs = chance.int(30_000, 90_000);
    stage.begin(`${by.id} waits for ${id}`, async (hub) => {
      await hub.submit({
        type: 'claim.wait',
        by,
        at: hub.stamp(),
        id: chance.isLikely(0.7) ? id : null,
        scope,
        ttlMs,
        idempotency: null,
      });
    });
  }

  function unwait(): void {
    const by = chance.pick(PEOPLE);
    stage.begin(`${by.id} waits no more`, async (hub) => {
      const at = hub.stamp();
      await hub.submit({ type: 'claim.unwait', by, at, wait: null, idempotency: null });
    });
  }

  function declare(): void {
    const by = chance.pick(PEOPLE);
    const id = chance.pick(IDS);
    const dependsOn = IDS.filter(() => chance.isLikely(0.25));
    stage.begin(`${by.id} declares ${id} after ${dependsOn}`, async (hub) => {
      const answer = await hub.submit({
        type: 'task.declare',
        by,
        at: hub.stamp(),
        id,
        ...PLAIN_TASK,
        title: id,
        dependsOn,
      });
      if (isRefusal(answer) && answer.refused === 'internal') stage.fail(answer.message);
    });
  }

  function move(): void {
    const by = chance.pick(PEOPLE);
    const id = chance.pick(IDS);
    const at = (hub: Venue) => ({ by, at: hub.stamp() });
    // Never in progress by word alone: then only a claim can have started a task.
    const status = chance.pick(['open', 'blocked', 'done', 'cancelled'] as const);
    const how = chance.int(0, 3);
    stage.begin(`${by.id} moves ${id} ${how} ${status}`, async (hub) => {
      if (how === 0) await hub.submit({ type: 'task.remove', ...at(hub), id });
      else if (how === 1) {
        const note = { taskId: id, kind: 'note', text: 'on it' } as const;
        await hub.submit({ type: 'progress.post', ...at(hub), ...note });
      } else {
        const rest = { suggestedOwner: null, expectedVersion: null };
        await hub.submit({ type: 'task.update', ...at(hub), id, status, ...rest });
      }
    });
  }

  const acts = [
    take,
    take,
    take,
    take,
    renew,
    update,
    checkpoint,
    handOff,
    release,
    release,
    wait,
    wait,
    unwait,
    declare,
    declare,
    move,
  ];
  return { act: () => chance.pick(acts)() };
}

interface Asked {
  readonly by: (typeof PEOPLE)[number];
  readonly id: string;
  readonly epoch: number;
  readonly at: number;
  readonly idempotency: null;
}
