import { expect, test } from 'vitest';
import { findOperation } from '../../wire/operations/table.ts';
import type { Answer } from '../desk/answer.ts';
import type { Caller } from '../desk/caller.ts';
import type { Desk } from '../desk/desk.ts';
import { createVitals } from './vitals.ts';

test('[VI2] a plain send passes as it came, and another call is timed on its way back', () => {
  const handed: ((answer: Answer) => void)[] = [];
  const desk = { callThen: (_c, _o, _i, done) => handed.push(done) } as Partial<Desk> as Desk;
  const counted = createVitals().count(desk);
  const done = (): void => {};
  const caller = {} as Caller;
  for (const name of ['send', 'status']) {
    const operation = findOperation(name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    counted.callThen(caller, operation, {}, done);
  }
  expect(handed.map((one) => one === done)).toEqual([true, false]);
});
