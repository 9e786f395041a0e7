import { describe, expect, test } from 'vitest';
import { envelopeError, SynodError } from '../client/error.ts';
import { LOCKED_EXIT } from '../client/node/target.ts';
import { LogError } from '../log/log.ts';
import { PluginStartupError } from '../server/plugins/startup-error.ts';
import { EXITS, fail, failureText, refused, toFailure } from './failure.ts';

describe('a refusal of the hub', () => {
  const envelope = (reason: string) => ({
    error_code: 'validation_error',
    message: 'no',
    detail: { reason },
  });

  test.each([
    ['operation.unknown', 2],
    ['access.unknown', 10],
    ['access.denied', 11],
    ['claim.held', 12],
    ['input.invalid', 20],
    ['channel.not-found', 21],
    ['version.mismatch', 22],
    ['rate.limited', 30],
    ['store.unavailable', 69],
  ])('[CL1] %s leaves by exit code %i', (reason, exit) => {
    expect(refused(envelope(reason))).toMatchObject({ code: reason, exit });
  });

  test('[CL1] a reason of a newer hub is taken by its SOX code', () => {
    expect(refused({ ...envelope('moon.full'), error_code: 'store_unavailable' }).exit).toBe(69);
    expect(refused({ error_code: 'unheard_of', message: 'no' }).exit).toBe(1);
  });

  test('[CL1] is `code: message`, and with --json the envelope itself', () => {
    const failure = refused({
      ...envelope('subscription.not-found'),
      message: 'not \u001b[1m there',
    });
    expect(failureText(failure, false)).toBe(
      'subscription.not-found: not \\u{1b}[1m there\n  subscribe first: synod subscribe CHANNEL\n',
    );
    expect(JSON.parse(failureText(failure, true))).toEqual(failure.envelope);
  });

  test('several violations are listed', () => {
    const violations = [
      { field: 'channel', issue: 'is missing' },
      { field: 'body', issue: 'is missing' },
    ];
    const failure = refused({
      ...envelope('input.invalid'),
      detail: { reason: 'input.invalid', violations },
    });
    expect(failureText(failure, false)).toContain('  channel: is missing\n  body: is missing\n');
  });
});

describe('what the client throws', () => {
  test('[CL1] a refusal of the hub keeps its envelope, byte for byte', () => {
    const envelope = {
      error_code: 'rate_limited',
      message: 'slower',
      detail: { reason: 'rate.limited', limit: 5 },
      retry_after: 12.5,
    };
    const failure = toFailure(envelopeError(envelope, null, ''));
    expect(JSON.stringify(failure.envelope)).toBe(JSON.stringify(envelope));
    expect(failure.exit).toBe(30);
    const bare = { error_code: 'identity_failure', message: 'no' };
    expect(toFailure(envelopeError(bare, null, '')).envelope).toEqual(bare);
  });

  test('[CL1] a connection that is lost is a hub that cannot be reached', () => {
    const failure = toFailure(new SynodError('connection.lost', 'it broke'));
    expect(failure).toMatchObject({ code: 'hub.unreachable', exit: 69 });
  });

  test('[CL5] a directory that is held is known by the exit code of the hub', () => {
    expect(EXITS['log.locked']).toBe(LOCKED_EXIT);
  });
});

describe('whatever else is thrown', () => {
  test('a failure of the log keeps its code, once', () => {
    const failure = toFailure(new LogError('log.newer', 'made by a newer program'));
    expect(failure.exit).toBe(65);
    expect(failureText(failure, false)).toBe('log.newer: made by a newer program\n');
  });

  test('a plugin’s record is printed as the contract wants it', () => {
    const record = {
      error_code: 'plugin_not_found',
      plugin_id: 'org.acme.x',
      remediation: 'install it',
    } as const;
    const failure = toFailure(new PluginStartupError(record, 'org.acme.x is missing'));
    expect(failure.exit).toBe(78);
    const [first = '', hint, json = ''] = failureText(failure, false).split('\n');
    expect(first).toBe('plugin_not_found: org.acme.x is missing');
    expect(hint).toBe('  install it');
    expect(JSON.parse(json)).toMatchObject(record);
    expect(JSON.parse(failureText(failure, true))).toMatchObject(record);
  });

  test('[CL1] a bug is one line without a stack', () => {
    const text = failureText(toFailure(new TypeError('x is not a function')), false);
    expect(text).toBe('internal: x is not a function\n');
    expect(toFailure(new Error('x')).exit).toBe(70);
  });

  test('a hint travels in the detail', () => {
    const failure = fail('hub.unreachable', 'no hub', { hint: 'start one' });
    expect(failure).toMatchObject({ exit: 69, envelope: { detail: { hint: 'start one' } } });
  });
});
