import { expect, test } from 'vitest';
import { parseAddress } from './address.ts';

test.each([
  ['http://h:1', 'ws://h:1/ws', 'http://h:1'],
  ['https://h/', 'wss://h/ws', 'https://h'],
  ['ws://h:1/ws', 'ws://h:1/ws', 'http://h:1'],
  ['wss://h/hub/', 'wss://h/hub/ws', 'https://h/hub'],
])('%s is reached at %s', (url, socket, http) => {
  expect(parseAddress(url, {})).toMatchObject({ socket, http, headers: {} });
});

test('[K1] the same credential goes into headers for plain HTTP', () => {
  expect(parseAddress('http://h', { token: 't', agent: 'a', space: 's' }).headers).toEqual({
    authorization: 'Bearer t',
    'x-sox-agent-id': 'a',
    'x-sox-namespace': 's',
  });
});
