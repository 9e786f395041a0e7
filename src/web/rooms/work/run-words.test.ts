import { expect, test } from 'vitest';
import { runState, stateWords, stepState, tookText, waitsFor, waitText } from './run-words.ts';

const wait = (on: Record<string, unknown>, ended = false) => ({
  ...{ step: 's', key: null, on, until: null, ended },
});

test('[WI17] what a run waits for is said in words', () => {
  expect(waitText(wait({ gate: 'g3' }))).toBe('a person (g3)');
  expect(waitText(wait({ timer_ms: 5 }))).toBe('time to pass');
  expect(waitText(wait({ turn: { message_id: 'm7' } }))).toBe('an answer to m7');
  expect(waitText(wait({ kind: 'signal', signal: 'reviewed' }))).toBe('the signal reviewed');
  const waiting_on = [wait({ gate: 'g1' }, true), wait({ child: 'r2' }), wait({ signal: 'x' })];
  expect(waitsFor({ waiting_on, unoffered: null })).toBe('the run r2 and 1 more');
  expect(waitsFor({ waiting_on: [], unoffered: null })).toBeNull();
  expect(waitsFor({ waiting_on: [], unoffered: 'why' })).toBe('an executor: why');
});

test('[WI17] a run that sleeps waits, and what is undone is said so', () => {
  expect(runState({ state: 'running', suspended: true })).toBe('waits');
  expect(runState({ state: 'running', suspended: false })).toBe('running');
  const open = { state: 'running', compensating: false } as const;
  expect(stepState({ ...open, waiting_on: wait({ gate: 'g' }) })).toBe('waits');
  expect(stepState({ ...open, waiting_on: wait({ gate: 'g' }, true) })).toBe('running');
  expect(stepState({ ...open, state: 'completed', compensating: true, waiting_on: null })).toBe(
    'compensating',
  );
  expect(['compensating', 'compensated', 'compensation_failed', 'failed'].map(stateWords)).toEqual([
    ...['undoing', 'undone', 'not undone', 'failed'],
  ]);
});

test('[WI17] how long it took is said with the unit that fits', () => {
  expect([0, 0.34, 2, 14, 200, 9_000].map(tookText)).toEqual([
    ...['under 1 ms', '340 ms', '2.0 s', '14 s', '3 min', '2.5 h'],
  ]);
});
