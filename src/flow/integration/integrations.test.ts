/** Integrations: what must say yes before one runs, and what becomes of one that does not answer well. */
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Recordable } from '../../guard/decision-queue.ts';
import { createGuard } from '../../guard/guard.ts';
import type { Policy } from '../../guard/policy.ts';
import type { Rail } from '../../guard/rails.ts';
import { TerminalError } from '../workflow/terminal-error.ts';
import type { Defined, Integration } from './definition.ts';
import { createIntegrations, type Integrations } from './integrations.ts';
import { createTurnstile } from './turnstile.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'synod-integrations-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const NUMBER = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } } as const;
const double: Integration<{ n: number }, { n: number }> = {
  ...{ name: 'double', version: '1.0.0', input: NUMBER, output: NUMBER },
  run: ({ n }) => ({ n: n * 2 }),
};

function open(policy: Policy = {}, rails: readonly Rail[] = []) {
  const told: Recordable[] = [];
  const ada = createGuard(policy, { name: 'ada', cwd: base, rails });
  const all: Integrations = createIntegrations({
    guardOf: (as) => (as === 'ada' ? ada : null),
    record: (entry) => void told.push(entry),
  });
  const failing = (more: Partial<Integration<never, unknown>> = {}) => {
    let calls = 0;
    all.register({
      ...{ name: 'failing', version: '1', input: true, output: true },
      run() {
        calls++;
        throw new Error('the other side is down');
      },
      ...more,
    } as Integration);
    return () => calls;
  };
  return { all, told, failing };
}
const asAda = { as: 'ada' };

describe('[IG1] what is registered', () => {
  test('[IG1] is found by its name, and that once', async () => {
    const { all } = open();
    all.register(double);
    expect(all.list()).toEqual([
      { ...{ name: 'double', version: '1.0.0', idempotent: false }, breaker: 'closed', running: 0 },
    ]);
    expect(() => all.register(double)).toThrow(/registered already/);
    expect(await all.invoke('double', { n: 4 }, asAda)).toEqual({ n: 8 });
    expect([all.unregister('double'), all.unregister('double')]).toEqual([true, false]);
    await expect(all.invoke('double', { n: 4 }, asAda)).rejects.toMatchObject({
      code: 'integration.unknown',
    });
  });

  test.each<[Partial<Integration>, RegExp]>([
    [{ name: 'a name that is a sentence' }, /no blanks/],
    [{ name: '__proto__ x' }, /no blanks/],
    [{ version: '' }, /version/],
    [{ input: undefined as never }, /true allows anything/],
    [{ input: { type: 'nonsense' } }, /cannot be used/],
    [{ retries: 2 }, /idempotent/],
    [{ retries: 2.5, idempotent: true }, /whole number/],
    [{ timeoutMs: 0 }, /whole number/],
    [{ concurrency: -1 }, /whole number/],
    [{ rate: { limit: 0, perMs: 1 } }, /whole number/],
    [{ capabilities: { reed: [] } as Policy }, /no field/],
    [{ capabilities: { connect: [{ scheme: 'https', host: 'a b' }] } }, /no host/],
    [{ run: undefined as never }, /nothing to run/],
  ])('[IG1] %j is refused', (more, why) => {
    const { all } = open();
    expect(() => all.register({ ...double, ...more } as Integration)).toThrow(why);
    expect(all.list()).toEqual([]);
  });
});

describe('[IG2] a call', () => {
  test('[IG2] is for somebody who has a guard here', async () => {
    const { all } = open();
    all.register(double);
    const call = (as: unknown) => all.invoke('double', { n: 1 }, { as } as never);
    await expect(call('bob')).rejects.toMatchObject({ code: 'integration.refused' });
    for (const nobody of [undefined, '', 'two words', 7]) {
      await expect(call(nobody)).rejects.toMatchObject({ code: 'integration.no-identity' });
    }
    await expect(all.invoke('double', { n: 1 }, undefined as never)).rejects.toMatchObject({
      code: 'integration.no-identity',
    });
  });

  test('[IG2] needs what the integration needs, before it runs', async () => {
    const { all } = open({ read: ['in'] });
    const file = join(base, 'out');
    all.register({
      ...{ name: 'writes', version: '1', input: true, output: true },
      capabilities: { read: [join(base, 'in')], write: [file] },
      run: () => writeFileSync(file, 'x'),
    });
    await expect(all.invoke('writes', {}, asAda)).rejects.toMatchObject({
      code: 'integration.refused',
      message: expect.stringContaining('its caller may not'),
    });
    expect(existsSync(file)).toBe(false);
  });

  test('[IG2] has no more than the integration asked for, whatever its caller has', async () => {
    const { all } = open({ read: ['/'], write: [base] });
    all.register({
      ...{ name: 'sly', version: '1', input: true, output: true },
      run: (_input, { guard }) => guard.writeFile(join(base, 'sly'), 'x'),
    });
    await expect(all.invoke('sly', {}, asAda)).rejects.toMatchObject({
      code: 'integration.refused',
    });
    expect(existsSync(join(base, 'sly'))).toBe(false);
  });

  test('[IG2] passes the rails of its caller, on both ways', async () => {
    const rail = (on: Rail['on']): Rail => ({
      ...{ name: 'odd', on },
      check: (value) => ((value as { n: number }).n === 6 ? `no six on the ${on}` : null),
    });
    let runs = 0;
    const { all } = open({}, [rail('input'), rail('output')]);
    all.register({
      ...double,
      run({ n }) {
        runs++;
        return { n: n * 2 };
      },
    });
    await expect(all.invoke('double', { n: 6 }, asAda)).rejects.toThrow(/no six on the input/);
    expect(runs).toBe(0);
    await expect(all.invoke('double', { n: 3 }, asAda)).rejects.toThrow(/no six on the output/);
    expect(await all.invoke('double', { n: 2 }, asAda)).toEqual({ n: 4 });
  });

  test('[IG2] the record is told who called what, and how it ended', async () => {
    const { all, told } = open();
    all.register(double);
    await all.invoke('double', { n: 1 }, asAda);
    await all.invoke('double', {}, asAda).catch(() => {});
    await all.invoke('nothing', {}, asAda).catch(() => {});
    expect(told).toMatchObject([
      { kind: 'invoke', what: 'double@1.0.0', as: 'ada', allowed: true, code: 'integration.done' },
      { what: 'double@1.0.0', allowed: false, code: 'integration.input' },
      { what: 'nothing', allowed: false, code: 'integration.unknown' },
    ]);
  });

  test('[IG2] a dry run decides everything and does nothing', async () => {
    const { all } = open({ read: [base] });
    const file = join(base, 'dry');
    all.register({
      ...{ name: 'dry', version: '2', input: NUMBER, output: true },
      capabilities: { read: [base] },
      run: () => writeFileSync(file, 'x'),
    });
    expect(await all.dryRun('dry', { n: 1 }, asAda)).toMatchObject({
      ...{ name: 'dry', version: '2', as: 'ada', breaker: 'closed' },
      decisions: [{ kind: 'read', allowed: true, what: base }],
    });
    await expect(all.dryRun('dry', {}, asAda)).rejects.toMatchObject({ code: 'integration.input' });
    expect(existsSync(file)).toBe(false);
  });
});

describe('[IG3] schemas', () => {
  test('[IG3] what goes in and what comes out is as promised', async () => {
    const { all } = open();
    let runs = 0;
    all.register({
      ...{ ...double, name: 'liar' },
      run() {
        runs++;
        return { n: 'two' as unknown as number };
      },
    });
    await expect(all.invoke('liar', { n: 'one' }, asAda)).rejects.toMatchObject({
      code: 'integration.input',
      message: expect.stringContaining('input.n must be number'),
    });
    expect(runs).toBe(0);
    await expect(all.invoke('liar', { n: 1 }, asAda)).rejects.toMatchObject({
      code: 'integration.output',
    });
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    await expect(all.invoke('liar', circle, asAda)).rejects.toThrow(/JSON cannot say it/);
  });

  test('[IG3] the function has a copy: what it changes, its caller does not see', async () => {
    const { all } = open();
    all.register<{ n: number }, unknown>({
      ...double,
      run(input) {
        input.n = 99;
        return input;
      },
    });
    const args = { n: 1 };
    await all.invoke('double', args, asAda);
    expect(args).toEqual({ n: 1 });
  });

  test('[IG3] a schema made to be slow is called off', async () => {
    const { all } = open();
    const input = { type: 'string', pattern: '^(a+)+$' };
    all.register({ ...{ name: 'slow', version: '1', input, output: true }, run: () => 1 });
    await expect(all.invoke('slow', `${'a'.repeat(60)}!`, asAda)).rejects.toThrow(/too long/);
  });
});

describe('[IG4] bounds', () => {
  test('[IG4] a call ends at its deadline; the place is free when the work is over', async () => {
    const { all } = open();
    const done = Promise.withResolvers<void>();
    let aborted = false;
    all.register({
      ...{ name: 'deaf', version: '1', input: true, output: true, timeoutMs: 20, concurrency: 1 },
      async run(_input, { signal }) {
        signal.addEventListener('abort', () => {
          aborted = true;
        });
        await done.promise;
      },
    });
    const late = { code: 'integration.timeout', message: expect.stringContaining('may have') };
    await expect(all.invoke('deaf', {}, asAda)).rejects.toMatchObject(late);
    expect([aborted, all.list()[0]?.running]).toEqual([true, 1]);
    await expect(all.invoke('deaf', {}, asAda)).rejects.toMatchObject(late);
    done.resolve();
    await expect.poll(() => all.list()[0]?.running).toBe(0);
  });

  test('[IG4] no more at once than may be; the others wait in order, or give up', async () => {
    const { all } = open();
    const order: number[] = [];
    const gates = [0, 1, 2].map(() => Promise.withResolvers<void>());
    all.register<number, number>({
      ...{ name: 'one', version: '1', input: true, output: true, concurrency: 1 },
      async run(n) {
        order.push(n);
        await gates[n]?.promise;
        return n;
      },
    });
    const giveUp = new AbortController();
    const calls = [0, 1, 2].map((n) =>
      all.invoke('one', n, { as: 'ada', ...(n === 1 && { signal: giveUp.signal }) }),
    );
    await expect.poll(() => order).toEqual([0]);
    giveUp.abort();
    await expect(calls[1]).rejects.toMatchObject({ code: 'integration.cancelled' });
    gates[0]?.resolve();
    gates[2]?.resolve();
    expect(await Promise.all([calls[0], calls[2]])).toEqual([0, 2]);
    expect(order).toEqual([0, 2]);
  });

  test('[IG4] who calls too often is told when to come again', async () => {
    const { all } = open();
    all.register({ ...double, rate: { limit: 2, perMs: 60_000 } });
    await all.invoke('double', { n: 1 }, asAda);
    await all.invoke('double', { n: 1 }, asAda);
    await expect(all.invoke('double', { n: 1 }, asAda)).rejects.toMatchObject({
      code: 'integration.rate',
      retryAfterMs: expect.toSatisfy((ms: number) => ms > 1_000 && ms <= 30_000),
    });
  });

  test('[IG4] one that fails again and again is left alone, and then tried once', async () => {
    let now = 0;
    const breaker = { failures: 2, restMs: 1_000 };
    const defined = { name: 'x', concurrency: 8, rate: null, breaker } as unknown as Defined;
    const turnstile = createTurnstile(defined, () => now);
    const { signal } = new AbortController();
    turnstile.failed();
    expect(turnstile.state).toBe('closed');
    turnstile.failed();
    expect(turnstile.state).toBe('open');
    await expect(turnstile.enter(signal)).rejects.toMatchObject({
      ...{ code: 'integration.open', retryAfterMs: 1_000 },
    });
    now = 1_000;
    expect(turnstile.state).toBe('trying');
    const leave = await turnstile.enter(signal);
    await expect(turnstile.enter(signal)).rejects.toMatchObject({ code: 'integration.open' });
    turnstile.failed();
    leave();
    expect(turnstile.state).toBe('open');
    now = 2_000;
    // A trial that says neither keeps nobody out.
    (await turnstile.enter(signal))();
    (await turnstile.enter(signal))();
    turnstile.succeeded();
    expect(turnstile.state).toBe('closed');
  });

  test('[IG4] an open breaker keeps the function from running; a bad input does not open it', async () => {
    const { all, failing } = open();
    const calls = failing({ input: NUMBER, breaker: { failures: 2, restMs: 60_000 } });
    for (let i = 0; i < 5; i++) await all.invoke('failing', {}, asAda).catch(() => {});
    expect(all.list()[0]?.breaker).toBe('closed');
    for (let i = 0; i < 5; i++) await all.invoke('failing', { n: 1 }, asAda).catch(() => {});
    expect([calls(), all.list()[0]?.breaker]).toEqual([2, 'open']);
    await expect(all.invoke('failing', { n: 1 }, asAda)).rejects.toMatchObject({
      code: 'integration.open',
    });
  });
});

describe('[IG5] retries', () => {
  test('[IG5] what is idempotent is tried again under the same key', async () => {
    const { all } = open();
    const seen: [string, number][] = [];
    all.register({
      ...{ name: 'shaky', version: '1', input: true, output: true },
      ...{ idempotent: true, retries: 2 },
      run(_input, { key, attempt }) {
        seen.push([key, attempt]);
        if (attempt < 3) throw new Error('not yet');
        return 'done';
      },
    });
    expect(await all.invoke('shaky', {}, { as: 'ada', key: 'k1' })).toBe('done');
    expect(seen).toEqual([1, 2, 3].map((attempt) => ['k1', attempt]));
  });

  test('[IG5] what is not, or cannot be mended, is tried once', async () => {
    const { all, failing } = open();
    const plain = failing();
    await expect(all.invoke('failing', {}, asAda)).rejects.toMatchObject({
      ...{ code: 'integration.failed', isTerminal: false },
      message: 'failing failed: the other side is down',
    });
    expect(plain()).toBe(1);
    let calls = 0;
    all.register({
      ...{ name: 'over', version: '1', input: true, output: true, idempotent: true, retries: 3 },
      run() {
        calls++;
        throw new TerminalError('the card is blocked');
      },
    });
    await expect(all.invoke('over', {}, asAda)).rejects.toMatchObject({ isTerminal: true });
    expect(calls).toBe(1);
  });
});
