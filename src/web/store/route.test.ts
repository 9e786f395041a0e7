import { expect, test } from 'vitest';
import { hrefOf, parseRoute } from './route.ts';

test('a channel of any name is one part of the address, and comes back as it was', () => {
  for (const name of ['general', 'dm/ada~bob', 'a b#?%', '<img onerror>']) {
    expect(parseRoute(hrefOf('talk', name, 'm1'))).toEqual({ room: 'talk', rest: [name, 'm1'] });
  }
});

test('an address that nobody made leads to what needs you', () => {
  expect(parseRoute('')).toEqual({ room: 'needs', rest: [] });
  expect(parseRoute('#/constructor/x')).toEqual({ room: 'needs', rest: ['x'] });
  expect(parseRoute('#/talk/%E0%A4%A')).toEqual({ room: 'talk', rest: ['%E0%A4%A'] });
});
