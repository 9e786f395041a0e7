/**
 * Actors that run workflows: starters, two executors of which each may stop at any point and go on later, under
 * an epoch that may be over; people who cancel, retry, fork and answer; and an agent that has no business here.
 * What they are told is held against what is stored.
 */
import { isRefusal } from '../core/law/decider.ts';
import type { Principal } from '../core/law/principal.ts';
import type { Command } from '../core/law/world.ts';
import type { RunEntry, WaitAsked } from '../core/workflows/run-events.ts';
import { isOver, type RunState } from '../core/workflows/run-state.ts';
import { ADA, MIA } from './persons.ts';
import { FORCED, type RunModel } from './run-model.ts';
import type { Venue } from './simulated-process.ts';
import type { Stage } from './stage.ts';
import { createPrincipal } from './story.ts';

const EXECUTORS: readonly Principal[] = [
  createPrincipal('box', { tier: 'trusted' }),
  createPrincipal('bay', { tier: 'trusted' }),
];
const STRANGER = createPrincipal('eve');
const STARTERS: readonly Principal[] = [ADA, createPrincipal('bob')];
const WORKFLOWS = ['land', 'review'];
const STEPS = ['one', 'two', 'three', 'four'];
const ERROR = { name: 'Error', message: 'it failed', terminal: false };
const QUEUE = { concurrency: 3, perKey: 1, perAgent: 2, rate: null, executors: [] };

/** A run that an executor was told it has; it may be long over. */
interface Held {
  readonly by: Principal;
  readonly id: string;
  readonly epoch: number;
}

export interface Executors {
  act(): void;
  /** Takes what is ready and ends it, and has what sleeps cancelled. */
  serve(): void;
}

export function createExecutors(stage: Stage, model: RunModel): Executors {
  const { chance } = stage;
  const held: Held[] = [];
  let started = 0;

  function submit(
    by: Principal,
    name: string,
    command: Record<string, unknown>,
    heard: (answer: never) => void = () => {},
  ): void {
    stage.begin(`${by.id} ${name}`, (hub) => said(hub, by, name, command, heard));
  }

  async function said(
    hub: Venue,
    by: Principal,
    name: string,
    command: Record<string, unknown>,
    heard: (answer: never) => void,
  ): Promise<void> {
    const answer = (await hub.submit({ ...command, by, at: hub.stamp() } as Command)) as object;
    stage.learn();
    if (isRefusal(answer)) {
      if (answer.refused === 'internal') stage.fail(answer.message);
      return;
    }
    if (by === STRANGER) stage.fail(`${by.id} ${name}, a stranger`);
    heard(answer as never);
  }

  const someRun = (isWanted: (state: string) => boolean = () => true): string => {
    const ids = [...model.runs.values()].filter(({ state }) => isWanted(state)).map(({ id }) => id);
    return ids.length === 0 ? 'nobody' : chance.pick(ids.slice(-12));
  };

  function start(): void {
    const by = chance.pick(STARTERS);
    const queue = chance.isLikely(0.4) ? 'q' : null;
    const parent =
      chance.isLikely(0.2) && held.length > 0
        ? { id: chance.pick(held).id, step: 'child', key: null }
        : null;
    const id = chance.isLikely(0.9) ? `n${started++}` : someRun();
    submit(by, `starts ${id}`, {
      ...{ type: 'run.start', id, name: chance.pick(WORKFLOWS), version: null, input: started },
      ...{ digest: id, queue, key: queue && chance.pick(['k', 'l', null]), steps: [] },
      ...{ priority: chance.int(-2, 2), delayMs: chance.pick([0, 0, 0, 2000]), parent },
      ...{ dedup: chance.isLikely(0.1) ? 'w' : null, traceparent: null },
    });
  }

  function take(): void {
    const by = chance.isLikely(0.95) ? chance.pick(EXECUTORS) : STRANGER;
    stage.begin(`${by.id} takes`, async (hub) => {
      await takeAt(hub, by, chance.int(1, 3), chance.pick([1000, 3000, 9000]));
    });
  }

  async function takeAt(
    hub: Venue,
    by: Principal,
    limit: number,
    leaseMs: number,
  ): Promise<Held[]> {
    const answer = await hub.submit({
      ...{ type: 'run.take', by, at: hub.stamp(), executor: by.id, limit, leaseMs },
      workflows: WORKFLOWS.map((name) => ({ name, version: null })),
    });
    stage.learn();
    if (isRefusal(answer)) return [];
    if (by === STRANGER && answer.taken.length > 0) stage.fail('a stranger took a run');
    const mine = answer.taken.map(({ id, epoch }) => ({ by, id, epoch }));
    for (const { id, epoch } of mine) {
      if (!model.wasTaken(id, epoch)) stage.fail(`${id} was given at ${epoch}, not stored`);
    }
    held.push(...mine);
    while (held.length > 20) held.shift();
    return mine;
  }

  /** Mostly of those taken last, now and then one that is long over. */
  const someHeld = (): Held | undefined =>
    held.length === 0 ? undefined : chance.pick(chance.isLikely(0.7) ? held.slice(-4) : held);

  function record(): void {
    const one = someHeld();
    if (one === undefined) return take();
    const entries = someEntries();
    const { by, id, epoch } = one;
    const kinds = entries.map(({ kind }) => kind);
    submit(
      by,
      `records ${kinds} of ${id} at ${epoch}`,
      {
        ...{ type: 'run.record', id, epoch, entries },
        leaseMs: chance.pick([null, null, 2000]),
      },
      () => checkTold(one, entries),
    );
  }

  /** What was acknowledged is stored: under this epoch, and once. */
  function checkTold({ id, epoch }: Held, entries: readonly RunEntry[]): void {
    for (const entry of entries) {
      if (entry.kind !== 'completed') continue;
      if (!model.wasCompleted(id, epoch, entry.step)) {
        stage.fail(`${entry.step} of ${id} was acknowledged at ${epoch}, and is not stored`);
      }
    }
  }

  function someEntries(): RunEntry[] {
    const entries: RunEntry[] = [];
    for (let i = chance.int(1, 3); i > 0; i--) entries.push(stepEntry(chance.pick(STEPS)));
    const dice = chance.next();
    if (dice < 0.2) entries.push({ kind: 'released' });
    else if (dice < 0.3)
      entries.push({ kind: 'ended', state: chance.pick(['completed', 'failed']) });
    else if (dice < 0.34) entries.push({ kind: 'stuck', difference: 'a step is gone' });
    else if (dice < 0.4) entries.push({ kind: 'compensate' });
    else if (dice < 0.44) entries.push({ kind: 'ended', state: 'compensation_failed' });
    else if (dice < 0.48) entries.push({ kind: 'ended', state: 'cancelled' });
    return entries;
  }

  function stepEntry(step: string): RunEntry {
    const dice = chance.next();
    if (dice < 0.25) return { kind: 'started', step, policy: 'ask' };
    if (dice < 0.55) return { kind: 'completed', step, result: step };
    if (dice < 0.62) return { kind: 'failed', step, error: ERROR, retryMs: chance.int(0, 3000) };
    if (dice < 0.66) return { kind: 'failed', step, error: ERROR };
    if (dice < 0.7) return { kind: 'skipped', step };
    if (dice < 0.74) return { kind: 'compensated', step };
    if (dice < 0.77) return { kind: 'compensation_failed', step, error: ERROR };
    const timeoutMs = chance.pick([500, 5000]);
    const on = chance.pick<WaitAsked>([
      ...[{ timer: chance.int(0, 4000) }, { signal: 'go' }, { signal: 'go' }, { signal: 'stop' }],
      ...[{ child: someRun() }, { child: someRun() }, { gate: `g${chance.int(1, 6)}` }],
      { answer: 'it may have run' },
    ]);
    const isTimed = !('timer' in on) && chance.isLikely(0.5);
    return { kind: 'waiting', step, on, ...(isTimed && { timeoutMs }) };
  }

  function renew(): void {
    const mine = held.slice(-3);
    if (mine.length === 0) return take();
    const runs = mine.map(({ id, epoch }) => ({ id, epoch }));
    const command = { type: 'run.renew', runs, leaseMs: chance.pick([1000, 4000]) };
    submit(chance.pick(EXECUTORS), `renews ${runs.map(({ id }) => id)}`, command);
  }

  function signal(): void {
    const command = { type: 'run.signal', id: someRun(), name: chance.pick(['go', 'stop']) };
    submit(chance.pick([...STARTERS, MIA]), `signals ${command.id}`, { ...command, value: 1 });
  }

  function cancel(): void {
    const command = {
      type: 'run.cancel',
      id: someRun(),
      reason: chance.pick([null, 'enough']),
      isForced: false,
    };
    submit(ownerOf(command.id), `cancels ${command.id}`, command);
  }

  /** Mostly one who may; the stranger is told apart by what it is answered. */
  const ownerOf = (id: string): Principal => {
    const by = model.runs.get(id)?.by;
    return chance.isLikely(0.8) && by !== undefined
      ? createPrincipal(by)
      : chance.pick([MIA, STRANGER]);
  };

  function retry(): void {
    const id = someRun((state) => /failed|stuck|cancelled/.test(state));
    const step = chance.pick([null, null, ...STEPS]);
    const fromStep = step === null ? null : { step, key: null };
    submit(ownerOf(id), `retries ${id} from ${step}`, { type: 'run.retry', id, fromStep, map: {} });
  }

  function fork(): void {
    const id = someRun();
    const atStep = { step: chance.pick(STEPS), key: null };
    const rest = { newId: chance.pick([null, `f${started++}`]), version: null, input: null };
    submit(ownerOf(id), `forks ${id}`, { type: 'run.fork', id, atStep, ...rest });
  }

  function answer(): void {
    const asked = [...model.runs.values()].flatMap(({ id, waits }) =>
      [...waits].flatMap(([step, { kind }]) => (kind === 'answer' ? [{ id, step }] : [])),
    );
    if (asked.length === 0) return retry();
    const { id, step } = chance.pick(asked);
    const word = { asked: { step, key: null }, answer: chance.pick(['retry', 'fail']) };
    submit(chance.pick([MIA, MIA, STRANGER]), `answers ${id}`, { type: 'run.answer', id, ...word });
  }

  function gate(): void {
    const [box] = EXECUTORS as [Principal];
    const id = `g${chance.int(1, 6)}`;
    if (chance.isLikely(0.4)) {
      return submit(box, `withdraws ${id}`, { type: 'gate.withdraw', id, reason: null });
    }
    submit(box, 'asks', {
      ...{ type: 'gate.ask', action: 'push', subject: 's', tier: 1, kinds: [], names: [] },
      ...{ count: 1, deadlineMs: chance.pick([2000, 60_000]), thread: null, payloadHash: null },
      ...{ policy: null, turn: null, isKept: true, credential: 'token', isAwaited: true },
    });
  }

  const declare = (): void =>
    submit(MIA, 'declares q', { type: 'queue.declare', name: 'q', fields: QUEUE });

  const acts = [
    ...[start, start, start, start, take, take, take, take, take, renew, signal, signal],
    ...[record, record, record, record, record, record, record, record, cancel],
    ...[retry, retry, fork, answer, answer, gate, gate],
  ];
  return {
    act: () => chance.pick(started < 2 ? [declare, start] : acts)(),
    serve() {
      // One that was cancelled and is held is about to end; one that its executor gave back all the same sleeps.
      const asleep = [...model.runs.values()].filter(
        (run) =>
          (run.cancelling === null || run.state === 'stuck' || run.holder === null) &&
          !isOver(run.state as RunState) &&
          !model.isReady(run),
      );
      for (const { id, cancelling, state } of asleep.slice(0, 5)) {
        const isForced = cancelling !== null && state !== 'stuck';
        const reason = isForced ? FORCED : null;
        submit(MIA, `ends ${id}`, { type: 'run.cancel', id, reason, isForced });
      }
      for (const by of EXECUTORS) {
        stage.begin(`${by.id} serves`, async (hub) => {
          for (const { id, epoch } of await takeAt(hub, by, 9, 9000)) {
            const state = model.runs.get(id)?.state === 'compensating' ? 'compensated' : 'failed';
            const end = { type: 'run.record', id, epoch, entries: [{ kind: 'ended', state }] };
            await said(hub, by, `ends ${id}`, { ...end, leaseMs: null }, () => {});
          }
        });
      }
    },
  };
}
