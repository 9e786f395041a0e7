/** Whose Host and whose Origin: the rule by itself. That every route asks it is shown in test/e2e/security.test.ts. */
import { describe, expect, test } from 'vitest';
import { createOriginCheck } from './origin-check.ts';

const guard = createOriginCheck({
  allowedHosts: ['192.168.7.1', 'Hub.Example', 'fe80::1', '[fd00::2]'],
  corsOrigins: ['http://localhost:*', 'https://App.example', 'https://page.example:8443'],
});
const status = (headers: Record<string, string>, isOwnerSocket = false): number =>
  guard.check(headers, isOwnerSocket)?.status ?? 200;

describe('the Host', () => {
  test.each([
    'localhost',
    'localhost:1',
    'LocalHost:65535',
    '127.0.0.1:8765',
    '[::1]:8765',
    '192.168.7.1',
    'hub.example:443',
    '[fe80::1]:8765',
    '[fd00::2]:8765',
  ])('[I6] %s is ours', (host) => {
    expect(status({ host })).toBe(200);
  });

  test.each([
    '',
    'localhost.',
    'localhost:',
    'localhost:80:80',
    'xlocalhost',
    'localhost.evil.example',
    'evil.example:8765',
    '127.0.0.2',
    '[::2]',
    'hub.example.evil',
    'fe80::1',
  ])('[I6] %s is not', (host) => {
    expect(status({ host })).toBe(421);
  });

  test('[I6] is missing: not ours either, but at the owner’s socket nobody asks for it', () => {
    expect(status({})).toBe(421);
    expect(status({}, true)).toBe(200);
  });
});

describe('the Origin', () => {
  const host = 'localhost:8765';
  test.each([
    'http://localhost:8765',
    'http://localhost',
    'http://localhost:1',
    'HTTP://LOCALHOST:5173',
    'https://app.example',
    'https://page.example:8443',
  ])('[I6] %s may call', (origin) => {
    expect(status({ host, origin })).toBe(200);
  });

  test.each([
    'null',
    '',
    'https://localhost:8765',
    'http://localhost:1:2',
    'http://localhost:x',
    'http://localhost.evil.example:80',
    'https://app.example:443',
    'https://page.example',
    'https://evil.example/https://app.example',
  ])('[I6] %s may not', (origin) => {
    expect(status({ host, origin })).toBe(403);
    expect(status({ host, origin }, true)).toBe(403);
  });
});
