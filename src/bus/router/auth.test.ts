/** Tokens and introductions: who is let in, and what of a first line goes on. */
import { describe, expect, test } from 'vitest';
import { lineOf } from '../process/byte-line.ts';
import { createGate, hashToken, readIntroduction } from './auth.ts';
import type { KnownClient } from './config.ts';

const ada: KnownClient = { subjectId: 'ada', role: 'lead', tokenHash: hashToken('token of ada') };

describe('the gate', () => {
  test('[BD6] stands open while nobody is known, and asks everybody once somebody is', () => {
    let clients: readonly KnownClient[] = [];
    const gate = createGate(() => clients, null);
    expect(gate.isGuarded).toBe(false);
    clients = [ada];
    expect(gate.isGuarded).toBe(true);
    expect(createGate(() => [], 'a token of the environment').isGuarded).toBe(true);
  });

  test('[BD6] lets in who shows a token, and knows them by its owner’s name', () => {
    const gate = createGate(() => [ada], 'token of the environment');
    expect(gate.admit('token of ada')?.identity).toEqual({
      subjectId: 'ada',
      role: 'lead',
      assertedBy: 'bus',
    });
    expect(gate.admit('token of the environment')?.identity.subjectId).toBe('bus-token');
    for (const wrong of ['', 'token of ad', 'token of ada ', ada.tokenHash]) {
      expect(gate.admit(wrong)).toBeNull();
    }
  });

  test('[BD6] forgets a token with its client, and knows who owns it now', () => {
    let clients: readonly KnownClient[] = [ada];
    const gate = createGate(() => clients, null);
    const { tokenHash = '' } = gate.admit('token of ada') ?? {};
    expect(gate.identityOf(tokenHash)).toMatchObject({ subjectId: 'ada', role: 'lead' });
    clients = [{ ...ada, role: 'guest' }];
    expect(gate.identityOf(tokenHash)).toMatchObject({ subjectId: 'ada', role: 'guest' });
    clients = [];
    expect(gate.identityOf(tokenHash)).toBeNull();
  });

  test('[BD7] says beforehand whether other clients would leave it open', () => {
    const gate = createGate(() => [ada], null);
    expect([gate.wouldGuard([]), gate.wouldGuard([ada])]).toEqual([false, true]);
    expect(createGate(() => [], 'token of the environment').wouldGuard([])).toBe(true);
  });
});

describe('the first line', () => {
  test('[BD6] [EN1] one that nests deeper than any message may is read for nothing', () => {
    const deep = `${'['.repeat(8_000)}${']'.repeat(8_000)}`;
    const line = `{"id":1,"method":"stdio_bus/hello","params":{"token":"t","a":${deep}}}`;
    expect(readIntroduction(lineOf(line))).toEqual({ id: 'null', token: null, rest: null });
    const twice = '{"method":"stdio_bus/hello","id":1,"id":2,"params":{"token":"t"}}';
    expect(readIntroduction(lineOf(twice)).token).toBeNull();
  });

  test('[BD6] a hello goes on to the bus without its token', () => {
    const line =
      '{"jsonrpc":"2.0","id":"ü","method":"stdio_bus/hello","params":{"token":"t","x":1}}';
    const { id, token, rest } = readIntroduction(lineOf(line));
    expect({ id, token }).toEqual({ id: lineOf('"ü"'), token: 't' });
    expect(rest).toBe(
      lineOf('{"jsonrpc":"2.0","id":"ü","method":"stdio_bus/hello","params":{"x":1}}'),
    );
  });

  test('[BD6] a bare line is for the door alone', () => {
    expect(readIntroduction(lineOf('{"type":"auth","token":"t"}'))).toEqual({
      id: 'null',
      token: 't',
      rest: null,
    });
  });

  test.each([
    ['no JSON', 'null'],
    ['[1]', 'null'],
    ['null', 'null'],
    ['{"id":{},"method":"m"}', 'null'],
    ['{"id":7,"method":"m","params":{"token":"t"}}', '7'],
    ['{"id":7,"method":"stdio_bus/hello","params":null}', '7'],
    ['{"id":7,"method":"stdio_bus/hello","params":{"token":5}}', '7'],
    ['{"type":"auth","token":""}', 'null'],
  ])('[BD6] %s shows no token; the refusal carries the id', (text, id) => {
    expect(readIntroduction(lineOf(text))).toMatchObject({ id, token: null });
  });
});
