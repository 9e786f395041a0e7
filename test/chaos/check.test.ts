/** The checker, shown histories that it must let pass and, one for each kind of fault, histories that it must not. */
import { expect, test } from 'vitest';
import { check } from './check.ts';
import {
  type Act,
  type Done,
  type History,
  type Outcome,
  RUN_STEPS,
  type Told,
} from './history.ts';

/** Acts as they are told here: who, where, what, from when to when, and what came of it. */
type Row = readonly [by: string, at: string, act: Act, from: number, to: number | null, Outcome?];

function historyOf(rows: readonly Row[], readings: Record<string, readonly Told[]> = {}): History {
  const done = rows.map(([by, at, act, from, to, outcome = 'ok'], id): Done => {
    return { id, by, at, act, from, to, outcome };
  });
  const told = Object.entries(readings).map(([server, messages]) => {
    return { server, channel: 'talk', messages };
  });
  return { seed: 1, done, readings: told };
}

const send = (text: string, seq?: number): Act => {
  return { op: 'send', channel: 'talk', text, ...(seq !== undefined && { seq }) };
};
const recv = (...got: Told[]): Act => ({ op: 'recv', channel: 'talk', got, max: 2 });
const take = (epoch?: number): Act => {
  return { op: 'take', key: 'lock', ...(epoch !== undefined && { epoch }) };
};
const release: Act = { op: 'release', key: 'lock' };
const set = (from: string | null, to: string, version?: number): Act => {
  return { op: 'set', key: 'value', from, to, ...(version !== undefined && { version }) };
};
const get = (value: string | null): Act => ({ op: 'get', key: 'value', value });
const begin = (turn: string, epoch: number, ...given: string[]): Act => {
  return { op: 'begin', agent: 'wes', channel: 'talk', max: 20, turn, epoch, given };
};
const finish = (turn: string, epoch: number): Act => ({ op: 'finish', agent: 'wes', turn, epoch });
const decide = (answer: 'approve' | 'deny'): Act => ({ op: 'decide', key: 'g1', answer });
const consume: Act = { op: 'consume', key: 'g1' };
const gate = (state: string): Act => ({ op: 'gate', key: 'g1', state });
const START: Act = { op: 'start', run: 'r1' };
const hold = (epoch: number): Act => ({ op: 'hold', run: 'r1', epoch });
const step = (name: string, value: string, epoch = 1): Act => {
  return { op: 'step', run: 'r1', epoch, step: name, value };
};
const journal = (...values: string[]): Act => {
  const steps = values.map((value, i) => ({ step: RUN_STEPS[i] ?? '', value }));
  const state = values.length < RUN_STEPS.length ? 'running' : 'completed';
  return { op: 'journal', run: 'r1', state, steps };
};
const RAN: readonly Row[] = [
  ['sue', 'a', START, 0, 1],
  ['sue', 'a', hold(1), 1, 2],
  ['sue', 'a', step('fetch', 'x1'), 2, 3],
  ['sue', 'b', step('build', 'x2'), 3, null, 'unknown'],
  // Its lease lapses; another goes on where the journal ends, and the first comes late.
  ['tom', 'b', hold(2), 7, 8],
  ['sue', 'b', step('ship', 'x3'), 8, 9, 'fail'],
  ['tom', 'b', step('ship', 'y3', 2), 9, 10],
];
const [ONE, TWO] = [
  { text: 'one', seq: 1 },
  { text: 'two', seq: 2 },
] as const;
const SENT: readonly Row[] = [
  ['ada', 'a', send('one', 1), 0, 1],
  ['bob', 'b', send('two', 2), 2, 3],
];
const ALIKE = { a: [ONE, TWO], b: [ONE, TWO] };
const BEGUN: Row = ['sue', 'a', begin('t1', 1, 'one'), 1, 2];
const OVER: readonly Row[] = [BEGUN, ['sue', 'a', finish('t1', 1), 3, 4]];

test('[CH1] a history in which all went well passes, with answers that were lost and acts that were refused', () => {
  const rows: Row[] = [
    ...SENT,
    ['eve', 'a', send('maybe'), 2.5, null, 'unknown'],
    ['eve', 'a', send('no'), 4, 5, 'fail'],
    ['cy', 'c', recv(ONE), 1, 2],
    ['cy', 'a', recv(TWO), 4, 5],
    ['dot', 'a', recv(ONE), 4, 5],
    ['dot', 'a', recv(), 6, null, 'unknown'],
    ['ada', 'a', take(1), 0, 1],
    ['bob', 'b', take(), 2, 3, 'fail'],
    ['ada', 'c', release, 3, null, 'unknown'],
    ['bob', 'b', take(2), 4, 5],
    ['ada', 'a', set(null, 'x', 7), 0, 2],
    ['bob', 'b', set(null, 'y'), 1, 3, 'fail'],
    ['bob', 'b', set('x', 'y'), 4, null, 'unknown'],
    ['ada', 'a', get('x'), 5, 6],
    ['ada', 'a', get('y'), 7, 8],
  ];
  expect(check(historyOf(rows, ALIKE))).toEqual([]);
});

test('[CH1] turns that lapse and gates whose answers are lost pass', () => {
  const rows: Row[] = [
    ...SENT,
    // The first time lapses; whoever had it comes late and is told so.
    ['sue', 'a', begin('t1', 1, 'one'), 1, 2],
    ['tom', 'b', begin('t1', 2, 'one'), 5, 6],
    ['sue', 'a', finish('t1', 1), 7, 8, 'fail'],
    ['tom', 'b', finish('t1', 2), 7, 9],
    ['sue', 'a', begin('t2', 3, 'two'), 8, 10],
    ['sue', 'a', finish('t2', 3), 11, null, 'unknown'],
    ['ada', 'a', gate('pending'), 0, 1],
    ['mia', 'a', decide('approve'), 2, null, 'unknown'],
    ['mia', 'b', decide('deny'), 3, 4, 'fail'],
    ['ada', 'c', gate('approved'), 5, 6],
    ['ada', 'c', consume, 7, 8],
    ['ada', 'c', consume, 9, 10, 'fail'],
    ['mia', 'a', gate('consumed'), 11, 12],
  ];
  expect(check(historyOf(rows, ALIKE))).toEqual([]);
});

test('[CH1] a run whose executor is overtaken, or hears nothing, passes', () => {
  const rows: Row[] = [...RAN, ['aud', 'a', journal('x1', 'x2', 'y3'), 20, 21]];
  expect(check(historyOf(rows))).toEqual([]);
});

const BAD: readonly [what: string, sentence: string, History][] = [
  [
    'an acknowledged message that is not there',
    'lost: send "two" to talk by bob at b (2.000–3.000 s, acknowledged as 2) is not there at a',
    historyOf(SENT, { a: [ONE] }),
  ],
  [
    'a message that is there twice',
    'twice: send "one" to talk by ada at a (0.000–1.000 s, acknowledged as 1) is there at a as 1 and as 3',
    historyOf(SENT, { a: [ONE, TWO, { text: 'one', seq: 3 }] }),
  ],
  [
    'one that was refused and is there all the same',
    'kept: send "no" to talk by eve at c (4.000–5.000 s, refused) is there at a as 3',
    historyOf([...SENT, ['eve', 'c', send('no'), 4, 5, 'fail']], {
      a: [ONE, TWO, { text: 'no', seq: 3 }],
    }),
  ],
  [
    'one that nobody sent',
    'made up: "what" in talk at a was never sent',
    historyOf(SENT, { a: [ONE, TWO, { text: 'what', seq: 3 }] }),
  ],
  [
    'one that lies elsewhere than was said',
    'moved: send "two" to talk by bob at b (2.000–3.000 s, acknowledged as 2) is 1 at a',
    historyOf([SENT[1] as Row], { a: [{ text: 'two', seq: 1 }] }),
  ],
  [
    'servers that tell two orders',
    'order: talk goes on with "one" as 1 at a and with "two" as 1 at b',
    historyOf([], {
      a: [ONE, TWO],
      b: [
        { text: 'two', seq: 1 },
        { text: 'one', seq: 2 },
      ],
    }),
  ],
  [
    'a server that has less than another',
    'order: talk goes on with "two" as 2 at a and with nothing at b',
    historyOf([], { a: [ONE, TWO], b: [ONE] }),
  ],
  [
    'a number that is missing',
    'gap: talk at a has 3 ("two") behind 1 ("one")',
    historyOf(
      [
        ['ada', 'a', send('one', 1), 0, 1],
        ['bob', 'b', send('two', 3), 2, 3],
      ],
      { a: [ONE, { text: 'two', seq: 3 }] },
    ),
  ],
  [
    'an order that the clock denies',
    'order: send "two" to talk by bob at b (2.000–3.000 s, unknown) comes before send "one" to talk by ada at a (0.000–1.000 s, acknowledged as 2)',
    historyOf(
      [
        ['ada', 'a', send('one', 2), 0, 1],
        ['bob', 'b', send('two'), 2, 3, 'unknown'],
      ],
      {
        a: [
          { text: 'two', seq: 1 },
          { text: 'one', seq: 2 },
        ],
      },
    ),
  ],
  [
    'a message that an agent is handed twice',
    'twice: "one" was handed out by recv of talk by cy at a (1.000–2.000 s, got 1) and recv of talk by cy at b (4.000–5.000 s, got 2)',
    historyOf([...SENT, ['cy', 'a', recv(ONE), 1, 2], ['cy', 'b', recv(ONE, TWO), 4, 5]], ALIKE),
  ],
  [
    'messages that an agent is handed in another order',
    'order: recv of talk by cy at b (5.000–6.000 s, got 1) has "one" (1) after "two" (2) of recv of talk by cy at a (4.000–5.000 s, got 1)',
    historyOf([...SENT, ['cy', 'a', recv(TWO), 4, 5], ['cy', 'b', recv(ONE), 5, 6]], ALIKE),
  ],
  [
    'a message that was handed out and is gone',
    'lost: "two", handed out as 2 by recv of talk by cy at a (4.000–5.000 s, got 2), is not there',
    historyOf([SENT[0] as Row, ['cy', 'a', recv(ONE, TWO), 4, 5]], { a: [ONE] }),
  ],
  [
    'a message that never reached an agent, with every answer told',
    'kept back: 1 of talk never reached cy by recv, the first "two" (2), and 0 answers to it were lost',
    historyOf([...SENT, ['cy', 'a', recv(ONE), 4, 5]], ALIKE),
  ],
  [
    'two holders',
    'lock: no order explains take lock by bob at b (2.000–3.000 s, acknowledged) after take lock by ada at a (0.000–1.000 s, acknowledged)',
    historyOf([
      ['ada', 'a', take(), 0, 1],
      ['bob', 'b', take(), 2, 3],
      ['ada', 'a', release, 4, 5],
    ]),
  ],
  [
    'a lock that is refused although it is free',
    'lock: no order explains take lock by bob at b (4.000–5.000 s, refused) after take lock by ada at a (0.000–1.000 s, acknowledged) and release lock by ada at a (2.000–3.000 s, acknowledged)',
    historyOf([
      ['ada', 'a', take(), 0, 1],
      ['ada', 'a', release, 2, 3],
      ['bob', 'b', take(), 4, 5, 'fail'],
    ]),
  ],
  [
    'an epoch that goes back',
    'lock: take lock by bob at b (4.000–5.000 s, acknowledged) has a lower number than take lock by ada at a (0.000–1.000 s, acknowledged) before it',
    historyOf([
      ['ada', 'a', take(5), 0, 1],
      ['ada', 'a', release, 2, 3],
      ['bob', 'b', take(4), 4, 5],
    ]),
  ],
  [
    'two values exchanged for the same one',
    'value: no order explains set value from x to z by bob at b (2.000–5.000 s, acknowledged) after set value from nothing to x by ada at a (0.000–1.000 s, acknowledged) and set value from x to y by ada at a (2.000–3.000 s, acknowledged)',
    historyOf([
      ['ada', 'a', set(null, 'x'), 0, 1],
      ['ada', 'a', set('x', 'y'), 2, 3],
      ['bob', 'b', set('x', 'z'), 2, 5],
    ]),
  ],
  [
    'a value that was overwritten and is told again',
    'value: no order explains get value by bob at b (4.000–5.000 s, told x) after set value from nothing to x by ada at a (0.000–1.000 s, acknowledged) and set value from x to y by ada at a (2.000–3.000 s, acknowledged)',
    historyOf([
      ['ada', 'a', set(null, 'x'), 0, 1],
      ['ada', 'a', set('x', 'y'), 2, 3],
      ['bob', 'b', get('x'), 4, 5],
    ]),
  ],
  [
    'an exchange that is refused although nobody was in the way',
    'value: no order explains set value from nothing to x by ada at a (0.000–1.000 s, refused) at the beginning',
    historyOf([['ada', 'a', set(null, 'x'), 0, 1, 'fail']]),
  ],
  [
    'a version that two values have',
    'value: set value from nothing to x by ada at a (0.000–1.000 s, acknowledged) and set value from x to y by bob at b (2.000–3.000 s, acknowledged) have the same number 7',
    historyOf([
      ['ada', 'a', set(null, 'x', 7), 0, 1],
      ['bob', 'b', set('x', 'y', 7), 2, 3],
    ]),
  ],
  [
    'a turn that two have',
    'turn: handed out twice: begin t1 of wes (epoch 1) by sue at a (1.000–2.000 s, given 1) and begin t1 of wes (epoch 1) by tom at b (3.000–4.000 s, given 1)',
    historyOf([BEGUN, ['tom', 'b', begin('t1', 1, 'one'), 3, 4]]),
  ],
  [
    'a turn that is ended twice',
    'turn: ended twice: finish t1 of wes (epoch 1) by sue at a (3.000–4.000 s, acknowledged) and finish t1 of wes (epoch 2) by tom at b (3.000–4.000 s, acknowledged)',
    historyOf([
      BEGUN,
      ['tom', 'b', begin('t1', 2, 'one'), 2, 5],
      ['sue', 'a', finish('t1', 1), 3, 4],
      ['tom', 'b', finish('t1', 2), 3, 4],
    ]),
  ],
  [
    'a turn that is ended by one who was overtaken',
    'turn: overtaken: finish t1 of wes (epoch 1) by sue at a (5.000–6.000 s, acknowledged) although begin t1 of wes (epoch 2) by tom at b (3.000–4.000 s, given 1) was before it',
    historyOf([
      BEGUN,
      ['tom', 'b', begin('t1', 2, 'one'), 3, 4],
      ['sue', 'a', finish('t1', 1), 5, 6],
    ]),
  ],
  [
    'a turn that goes on after its end',
    'turn: not over: begin t1 of wes (epoch 2) by tom at b (5.000–6.000 s, given 1) after finish t1 of wes (epoch 1) by sue at a (3.000–4.000 s, acknowledged)',
    historyOf([...OVER, ['tom', 'b', begin('t1', 2, 'one'), 5, 6]]),
  ],
  [
    'a message that a turn consumed and another is given',
    'turn: given again: "one" by begin t2 of wes (epoch 2) by tom at b (5.000–6.000 s, given 1) after finish t1 of wes (epoch 1) by sue at a (3.000–4.000 s, acknowledged)',
    historyOf([...OVER, ['tom', 'b', begin('t2', 2, 'one'), 5, 6]]),
  ],
  [
    'an epoch of turns that goes back',
    'turn: begin t2 of wes (epoch 1) by tom at b (3.000–4.000 s, given 1) has a lower epoch than begin t1 of wes (epoch 2) by sue at a (1.000–2.000 s, given 1) before it',
    historyOf([
      ['sue', 'a', begin('t1', 2, 'one'), 1, 2],
      ['tom', 'b', begin('t2', 1, 'two'), 3, 4],
    ]),
  ],
  [
    'a message that begins no turn',
    'turn: kept back: 1 of talk began no turn of wes, the first "two", and 0 answers were lost',
    historyOf([...SENT, BEGUN], ALIKE),
  ],
  [
    'a run that two have',
    'run: handed out twice: hold r1 (epoch 1) by sue at a (1.000–2.000 s, acknowledged) and hold r1 (epoch 1) by tom at b (3.000–4.000 s, acknowledged)',
    historyOf([
      ['sue', 'a', hold(1), 1, 2],
      ['tom', 'b', hold(1), 3, 4],
    ]),
  ],
  [
    'a step that happens twice',
    'run: a step happened twice: fetch of r1 (epoch 1) by sue at a (2.000–3.000 s, acknowledged) and fetch of r1 (epoch 2) by tom at b (11.000–12.000 s, acknowledged)',
    historyOf([...RAN, ['tom', 'b', step('fetch', 'y1', 2), 11, 12]]),
  ],
  [
    'a step by one who was overtaken',
    'run: overtaken: build of r1 (epoch 1) by sue at a (11.000–12.000 s, acknowledged) although hold r1 (epoch 2) by tom at b (7.000–8.000 s, acknowledged) was before it',
    historyOf([...RAN, ['sue', 'a', step('build', 'x2'), 11, 12]]),
  ],
  [
    'a step that a journal lacks',
    'run: lost: fetch of r1 (epoch 1) by sue at a (2.000–3.000 s, acknowledged) is not in the journal of r1 by aud at c (20.000–21.000 s, told completed)',
    historyOf([...RAN, ['aud', 'c', journal('x0', 'x2', 'y3'), 20, 21]]),
  ],
  [
    'a step that was refused and is in the journal',
    'run: kept: ship of r1 (epoch 1) by sue at b (8.000–9.000 s, refused) is in the journal of r1 by aud at c (20.000–21.000 s, told completed)',
    historyOf([...RAN, ['aud', 'c', journal('x1', 'x2', 'x3'), 20, 21]]),
  ],
  [
    'a step that nobody did',
    'run: journal of r1 by aud at c (20.000–21.000 s, told completed) has build, which nobody did',
    historyOf([...RAN, ['aud', 'c', journal('x1', 'z2', 'y3'), 20, 21]]),
  ],
  [
    'a run that is not completed',
    'run: left undone: start of r1 by sue at a (0.000–1.000 s, acknowledged), and journal of r1 by aud at c (20.000–21.000 s, told running) has 1 steps',
    historyOf([...RAN, ['aud', 'c', journal('x1'), 20, 21]]),
  ],
  [
    'a gate with two answers',
    'g1: no order explains deny g1 by mia at b (3.000–4.000 s, acknowledged) after approve g1 by mia at a (1.000–2.000 s, acknowledged)',
    historyOf([
      ['mia', 'a', decide('approve'), 1, 2],
      ['mia', 'b', decide('deny'), 3, 4],
    ]),
  ],
  [
    'a gate that is decided twice',
    'g1: no order explains approve g1 by tom at b (3.000–4.000 s, acknowledged) after approve g1 by mia at a (1.000–2.000 s, acknowledged)',
    historyOf([
      ['mia', 'a', decide('approve'), 1, 2],
      ['tom', 'b', decide('approve'), 3, 4],
    ]),
  ],
  [
    'an approval that is used twice',
    'g1: no order explains consume g1 by ada at b (5.000–6.000 s, acknowledged) after approve g1 by mia at a (1.000–2.000 s, acknowledged) and consume g1 by ada at a (3.000–4.000 s, acknowledged)',
    historyOf([
      ['mia', 'a', decide('approve'), 1, 2],
      ['ada', 'a', consume, 3, 4],
      ['ada', 'b', consume, 5, 6],
    ]),
  ],
  [
    'a gate that is used although it was denied',
    'g1: no order explains consume g1 by ada at a (3.000–4.000 s, acknowledged) after deny g1 by mia at a (1.000–2.000 s, acknowledged)',
    historyOf([
      ['mia', 'a', decide('deny'), 1, 2],
      ['ada', 'a', consume, 3, 4],
    ]),
  ],
  [
    'an answer that is told otherwise',
    'g1: no order explains gate g1 by ada at c (3.000–4.000 s, told denied) after approve g1 by mia at a (1.000–2.000 s, acknowledged)',
    historyOf([
      ['mia', 'a', decide('approve'), 1, 2],
      ['ada', 'c', gate('denied'), 3, 4],
    ]),
  ],
];

test.each(BAD)('[CH1] %s is told by name', (_, sentence, history) => {
  expect(check(history)).toContain(sentence);
});

test('[CH1] what a server tells is no older than what was answered anywhere, and somebody set it', () => {
  const rows: Row[] = [
    ['ada', 'a', set(null, 'x', 1), 0, 1],
    ['ada', 'a', set('x', 'y', 2), 2, 3],
    ['bob', 'b', { ...get('x'), version: 1 } as Act, 2.5, 5],
    ['cy', 'b', { ...get('y'), version: 2 } as Act, 6, 7],
  ];
  const { done, ...rest } = historyOf(rows);
  const [first, second, early, late] = done as [Done, Done, Done, Done];
  const told = (...reads: Done[]): string[] => check({ ...rest, done: [first, second, ...reads] });
  expect(told(early, late)).toEqual([]);
  expect(told({ ...early, from: 4 })).toHaveLength(1);
  // Of one process the same is told by its numbers, whatever else was set.
  const copied = [late, { ...early, from: 8, to: 9 }].map((one) => ({ ...one, copy: 'b#1' }));
  expect(told(...copied)).toContain(
    'value: get value by bob at b (8.000–9.000 s, told x) has a lower number than get value by cy at b (6.000–7.000 s, told y) before it',
  );
  const strange = { ...late, act: { ...late.act, value: 'z', version: 3 } as Act };
  expect(told(strange)).toContain(
    'value: get value by cy at b (6.000–7.000 s, told z), which nobody set',
  );
});
