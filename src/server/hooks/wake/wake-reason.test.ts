import { expect, test } from 'vitest';
import { DEFAULT_DOOR_SETTINGS, type WakeSettings } from '../../../wire/hook-settings.ts';
import { isAllOff, isReason } from './wake-reason.ts';

const { wake } = DEFAULT_DOOR_SETTINGS;
const wakes = (body: unknown, more: object = {}, settings: Partial<WakeSettings> = {}): boolean =>
  isReason({ channel: 'room', body, isReply: false, answers: null, ...more }, 'app/ada', {
    ...wake,
    ...settings,
  });

test.each([
  [{ text: 'hi' }, {}],
  [{ text: 'hi all, mail ada@example.org or @bob' }, {}],
  [{ text: '@app/adam @app' }, {}],
  [{ text: 'app/ada did well' }, {}],
  [{ type: 'question', text: '@bob, where?' }, {}],
  [{ type: 'status_update', question: '' }, {}],
  [{ text: 'thanks' }, { isReply: true, answers: 'bob' }],
  [{ text: 'Hello! How can I help?' }, { isReply: true, answers: 'bob' }],
  [
    { type: 'question', text: 'Which?' },
    { isReply: true, answers: 'bob' },
  ],
  [{ text: 'hi' }, { channel: 'dm/bob~eve' }],
  [{ text: `${' '.repeat(20_000)}@app/ada` }, {}],
])('[WA8] %j %j wakes nobody whom it does not concern', (body, more) => {
  expect(wakes(body, more)).toBe(false);
});

test.each([
  [{ text: 'please look, @app/ada.' }, {}],
  [{ deep: [{ text: '(@app/ada)' }] }, {}],
  [{ text: '@all: stop' }, {}],
  [{ to: 'app/ada' }, {}],
  [{ to: ['bob', '@app/ada'] }, {}],
  [{ type: 'question', text: 'Where is it?' }, {}],
  [{ question: 'Where is it?' }, {}],
  [{ text: 'Who takes the parser?\n' }, {}],
  [{ text: 'thanks' }, { isReply: true, answers: 'app/ada' }],
  [{ text: 'hi' }, { channel: 'dm/app/ada~bob' }],
  [{ text: 'hi' }, { channel: 'agent/app/ada' }],
  [{ text: 'free' }, { channel: 'sox/to/app/ada' }],
])('[WA8] %j %j wakes whom it names, asks or answers', (body, more) => {
  expect(wakes(body, more)).toBe(true);
  expect(wakes(body, more, { mode: 'off' })).toBe(false);
});

test('[WA8] by agent and by channel, names before patterns, and the quieter one holds', () => {
  const hi = { text: 'hi' };
  expect(wakes(hi, {}, { mode: 'on' })).toBe(true);
  expect(wakes(hi, {}, { channels: { 'ro*': 'on' } })).toBe(true);
  expect(wakes(hi, {}, { channels: { 'ro*': 'on', room: 'off' } })).toBe(false);
  expect(wakes(hi, {}, { mode: 'off', agents: { 'app/*': 'on' } })).toBe(true);
  expect(wakes(hi, {}, { agents: { 'app/ada': 'on' }, channels: { room: 'named' } })).toBe(false);
  expect(wakes({ text: '@app/ada' }, {}, { agents: { '*': 'off' } })).toBe(false);
  expect([isAllOff({ ...wake, mode: 'off' }), isAllOff(wake)]).toEqual([true, false]);
  expect(isAllOff({ ...wake, mode: 'off', agents: { ada: 'on' } })).toBe(false);
});
