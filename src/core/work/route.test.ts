import { expect, test } from 'vitest';
import type { Card } from './card.ts';
import type { Skill } from './card-fields.ts';
import { type Availability, classifyText, type RouteWish, routeTask } from './route.ts';
import { RUNNERS_UP_MAX } from './work-limits.ts';

const skill = (id: string, tags: readonly string[] = []): Skill => ({
  id,
  name: id,
  description: '',
  tags,
  examples: [],
  inputModes: [],
  outputModes: [],
});

const card = (agent: string, wishes: Partial<Card> = {}): Card => ({
  agent,
  advertisedAt: 1,
  name: agent,
  description: '',
  version: '1',
  supportedInterfaces: [],
  capabilities: {
    streaming: false,
    pushNotifications: false,
    extendedAgentCard: false,
    extensions: [],
  },
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
  provider: null,
  documentationUrl: null,
  iconUrl: null,
  taskClasses: [],
  model: null,
  meta: null,
  ...wishes,
});

const text240 = 'please tidy up.'.repeat(16);

test.each([
  ['hi there', 'rule'],
  ['x'.repeat(24), 'rule'],
  ['design the whole system', 'rule'],
  ['rename this one variable x', 'slm'],
  ['please improve the wording here', 'slm'],
  ['please start refactoring the parser', 'heavy'],
  ['can you Analyse this output for me', 'heavy'],
  ['what is the best trade-off for us here', 'heavy'],
  [text240, 'heavy'],
  [text240.slice(0, 230), 'slm'],
])('[CA4] %j is work of class %s', (text, expected) => {
  expect(classifyText(text)).toBe(expected);
});

/** Agents by name: availability, claims, card. */
type Fleet = Record<string, readonly [Availability, number, Partial<Card>?]>;

function route(fleet: Fleet, wish: RouteWish) {
  const cards = Object.entries(fleet).map(([agent, [, , wishes]]) => card(agent, wishes));
  return routeTask(wish, cards, {
    availabilityOf: (agent) => fleet[agent]?.[0] ?? 'gone',
    claimsOf: (agent) => fleet[agent]?.[1] ?? 0,
  });
}
const order = (fleet: Fleet, wish: RouteWish) => {
  const { chosen, runnersUp } = route(fleet, wish);
  return [chosen, ...runnersUp].map((one) => one?.agent ?? null);
};
const rust = { skills: [skill('rust')] };

test('[CA5] nobody who is gone; idle before busy before waiting before silent', () => {
  const fleet: Fleet = {
    a: ['gone', 0],
    b: ['stale', 0],
    c: ['blocked', 0],
    d: ['busy', 0],
    e: ['idle', 9],
  };
  expect(order(fleet, {})).toEqual(['e', 'd', 'c', 'b']);
});

test('[CA5] then the better match, then fewer claims, then the name', () => {
  const both = { skills: [skill('rust', ['sql'])] };
  const fleet: Fleet = {
    d: ['idle', 0, rust],
    c: ['idle', 0, rust],
    b: ['idle', 1, rust],
    a: ['idle', 5, both],
  };
  expect(order(fleet, { skills: ['Rust', 'sql'] })).toEqual(['a', 'c', 'd', 'b']);
});

test('[CA5] who can do nothing of what is asked is not chosen, however idle', () => {
  const fleet: Fleet = { a: ['idle', 0], b: ['busy', 3, rust] };
  expect(order(fleet, { skills: ['rust'] })).toEqual(['b']);
  expect(route(fleet, { skills: ['cobol'] })).toMatchObject({
    chosen: null,
    why: 'nobody: of 2 cards 2 cannot do it, 0 could but are gone',
  });
});

test('[CA5] a class names who takes it; a card without classes takes any, but second', () => {
  const fleet: Fleet = {
    any: ['idle', 0],
    heavy: ['idle', 4, { taskClasses: ['heavy'] }],
    small: ['idle', 0, { taskClasses: ['slm', 'rule'] }],
  };
  expect(order(fleet, { class: 'heavy' })).toEqual(['heavy', 'any']);
  expect(route(fleet, { text: 'ping' })).toMatchObject({
    class: 'rule',
    chosen: { agent: 'small' },
  });
});

test('[CA5] the words of a request count for the skills they name', () => {
  const fleet: Fleet = {
    a: ['idle', 0],
    b: ['idle', 2, { skills: [skill('c++', ['node.js'])] }],
  };
  const { chosen } = route(fleet, { text: 'Port this from C++ to Node.js.' });
  expect(chosen).toMatchObject({ agent: 'b', matches: ['word c++', 'word node.js'] });
});

test('[CA5] the choice is explained, and so are the runners-up', () => {
  const fleet: Fleet = { a: ['idle', 1, rust], g: ['gone', 0, rust], x: ['idle', 0] };
  for (let i = 0; i < 9; i++) fleet[`b${i}`] = ['busy', 2, rust];
  const { chosen, runnersUp, why } = route(fleet, { skills: ['rust', 'sql'] });
  expect(chosen?.why).toBe('idle, matches skill rust, lacks sql, holds 1 claim');
  expect(runnersUp).toHaveLength(RUNNERS_UP_MAX);
  expect(runnersUp[0]?.why).toBe('busy, matches skill rust, lacks sql, holds 2 claims');
  expect(why).toBe(`a is ${chosen?.why}; 9 more could, 1 cannot do it, 1 could but are gone`);
});
