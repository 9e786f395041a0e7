/**
 * Actors at gates and at the docket: agents ask, use and try to decide, people decide with and without a
 * proof, take and close what waits for them, and come and go. What they are told is held against what
 * is stored.
 */
import { isRefusal } from '../core/law/decider.ts';
import type { Principal } from '../core/law/principal.ts';
import type { Command } from '../core/law/world.ts';
import { ADA, MIA, ROOT, TOM } from './persons.ts';
import type { Stage } from './stage.ts';
import { createPrincipal } from './story.ts';
import type { Supervisors } from './supervisors.ts';

type Cast = readonly [by: Principal, credential: string];
const AGENTS: readonly Cast[] = [
  [ADA, 'owner'],
  [createPrincipal('bob'), 'token b'],
  [createPrincipal('max'), 'token x'],
  [createPrincipal('zed'), 'token z'],
];
const PEOPLE: readonly Cast[] = [
  [MIA, 'token m'],
  [TOM, 'owner'],
  [ROOT, 'owner'],
];
const PROVED = new Map([
  ['mia', 'mia'],
  ['tom', 'tom'],
  ['root', 'mia'],
]);
const HASHES = [null, null, null, 'a'.repeat(64), 'b'.repeat(64)];

export interface Gatekeepers {
  act(): void;
}

export function createGatekeepers(stage: Stage, supervisors: Supervisors): Gatekeepers {
  const { chance, gates, docket } = stage;

  function submit(
    by: Principal,
    name: string,
    command: Record<string, unknown>,
    onYes: () => void = () => {},
  ): void {
    stage.begin(`${by.id} ${name}`, async (hub) => {
      const answer = (await hub.submit({ ...command, by, at: hub.stamp() } as Command)) as object;
      stage.learn();
      if (!isRefusal(answer ?? {})) onYes();
      else if ('refused' in answer && answer.refused === 'internal')
        stage.fail(JSON.stringify(answer));
    });
  }

  const came = ([{ id }, credential]: Cast) => ({
    credential,
    person: chance.isLikely(0.7) ? (PROVED.get(id) ?? null) : chance.pick(['mia', 'tom', null]),
  });
  /** Mostly one in that state, now and then any. */
  const someGate = (state: string): string => {
    const all = [...gates.gates.keys()];
    const such = all.filter((id) => gates.gates.get(id)?.state === state);
    return chance.pick(such.length > 0 && chance.isLikely(0.8) ? such : [...all, 'g1']);
  };

  function ask(): void {
    const [by, credential] = chance.pick([...AGENTS, ...AGENTS, ...PEOPLE]);
    const run = chance.isLikely(0.5) ? supervisors.runOf(by.id) : undefined;
    submit(run === undefined ? by : { ...by, turn: run }, `asks in ${run?.id}`, {
      ...{ type: 'gate.ask', action: 'do', subject: chance.pick(['x', 'y', 'z']), credential },
      ...{ kinds: [], names: [], count: chance.pick([1, 1, 2]), thread: chance.pick([null, 't']) },
      ...{ payloadHash: chance.pick(HASHES), policy: null, isKept: chance.isLikely(0.3) },
      ...{ tier: chance.pick([1, 2]), turn: run?.id ?? null },
      deadlineMs: chance.pick([1000, 5000, 60_000, null]),
    });
  }

  function decide(): void {
    const cast = chance.pick([...PEOPLE, ...PEOPLE, ...PEOPLE, ...AGENTS]);
    const [by] = cast;
    const id = someGate('pending');
    const decision = chance.pick(['approve', 'approve', 'approve', 'deny']);
    const wish = { type: 'gate.decide', id, decision, reason: 'because', payloadHash: null };
    submit(by, `says ${decision} to ${id}`, { ...wish, ...came(cast) }, () => {
      if (by.kind === 'agent') stage.fail(`${by.id}, an agent, decided ${id}`);
    });
  }

  function use(): void {
    const id = someGate(chance.pick(['approved', 'approved', 'consumed']));
    const { asker, hash = null } = gates.gates.get(id) ?? {};
    const [by] = [...AGENTS, ...PEOPLE].find(([one]) => one.id === asker) ?? chance.pick(AGENTS);
    const payloadHash = chance.isLikely(0.8) ? hash : chance.pick(HASHES);
    submit(by, `uses ${id}`, { type: 'gate.consume', id, payloadHash, policy: null }, () => {
      if (gates.gates.get(id)?.state !== 'consumed') stage.fail(`${id} is used and not stored`);
    });
  }

  function withdraw(): void {
    const [by] = chance.pick([...AGENTS, ...PEOPLE]);
    submit(by, 'withdraws', { type: 'gate.withdraw', id: someGate('pending'), reason: null });
  }

  function people(): void {
    const [by] = chance.isLikely(0.8) ? [ROOT] : chance.pick([...PEOPLE, ...AGENTS]);
    const name = chance.pick(['mia', 'tom']);
    const isThere = gates.persons.has(name);
    if (isThere && chance.isLikely(0.7)) return decide();
    const type = isThere ? 'person.remove' : 'person.add';
    const person = chance.pick([...gates.persons, null]);
    submit(by, `${type} ${name}`, { type, name, verifier: 'v', credential: 'owner', person });
  }

  function configure(): void {
    const change = { gateProof: chance.pick(['none', null, null]) };
    submit(ROOT, `wants proof ${change.gateProof}`, {
      ...{ type: 'space.configure', change },
      came: { credential: 'owner', person: chance.pick(['mia', 'tom']) },
    });
  }

  /** Who asked is gone, and comes back as another when it speaks again. */
  function remove(): void {
    if (!chance.isLikely(0.2)) return raise();
    submit(ROOT, 'removes zed', { type: 'agent.remove', agent: 'zed', isForced: true });
  }

  function raise(): void {
    const [by] = chance.pick(AGENTS);
    const text = chance.pick(['which?', 'why?', 'when?']);
    const forMs = chance.pick([null, null, 2000]);
    submit(by, `raises ${text}`, { type: 'docket.raise', text, to: null, thread: null, forMs });
  }

  function takeItem(): void {
    const [by] = chance.pick([...PEOPLE, ...PEOPLE, ...AGENTS]);
    const id = chance.pick([...docket.open, 1]);
    const isForced = chance.isLikely(0.2);
    submit(by, `takes d${id}`, { type: 'docket.take', id, isForced }, () => {
      if (!docket.wasTaken(id, by.id)) stage.fail(`${by.id} was told it has d${id}`);
    });
  }

  function close(): void {
    const [by] = chance.pick([...PEOPLE, ...PEOPLE, ...AGENTS]);
    const id = chance.pick([...docket.open, 1]);
    const outcome = chance.pick(['answered', 'done', 'dismissed']);
    const wish = { type: 'docket.close', id, subject: null, outcome, note: 'so' };
    submit(by, `closes d${id} ${outcome}`, wish, () => {
      if (by.kind === 'agent') stage.fail(`${by.id}, an agent, closed d${id}`);
    });
  }

  const acts = [
    ...[ask, ask, ask, decide, decide, decide, decide, use, use, use],
    ...[
      withdraw,
      people,
      people,
      configure,
      remove,
      raise,
      raise,
      takeItem,
      takeItem,
      close,
      close,
    ],
  ];
  return { act: () => chance.pick(acts)() };
}
