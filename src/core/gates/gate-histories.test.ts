/**
 * Goal: no gate is opened by anybody but a person, none is used twice, none opens after its end [GT1] [GT2] [GT7].
 * Method: random histories of everybody asking, deciding, using, proving falsely and letting time pass; a
 * referee that knows the events alone, and none of the law's code, reads each of them. `SYNOD_HISTORIES`
 * says how many; 100,000 take ten seconds.
 */
import { expect, test } from 'vitest';
import { createChance } from '../../testing/chance.ts';
import { createPrincipal, createStory, type Story } from '../../testing/story.ts';
import type { Principal } from '../law/principal.ts';
import type { Event } from '../law/world.ts';

const HISTORIES = Number(process.env.SYNOD_HISTORIES ?? 20_000);
const STEPS = 14;
const MINUTE = 60_000;

type Cast = Principal & { readonly credential: string };

const CAST: readonly Cast[] = [
  { ...createPrincipal('ada'), credential: 'owner' },
  { ...createPrincipal('bob'), credential: 'token b' },
  { ...createPrincipal('eye', { kind: 'observer' }), credential: 'token e' },
  { ...createPrincipal('mia', { kind: 'human', tier: 'trusted' }), credential: 'token m' },
  { ...createPrincipal('tom', { kind: 'human', tier: 'owner' }), credential: 'owner' },
  { ...createPrincipal('root', { kind: 'admin', tier: 'owner' }), credential: 'owner' },
];
const KIND = new Map(CAST.map(({ id, kind }) => [id, kind]));
const PROVED = new Map([
  ['mia', 'mia'],
  ['tom', 'tom'],
  ['root', 'mia'],
]);
const HASHES = [null, null, null, 'a'.repeat(64), 'b'.repeat(64)];
const PEOPLE = ['mia', 'tom', 'zoe', 'ada', null];

function tell(seed: number): Story {
  const story = createStory();
  const chance = createChance(seed);
  const gate = () => `g${chance.int(1, 3)}`;
  // Half of those who could, do as they should.
  const came = ({ id, credential }: Cast) => ({
    credential,
    person: chance.isLikely(0.5) ? (PROVED.get(id) ?? null) : chance.pick(PEOPLE),
  });
  const steps: ((by: Cast) => unknown)[] = [
    (by) =>
      story.do(by, {
        type: 'gate.ask',
        ...{ action: 'do', subject: chance.pick(['x', 'y', 'z']), tier: chance.pick([1, 2]) },
        ...{ kinds: [], names: [], count: chance.int(1, 2), thread: null, policy: null },
        ...{ payloadHash: chance.pick(HASHES), turn: null, isKept: false },
        deadlineMs: chance.pick([MINUTE, 20 * MINUTE, null]),
        credential: by.credential,
      }),
    (by) =>
      story.do(by, {
        ...{ type: 'gate.decide', id: gate(), reason: 'because' },
        ...{ payloadHash: null, decision: chance.pick(['approve', 'approve', 'deny']) },
        ...came(by),
      }),
    (by) =>
      story.do(by, {
        type: 'gate.consume',
        ...{ id: gate(), payloadHash: chance.pick(HASHES), policy: null },
      }),
    (by) => story.do(by, { type: 'gate.withdraw', id: gate(), reason: null }),
    (by) => {
      const name = chance.pick(['mia', 'tom', 'zoe']);
      return story.do(by, { type: 'person.add', name, verifier: 'v', ...came(by) });
    },
    (by) =>
      story.do(by, {
        ...{ type: 'person.remove', name: chance.pick(['mia', 'tom', 'zoe']) },
        ...came(by),
      }),
    (by) =>
      story.do(by, {
        ...{ type: 'space.configure', came: came(by) },
        change: { gateProof: chance.pick(['none', null]) },
      }),
    () => story.pass(chance.pick([MINUTE / 2, MINUTE, 10 * MINUTE])),
  ];
  const [ada, bob, , , , root] = CAST as [Cast, Cast, Cast, Cast, Cast, Cast];
  // People are there, somebody asks, and from then on whatever comes.
  for (const [i, name] of ['mia', 'tom'].entries()) {
    const vouched = { credential: 'owner', person: i === 0 ? null : 'mia' };
    story.do(root, { type: 'person.add', name, verifier: 'v', ...vouched });
  }
  for (const by of [ada, bob]) steps[0]?.(by);
  for (let i = 0; i < STEPS; i++) {
    chance.pick(chance.isLikely(0.7) ? steps.slice(1, 3) : steps)(chance.pick(CAST));
  }
  return story;
}

interface Seen {
  readonly asker: string;
  readonly tier: number;
  readonly count: number;
  readonly hash: string | null;
  readonly deadlineAt: number | null;
  readonly yes: Set<string>;
  openedAt: number | null;
  isOver: boolean;
}

/** What is wrong with a history, in words; and how many gates opened and were used in it. */
function judge(events: readonly Event[]): { faults: string[]; opened: number; used: number } {
  const people = new Set<string>();
  const gates = new Map<string, Seen>();
  const faults: string[] = [];
  let [isLess, opened, used] = [false, 0, 0];
  for (const event of events) {
    if (event.type === 'person.added') people.add(event.name);
    if (event.type === 'person.removed') people.delete(event.name);
    if (event.type === 'space.configured') isLess = event.settings.gateProof === 'none';
    if (event.type === 'gate.asked') {
      const { by: asker, tier, deciders, payloadHash: hash, deadlineAt } = event;
      const rest = { count: deciders.count, yes: new Set<string>(), openedAt: null, isOver: false };
      gates.set(event.id, { asker, tier, hash, deadlineAt, ...rest });
    }
    if (!event.type.startsWith('gate.') || event.type === 'gate.asked') continue;
    const word = event as Extract<Event, { readonly id: string }> & { readonly by: string };
    const gate = gates.get(word.id);
    if (gate === undefined) return { faults: [`${word.id} was never asked`], opened, used };
    if (gate.isOver) faults.push(`${word.id} changed after its end: ${word.type}`);
    if (event.type === 'gate.approved' || event.type === 'gate.denied') {
      const { person, by, at, proof } = event;
      const isPerson = person !== null && people.has(person) && proof === 'passphrase';
      const isOwner = person === null && isLess && gate.tier === 1 && proof === 'none';
      if (!isPerson && !isOwner) faults.push(`${by} decided and proved nothing`);
      if (KIND.get(by) === 'agent' || KIND.get(by) === 'observer') faults.push(`${by} decided`);
      if (by === gate.asker || person === gate.asker) faults.push(`${by} decided its own`);
      if (gate.openedAt !== null) faults.push(`${event.id} was decided twice`);
      if (gate.deadlineAt !== null && at >= gate.deadlineAt)
        faults.push(`${event.id} was too late`);
      if (event.type === 'gate.approved') gate.yes.add(person ?? by);
      if (gate.yes.size >= gate.count) {
        gate.openedAt = at;
        opened++;
      }
    }
    if (event.type === 'gate.consumed') {
      used++;
      if (gate.openedAt === null) faults.push(`${event.id} was used and never opened`);
      else if (event.at >= gate.openedAt + 15 * MINUTE) faults.push(`${event.id} had lapsed`);
      if (event.by !== gate.asker) faults.push(`${event.by} used what ${gate.asker} asked`);
    }
    if (event.type !== 'gate.approved') gate.isOver = true;
  }
  return { faults, opened, used };
}

test(`[GT1] [GT2] [GT7] in ${HISTORIES} random histories no gate is opened but by people, used twice or opened after its end`, () => {
  let [opened, used] = [0, 0];
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const verdict = judge(tell(seed).events);
    if (verdict.faults.length > 0) expect({ seed, ...verdict }).toEqual({ seed, faults: [] });
    opened += verdict.opened;
    used += verdict.used;
  }
  // Much of what was asked was opened and used: the referee had something to look at.
  expect(opened).toBeGreaterThan(HISTORIES / 5);
  expect(used).toBeGreaterThan(HISTORIES / 100);
});

test('[GT1] [GT2] [GT7] the referee notices each of these', () => {
  const at = 1_000_000;
  const asked = {
    ...{ type: 'gate.asked', at, by: 'bob', id: 'g1', credential: 'token b', action: 'do' },
    ...{ subject: 'x', tier: 1, deciders: { kinds: [], names: [], count: 1 }, thread: null },
    ...{ deadlineAt: at + MINUTE, payloadHash: null, policy: null, turn: null, isKept: false },
  } as unknown as Event;
  const mia = { type: 'person.added', at, by: 'root', name: 'mia' } as unknown as Event;
  const word = (wishes: object): Event =>
    ({
      ...{ type: 'gate.approved', at, by: 'root', id: 'g1', person: 'mia', proof: 'passphrase' },
      ...wishes,
    }) as Event;
  const used = { type: 'gate.consumed', at, by: 'bob', id: 'g1' } as Event;
  const cases: readonly (readonly Event[])[] = [
    [mia, asked, word({ by: 'ada' })],
    [asked, word({})],
    [mia, asked, word({ person: null, proof: 'none' })],
    [mia, asked, word({ by: 'bob' })],
    [mia, asked, word({ at: at + MINUTE })],
    [mia, asked, word({}), word({})],
    [mia, asked, used],
    [mia, asked, word({}), { ...used, at: at + 15 * MINUTE } as Event],
    [mia, asked, word({}), used, used],
    [mia, asked, word({}), { ...used, by: 'ada' } as Event],
    [mia, asked, word({ type: 'gate.denied' }), word({})],
  ];
  for (const events of cases) expect(judge(events).faults.length).toBeGreaterThan(0);
  expect(judge([mia, asked, word({}), used]).faults).toEqual([]);
});
