/**
 * Taking runs that are ready, or waiting for one; and in the same wait, news of those that the executor holds: a
 * wait of one has ended, it is to be cancelled, it is not held any more.
 */
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import type { WorldView } from '../../core/law/state.ts';
import { stepsPage } from '../../core/workflows/run-pages.ts';
import type { Wait } from '../../core/workflows/run-state.ts';
import { standing, type TakeAnswer } from '../../core/workflows/take.ts';
import type { OutputOf, ParsedInputOf } from '../../wire/operation.ts';
import type { workflowsTake } from '../../wire/operations/workflows.ts';
import { checkStanding } from './identity.ts';
import { type Budget, createBudget } from './log-page.ts';
import { noteOffers } from './offers.ts';
import type { Room } from './room.ts';
import { factsOf, resolvedOut, runOut, stepsOut } from './run-view.ts';

type Input = ParsedInputOf<typeof workflowsTake>;
type Output = OutputOf<typeof workflowsTake>;
type Taken = Output['runs'][number];
type News = Output['news'][number];

/** How many steps a journal is handed out with; the rest is asked for. */
const JOURNAL_ROWS = 500;
/** The journals of all runs that are handed out in one answer; the others are asked for. */
const JOURNALS_BYTES_MAX = 1024 * 1024;
const NOTHING: Output = { runs: [], news: [] };
const TOO_MANY = refuse('limit.reached', 'too many callers wait already; ask without wait_ms');

export async function takeRuns(room: Room, input: Input): Promise<Output | Refusal> {
  const { hub, by, platform, signal } = room;
  noteOffers(hub, by, input.workflows);
  const waitUntil = platform.elapsedMs() + input.wait_ms;
  for (;;) {
    if (signal?.aborted) return NOTHING;
    const fallen = await hub.ask((world) => checkStanding(world, room.caller, hub.stamp()));
    if (fallen !== null) return fallen;
    const taken = await take(room, input);
    if (isRefusal(taken)) return taken;
    const leftMs = Math.ceil(waitUntil - platform.elapsedMs());
    const isLast = taken.taken.length > 0 || leftMs <= 0 || hub.watch.isEnding;
    // Looked at and listened for in one go: what came meanwhile would wake nobody.
    const seen = await hub.ask((world) => {
      const news = input.holding.flatMap((one) => newsOf(world, by.id, one));
      const isStirred = world.workflows.stirred !== taken.stirred;
      if (isLast || isStirred || news.length > 0) return { news, isStirred, come: null };
      const nextMs = taken.nextAt === null ? leftMs : Math.max(1, taken.nextAt - hub.stamp());
      return { news, isStirred, come: hub.watch.stir(by.id, Math.min(leftMs, nextMs), signal) };
    });
    if (isRefusal(seen)) return seen;
    if (isLast || seen.news.length > 0) return handOut(room, taken, seen.news);
    if (seen.come !== null && (await seen.come) === null) return TOO_MANY;
  }
}

async function take({ hub, by }: Room, input: Input): Promise<TakeAnswer | Refusal> {
  if (input.limit === 0) {
    return hub.ask(({ workflows }) => ({ taken: [], nextAt: null, stirred: workflows.stirred }));
  }
  return hub.submit({
    ...{ type: 'run.take', by, at: hub.stamp(), executor: input.executor, limit: input.limit },
    workflows: input.workflows.map(({ name, version = null }) => ({ name, version })),
    leaseMs: input.lease_ms ?? null,
  });
}

interface Heard extends Omit<News, 'resolved' | 'resolved_next'> {
  readonly waits: readonly Wait[];
  readonly after: string;
}

/** Nothing, when the caller has heard all there is. What is new is told from the start, or a tie would be lost. */
function newsOf(world: WorldView, by: string, one: Input['holding'][number]): Heard[] {
  const { id, epoch } = one;
  const { isHeld: ok, news, cancelling } = standing(world.workflows, by, one);
  const isNew = news > one.news;
  if (ok && !isNew && one.after === undefined) return [];
  const waits = (ok ? (world.workflows.live.get(id)?.waits ?? []) : []) as readonly Wait[];
  return [{ id, epoch, ok, news, cancelling, waits, after: (isNew ? '' : one.after) ?? '' }];
}

async function handOut(
  room: Room,
  { taken }: TakeAnswer,
  heard: readonly Heard[],
): Promise<Output | Refusal> {
  const budgets = { journal: createBudget(JOURNALS_BYTES_MAX), resolved: createBudget() };
  const runs: Taken[] = [];
  for (const { id, epoch } of taken) {
    const given = await give(room, id, epoch, budgets);
    if (isRefusal(given)) return given;
    if (given !== null) runs.push(given);
  }
  const news: News[] = [];
  for (const { waits, after, ...one } of heard) {
    const resolved = await resolvedOut(room, waits, budgets.resolved, after);
    if (isRefusal(resolved)) return resolved;
    news.push({ ...one, ...resolved });
  }
  return { runs, news };
}

/** A run with the first of its journal; null when it was lost again already. */
async function give(
  room: Room,
  id: string,
  epoch: number,
  budgets: { readonly journal: Budget; readonly resolved: Budget },
): Promise<Taken | Refusal | null> {
  const seen = await room.hub.ask((world) => {
    const run = world.workflows.live.get(id);
    if (run === undefined || run.epoch !== epoch) return null;
    return { facts: factsOf(run), page: stepsPage(run, undefined, JOURNAL_ROWS), news: run.news };
  });
  if (seen === null || isRefusal(seen)) return seen;
  const { facts, page, news } = seen;
  const run = await runOut(room, facts);
  const { steps, next } = await stepsOut(room, { epoch }, page, facts.waits, budgets.journal);
  const resolved = await resolvedOut(room, facts.waits, budgets.resolved);
  if (isRefusal(resolved)) return resolved;
  return { run, epoch, news, journal: steps, journal_next: next, ...resolved };
}
