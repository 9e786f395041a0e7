import { expect, test } from 'vitest';
import { columnsOf, holderText, stateOf, type Task } from './task-state.ts';

const task = (id: string, fields: Partial<Task> = {}): Task => ({
  ...{ task_id: id, title: id, description: '', project: null, depends_on: [], status: 'open' },
  ...{ suggested_owner: null, causal_parent: null, version: 0, created_by: 'ada' },
  ...{ created_at: 1, updated_at: 1, ready: false, escalated: false, claim: null },
  ...fields,
});

test('the words are those of the board on the command line', () => {
  expect(stateOf(task('a', { escalated: true, status: 'blocked' }))).toBe('needs a person');
  expect(stateOf(task('a', { ready: true }))).toBe('ready');
  expect(stateOf(task('a', { status: 'in_progress' }))).toBe('in_progress');
});

test('each task is in one column, the longest wait first and the newest done', () => {
  const columns = columnsOf([
    task('late', { ready: true, updated_at: 9 }),
    task('early', { ready: true, updated_at: 3 }),
    task('old', { status: 'done', updated_at: 1 }),
    task('new', { status: 'done', updated_at: 8 }),
  ]);
  expect(columns.map(({ title, tasks }) => [title, tasks.map((one) => one.task_id)])).toEqual([
    ['In progress', []],
    ['Ready', ['early', 'late']],
    ['Waits', []],
    ['Done', ['new', 'old']],
  ]);
});

test('a task says who has it, or which of its dependencies are not met', () => {
  const needs = task('a', { depends_on: ['b', 'c'] });
  expect(holderText(needs, (id) => id === 'b')).toBe('needs c');
  expect(holderText(needs, () => true)).toBe(null);
  expect(holderText(task('a', { suggested_owner: 'bob' }), () => true)).toBe('for bob');
});
