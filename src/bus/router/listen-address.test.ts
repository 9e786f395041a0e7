/** Addresses as people write them, and which of them others can reach. */
import { expect, test } from 'vitest';
import { addressText, isLoopbackAddress, parseTcpAddress, resolveHost } from './listen-address.ts';

test.each([
  ['127.0.0.1:9000', { host: '127.0.0.1', port: 9000 }],
  ['localhost:0', { host: 'localhost', port: 0 }],
  ['[::1]:65535', { host: '::1', port: 65_535 }],
])('[BD7] %s is an address', (text, address) => {
  expect(parseTcpAddress(text, '--tcp')).toEqual(address);
});

test.each(['', ':9', '9000', 'host', 'host:', 'host:x', 'host:65536', 'host:-1', '::1:9', 'a:1:2'])(
  '[BD7] %j is none, and the error names the flag',
  (text) => {
    expect(() => parseTcpAddress(text, '--tcp')).toThrow(/--tcp must be/);
  },
);

test('[BD7] what is behind a name decides whether others can reach it', async () => {
  expect(await resolveHost('127.0.0.2')).toEqual({ address: '127.0.0.2', isLoopback: true });
  expect(await resolveHost('0.0.0.0')).toEqual({ address: '0.0.0.0', isLoopback: false });
  expect((await resolveHost('localhost')).isLoopback).toBe(true);
  expect(['::1', '::ffff:127.0.0.1', '127.255.0.1'].map(isLoopbackAddress)).toEqual([
    true,
    true,
    true,
  ]);
  expect(['::', '::ffff:10.0.0.1', '128.0.0.1', 'localhost'].map(isLoopbackAddress)).toEqual([
    false,
    false,
    false,
    false,
  ]);
  expect(addressText('::1', 9)).toBe('[::1]:9');
});
