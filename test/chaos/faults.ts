/** What is done to servers, nodes and the lines between them, drawn from a seed; each is mended after a while. */
import type { Chance } from '../../src/testing/chance.ts';
import type { ChaosNode, Nodes } from './nodes.ts';
import type { ChaosServer } from './servers.ts';
import type { Cut } from './wire.ts';

export interface Fault {
  /** As a sentence of the run: what, to whom. */
  readonly what: string;
  /** Whom it befalls, so that no two faults are mended by each other. */
  readonly whom: string;
  begin(): Promise<void> | void;
  mend(): Promise<void> | void;
}

export interface World {
  readonly nodes: Nodes;
  readonly servers: readonly ChaosServer[];
  sequencer(): Promise<ChaosServer | null>;
}

type Draw = (world: World, chance: Chance) => Promise<Fault | null>;

const CLOCK_OFF_MS_MAX = 600_000;
export const UPGRADE = 'upgrade';

const FAULTS: Readonly<Record<string, Draw>> = {
  'kill-server': async ({ servers }, chance) => killServer(chance.pick(servers)),
  'kill-sequencer': async ({ sequencer }) => orNull(await sequencer(), killServer),
  'pause-server': async ({ servers }, chance) => pauseServer(chance.pick(servers)),
  'pause-sequencer': async ({ sequencer }) => orNull(await sequencer(), pauseServer),
  'kill-node': async ({ nodes }, chance) => killNode(chance.pick(nodes.all)),
  'kill-leader': async ({ nodes }) => orNull(await nodes.leader(), killNode),
  'pause-node': async ({ nodes }, chance) => pauseNode(chance.pick(nodes.all)),
  'pause-leader': async ({ nodes }) => orNull(await nodes.leader(), pauseNode),
  'cut-node': async ({ nodes }, chance) => {
    const node = chance.isLikely(0.5) ? await nodes.leader() : chance.pick(nodes.all);
    return orNull(node, (one) => cutNode(nodes, one, cutOf(chance)));
  },
  'cut-server': async ({ nodes, servers, sequencer }, chance) => {
    const server = chance.isLikely(0.5) ? await sequencer() : chance.pick(servers);
    const from = chance.isLikely(0.5) ? nodes.all : [chance.pick(nodes.all)];
    return orNull(server, (one) => cutServer(one, from, cutOf(chance)));
  },
  'loss-node': async ({ nodes }, chance) => {
    const node = chance.isLikely(0.5) ? await nodes.leader() : chance.pick(nodes.all);
    return orNull(node, (one) => cutNode(nodes, one, 'loss'));
  },
  'loss-server': async ({ nodes, servers, sequencer }, chance) => {
    const server = chance.isLikely(0.5) ? await sequencer() : chance.pick(servers);
    return orNull(server, (one) => cutServer(one, nodes.all, 'loss'));
  },
  clock: async ({ servers }, chance) => {
    const offMs = chance.int(-CLOCK_OFF_MS_MAX, CLOCK_OFF_MS_MAX);
    return setClock(chance.pick(servers), offMs);
  },
  disk: async ({ nodes }, chance) => fillDisk(chance.pick(nodes.all)),
  [UPGRADE]: async ({ servers }) => orNull(servers.find(({ isOld }) => isOld) ?? null, upgrade),
};

/** Those that every run has; servers are upgraded where they began with another program. */
export const FAULT_NAMES: readonly string[] = Object.keys(FAULTS).filter(
  (name) => name !== UPGRADE,
);

export function drawFault(name: string, world: World, chance: Chance): Promise<Fault | null> {
  return (FAULTS[name] as Draw)(world, chance);
}

function orNull<T>(one: T | null, make: (one: T) => Fault | null): Fault | null {
  return one === null ? null : make(one);
}

function cutOf(chance: Chance): Cut {
  return chance.isLikely(0.5) ? 'hang' : 'reset';
}

function killServer(server: ChaosServer): Fault {
  return {
    ...{ what: `kill -9 of server ${server.name}`, whom: server.name },
    begin: () => server.kill(),
    mend: () => server.start(),
  };
}

export function upgrade(server: ChaosServer): Fault {
  return {
    ...{ what: `upgrade of server ${server.name}`, whom: server.name },
    begin: () => server.retire(),
    mend: () => server.start(),
  };
}

function pauseServer(server: ChaosServer): Fault {
  return {
    ...{ what: `pause of server ${server.name}`, whom: server.name },
    begin: () => server.pause(),
    mend: () => server.resume(),
  };
}

function killNode({ name, nats }: ChaosNode): Fault {
  return {
    ...{ what: `kill -9 of ${name}`, whom: name },
    begin: () => nats.kill(),
    mend: () => nats.launch(),
  };
}

function pauseNode({ name, nats }: ChaosNode): Fault {
  return {
    ...{ what: `pause of ${name}`, whom: name },
    begin: () => nats.pause(),
    mend: () => nats.resume(),
  };
}

function cutNode(nodes: Nodes, node: ChaosNode, how: Cut): Fault {
  return {
    ...{ what: `cut (${how}) of ${node.name} from the other nodes`, whom: 'routes' },
    begin: () => nodes.isolate(node, how),
    mend: () => nodes.mendRoutes(),
  };
}

function cutServer({ name }: ChaosServer, from: readonly ChaosNode[], how: Cut): Fault {
  const whom = from.length === 1 ? (from[0] as ChaosNode).name : 'all nodes';
  const doors = from.flatMap((node) => node.doors.get(name) ?? []);
  return {
    ...{ what: `cut (${how}) of server ${name} from ${whom}`, whom: `doors of ${name}` },
    begin: () => doors.forEach((door) => void door.cut(how)),
    mend: () => doors.forEach((door) => void door.mend()),
  };
}

function setClock(server: ChaosServer, offMs: number): Fault {
  const seconds = Math.round(offMs / 1000);
  return {
    ...{ what: `clock of server ${server.name} off by ${seconds} s`, whom: `clock ${server.name}` },
    begin: () => server.setClock(offMs),
    mend: () => server.setClock(0),
  };
}

/** A node that found its disk full uses it no more until it is started again. */
function fillDisk({ name, nats, disk }: ChaosNode): Fault | null {
  if (disk === null) return null;
  return {
    ...{ what: `full disk of ${name}`, whom: name },
    begin: () => disk.fill(),
    async mend() {
      disk.empty();
      await nats.kill();
      nats.launch();
    },
  };
}
