/**
 * The law of gates told a second time, from nothing but the entries of the log: a gate is opened by
 * people alone, as many as it asks for, before its deadline, and used once, in time, by who asked.
 */

// biome-ignore lint/suspicious/noExplicitAny: entries are read as they lie, without the types of core.
type Entry = any;

interface ModelGate {
  readonly asker: string;
  readonly tier: number;
  readonly hash: string | null;
  readonly count: number;
  readonly deadlineAt: number | null;
  readonly askedAt: number;
  /** The turn with whose end it ends. */
  readonly turn: string | null;
  readonly yes: Set<string>;
  openedAt: number | null;
  state: string;
}

export interface GateModel {
  readonly gates: ReadonlyMap<string, ModelGate>;
  /** Who can prove to be a person. */
  readonly persons: ReadonlySet<string>;
  readonly counts: Readonly<Record<string, number>>;
  /** Takes in the next entry; throws when it contradicts what came before. */
  add(event: Entry): void;
  /** Throws when a gate is open that time or the end of its turn has closed. */
  check(at: number, isOver: (turn: string) => boolean): void;
}

const APPROVAL_MS = 15 * 60_000;

export function createGateModel(people: ReadonlySet<string>): GateModel {
  const gates = new Map<string, ModelGate>();
  const persons = new Set<string>();
  const counts: Record<string, number> = {};
  let isProofNone = false;

  const fail = (why: string): never => {
    throw new Error(why);
  };
  const open = (event: Entry): ModelGate => {
    const gate = gates.get(event.id) ?? fail(`${event.id} was never asked`);
    if (gate.state !== 'pending' && gate.state !== 'approved') {
      fail(`${event.type} of ${event.id}, which is ${gate.state}`);
    }
    return gate;
  };
  const verdict = (event: Entry): ModelGate => {
    const { by, person, proof, at, id } = event;
    const gate = open(event);
    if (gate.state !== 'pending') fail(`${id} was decided twice`);
    if (!people.has(by)) fail(`${id} was decided by ${by}, who is no person`);
    const isProved = proof === 'passphrase' && persons.has(person);
    const isOwner = proof === 'none' && person === null && isProofNone && gate.tier === 1;
    if (!isProved && !isOwner) fail(`${by} decided ${id} and proved nothing`);
    if (by === gate.asker || person === gate.asker) fail(`${by} decided its own ${id}`);
    if (gate.deadlineAt !== null && at >= gate.deadlineAt) fail(`${id} was decided too late`);
    return gate;
  };

  const told: Record<string, (event: Entry) => void> = {
    'person.added': ({ name }) => persons.add(name),
    'person.removed': ({ name }) => persons.delete(name),
    'space.configured'({ settings }) {
      isProofNone = settings.gateProof === 'none';
    },
    'gate.asked'(event) {
      if (gates.has(event.id)) fail(`${event.id} is asked twice`);
      gates.set(event.id, {
        ...{ asker: event.by, tier: event.tier, count: event.deciders.count },
        hash: event.payloadHash,
        ...{ deadlineAt: event.deadlineAt, askedAt: event.at },
        turn: event.isKept ? null : event.turn,
        ...{ yes: new Set(), openedAt: null, state: 'pending' },
      });
    },
    'gate.approved'(event) {
      const gate = verdict(event);
      const who = event.person ?? event.by;
      if (gate.yes.has(who)) fail(`${who} approved ${event.id} twice`);
      gate.yes.add(who);
      if (gate.yes.size < gate.count) return;
      gate.state = 'approved';
      gate.openedAt = event.at;
    },
    'gate.denied'(event) {
      verdict(event).state = 'denied';
    },
    'gate.consumed'(event) {
      const gate = open(event);
      if (gate.openedAt === null) fail(`${event.id} is used and never opened`);
      if (event.by !== gate.asker) fail(`${event.by} used what ${gate.asker} asked`);
      if (event.at >= (gate.openedAt ?? 0) + APPROVAL_MS) fail(`${event.id} is used too late`);
      gate.state = 'consumed';
    },
    'gate.ended'(event) {
      const gate = open(event);
      if (event.state === 'expired' && event.at < (gate.deadlineAt ?? Number.POSITIVE_INFINITY)) {
        fail(`${event.id} expired early`);
      }
      if ((event.state === 'lapsed') !== (gate.state === 'approved')) {
        fail(`${event.id} is ${event.state} and was ${gate.state}`);
      }
      gate.state = event.state;
    },
  };

  return {
    gates,
    persons,
    counts,
    add(event) {
      const tell = told[event.type];
      if (tell === undefined) return;
      const name = event.state === undefined ? event.type : `${event.type} ${event.state}`;
      counts[name] = (counts[name] ?? 0) + 1;
      tell(event);
    },
    check(at, isOver) {
      for (const [id, { state, deadlineAt, openedAt, turn }] of gates) {
        if (state === 'pending' && deadlineAt !== null && deadlineAt <= at) {
          fail(`${id} waits on after its deadline`);
        }
        if (state === 'pending' && turn !== null && isOver(turn)) {
          fail(`${id} waits, and ${turn}, which asked, has ended`);
        }
        if (state === 'approved' && (openedAt ?? 0) + APPROVAL_MS <= at) {
          fail(`${id} is open for too long`);
        }
      }
    },
  };
}
