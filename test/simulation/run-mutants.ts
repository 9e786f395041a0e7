/** Hubs and laws of runs that err, each in one way a real mistake would: what the simulator must notice. */
import type { mayExecute } from '../../src/core/workflows/access.ts';
import type { mayBegin } from '../../src/core/workflows/lines.ts';
import type { decideRecord } from '../../src/core/workflows/record.ts';
import type { settleRun } from '../../src/core/workflows/run-book.ts';
import type { runsDue } from '../../src/core/workflows/run-due.ts';
import type { freezeWorkflows } from '../../src/core/workflows/run-snapshot.ts';
import type { STEP_WORDS } from '../../src/core/workflows/steps.ts';
import type { onRunOver } from '../../src/core/workflows/waits.ts';
import type { Hub } from '../../src/hub/hub.ts';

interface Parts {
  decideRecord: typeof decideRecord;
  STEP_WORDS: typeof STEP_WORDS;
  mayBegin: typeof mayBegin;
  mayExecute: typeof mayExecute;
  runsDue: typeof runsDue;
  onRunOver: typeof onRunOver;
  settleRun: typeof settleRun;
  freezeWorkflows: typeof freezeWorkflows;
}

interface Mutant {
  readonly path: string;
  mutate(part: Parts): Partial<Parts>;
}

const AT = '../../src/core/workflows';

export const RUN_MUTANTS: Readonly<Record<string, Mutant>> = {
  'lets a stale executor record': {
    path: `${AT}/record.ts`,
    mutate: (part) => ({
      decideRecord(world, command) {
        const run = world.workflows.live.get(command.id);
        const by = { ...command.by, id: run?.heldBy ?? command.by.id };
        return part.decideRecord(world, { ...command, by, epoch: run?.epoch ?? command.epoch });
      },
    }),
  },
  'lets a completed step complete again': {
    path: `${AT}/steps.ts`,
    mutate: (part) => ({
      STEP_WORDS: { ...part.STEP_WORDS, completed: [...part.STEP_WORDS.completed, 'completed'] },
    }),
  },
  'forgets the bounds of queues': {
    path: `${AT}/lines.ts`,
    mutate: () => ({ mayBegin: () => true }),
  },
  'shows runs to strangers': {
    path: `${AT}/access.ts`,
    mutate: () => ({ mayExecute: () => true }),
  },
  'wakes a run before its time': {
    path: `${AT}/run-due.ts`,
    mutate: (part) => ({
      runsDue: (world, at) => [
        ...part.runsDue(world, at),
        ...[...world.workflows.live.values()]
          .filter(({ dueAt }) => dueAt !== null && dueAt > at)
          .slice(0, 1)
          .map(({ id }) => ({ type: 'run.woken', at, ids: [id] }) as const),
      ],
    }),
  },
  'lets a lease lapse too soon': {
    path: `${AT}/run-due.ts`,
    mutate: (part) => ({
      runsDue: (world, at) => [
        ...part.runsDue(world, at),
        ...[...world.workflows.live.values()]
          .filter(({ leaseUntil }) => leaseUntil !== null && leaseUntil > at)
          .slice(0, 1)
          .map(({ id, epoch }) => ({ type: 'run.lapsed', at, id, epoch }) as const),
      ],
    }),
  },
  'does not tell a parent that its child is over': {
    path: `${AT}/waits.ts`,
    mutate: () => ({ onRunOver: () => {} }),
  },
  'forgets signals that were kept when it freezes': {
    path: `${AT}/run-snapshot.ts`,
    mutate: (part) => ({
      freezeWorkflows(book) {
        const live = new Map([...book.live].map(([id, run]) => [id, { ...run, signals: [] }]));
        return part.freezeWorkflows({ ...book, live });
      },
    }),
  },
  'forgets who holds a run when it freezes': {
    path: `${AT}/run-snapshot.ts`,
    mutate: (part) => ({
      freezeWorkflows(book) {
        const live = new Map([...book.live].map(([id, run]) => [id, { ...run, epoch: 0 }]));
        return part.freezeWorkflows({ ...book, live });
      },
    }),
  },
};

export const RUN_HUB_MUTANTS: Readonly<Record<string, (hub: Hub) => Hub>> = {
  'gives a run out that it did not': (hub) => {
    const mutant = Object.create(hub) as Hub;
    mutant.submit = async (command) => {
      const answer = await hub.submit(command);
      if (command.type !== 'run.take' || 'refused' in (answer as object)) return answer;
      return { ...(answer as object), taken: [{ id: 'n0', epoch: 99 }] } as never;
    };
    return mutant;
  },
  'acknowledges a step that it refused': (hub) => {
    const mutant = Object.create(hub) as Hub;
    mutant.submit = async (command) => {
      const answer = (await hub.submit(command)) as { readonly refused?: string };
      const isLost = command.type === 'run.record' && answer.refused === 'workflow.stale';
      return (isLost ? { id: '', isHeld: true, news: 0, cancelling: null } : answer) as never;
    };
    return mutant;
  },
};
