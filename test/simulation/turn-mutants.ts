/**
 * Laws of turns, gates and the docket that err, each in one way a real mistake would: what the simulator
 * must notice. Each stands in place of the module that it is exported by.
 */
import type { mustBeDecided } from '../../src/core/docket/docket.ts';
import type { checkDecider } from '../../src/core/gates/decider.ts';
import type { evolveGates } from '../../src/core/gates/gate-evolve.ts';
import type { Channel } from '../../src/core/law/state.ts';
import type { dueTurns } from '../../src/core/turns/due.ts';
import type { wakeManaged } from '../../src/core/turns/pending.ts';
import type { decideFinish } from '../../src/core/turns/turn.ts';

export interface TurnParts {
  mustBeDecided: typeof mustBeDecided;
  checkDecider: typeof checkDecider;
  evolveGates: typeof evolveGates;
  dueTurns: typeof dueTurns;
  wakeManaged: typeof wakeManaged;
  decideFinish: typeof decideFinish;
}

interface TurnMutant {
  readonly path: string;
  mutate(part: TurnParts): Partial<TurnParts>;
}

export const TURN_MUTANTS: Readonly<Record<string, TurnMutant>> = {
  'forgets mail that comes while an agent is busy': {
    path: '../../src/core/turns/pending.ts',
    mutate: (part) => ({
      wakeManaged(world, channel, message, at) {
        const free = [...channel.managed].filter(({ agent }) => agent.managed?.state !== 'busy');
        const value = new Set(free);
        const heard = Object.create(channel, { managed: { value } }) as Channel;
        part.wakeManaged(world, heard, message, at);
      },
    }),
  },
  'wakes an agent by its own words': {
    path: '../../src/core/turns/pending.ts',
    mutate: (part) => ({
      wakeManaged: (world, channel, message, at) =>
        part.wakeManaged(world, channel, { ...message, by: 'somebody' }, at),
    }),
  },
  'begins a second turn when a lease lapses, and lets the first go on': {
    path: '../../src/core/turns/due.ts',
    mutate: (part) => ({
      dueTurns: (world, name, at) =>
        part.dueTurns(world, name, at).map((event) => {
          if (event.type !== 'turn.failed' || event.cause !== 'lapsed') return event;
          return { type: 'turn.retried', at, id: event.id };
        }),
    }),
  },
  'lets a run that is over end the turn': {
    path: '../../src/core/turns/turn.ts',
    mutate: (part) => ({
      decideFinish(world, command) {
        const epoch = world.turns.turns.get(command.id)?.epoch ?? command.epoch;
        return part.decideFinish(world, { ...command, epoch });
      },
    }),
  },
  'lets an agent open a gate': {
    path: '../../src/core/gates/decider.ts',
    mutate: (part) => ({
      checkDecider(world, came, id) {
        if (came.by.kind !== 'agent') return part.checkDecider(world, came, id);
        const [person = null] = world.gates.people.keys();
        const by = { ...came.by, id: person ?? came.by.id, kind: 'human' as const };
        return part.checkDecider(world, { by, credential: 'another', person }, id);
      },
    }),
  },
  'opens a gate after its deadline': {
    path: '../../src/core/gates/gate-evolve.ts',
    mutate: (part) => ({
      evolveGates(world, event) {
        part.evolveGates(world, event);
        const gate = event.type === 'gate.asked' ? world.gates.open.get(event.id) : undefined;
        if (gate === undefined || gate.dueAt === null) return;
        gate.dueAt += 60_000;
        world.gates.due.put(gate);
      },
    }),
  },
  'lets a gate be used twice': {
    path: '../../src/core/gates/gate-evolve.ts',
    mutate: (part) => ({
      evolveGates(world, event) {
        if (event.type !== 'gate.consumed') part.evolveGates(world, event);
      },
    }),
  },
  'lets what must be decided be closed in passing': {
    path: '../../src/core/docket/docket.ts',
    mutate: () => ({ mustBeDecided: () => false }),
  },
};
