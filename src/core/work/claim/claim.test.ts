import { expect, test } from 'vitest';
import { createClaimStory, refusalOf, scopeOf } from '../../../testing/claim-story.ts';
import { accepted, codeOf } from '../../../testing/story.ts';
import { evolveClaims } from './claim-evolve.ts';
import {
  CHECKPOINT_CHARS_MAX,
  CLAIM_KEYS_PER_AGENT_MAX,
  CLAIMS_PER_AGENT_MAX,
  LAPSES_AT_ONCE_MAX,
} from './claim-limits.ts';
import { expireClaims, nextExpiry } from './claims.ts';

const HOUR = 3_600_000;

test('[CM1] a path that is held is refused to others, with holder, paths, witness and lapse', () => {
  const story = createClaimStory();
  story.take('ada', 'parser', 'src/**/*.ts');
  const refusal = refusalOf(story.tryTake('bob', 'lexer', 'docs', 'src/lex/*.ts'));
  expect(refusal).toMatchObject({
    refused: 'claim.overlap',
    retryAt: story.at + HOUR,
    detail: {
      holder: 'ada',
      lapses_at: (story.at + HOUR) / 1000,
      overlaps: [
        {
          mine: 'src/lex/*.ts',
          theirs: 'src/**/*.ts',
          witness: 'src/lex/x.ts',
          holder: 'ada',
          id: 'parser',
        },
      ],
      wait: { worktree: 'w', paths: ['docs', 'src/lex/*.ts'] },
    },
  });
  expect(refusal.message).toContain('by ada as parser for 3600 s more');
  // The holder's own words are in the detail alone.
  expect(refusal.message).not.toContain('src/**');
  expect(story.events).toHaveLength(1);
});

test('[CM1] an id has one holder; other worktrees and disjoint paths do not meet', () => {
  const story = createClaimStory();
  story.take('ada', 'parser', 'src');
  const held = refusalOf(story.tryTake('bob', 'parser', 'docs'));
  expect(held).toMatchObject({
    refused: 'claim.held',
    detail: { holder: 'ada', wait: { task_id: 'parser' } },
  });
  expect(codeOf(story.tryTake('bob', 'docs', 'docs'))).toBeNull();
  const elsewhere = { worktree: 'other', branch: null, paths: ['src'] };
  expect(codeOf(story.do('bob', 'claim.take', { id: 'there', scope: elsewhere }))).toBeNull();
});

test('[CM1] no paths are the whole worktree, no scope is no path, and own claims never meet', () => {
  const story = createClaimStory();
  story.take('ada', 'all');
  expect(codeOf(story.tryTake('bob', 'one', 'x'))).toBe('claim.overlap');
  expect(codeOf(story.tryTake('ada', 'one', 'x'))).toBeNull();
  expect(codeOf(story.do('bob', 'claim.take', { id: 'deploy' }))).toBeNull();
});

test('[CM2] a renewal keeps status, checkpoint, version, note and scope when they are not resent', () => {
  const story = createClaimStory();
  story.ask('ada', 'claim.take', {
    id: 't',
    scope: scopeOf('src'),
    note: 'n',
    git: 'g',
    ttlMs: 60_000,
  });
  story.ask('ada', 'claim.update', { id: 't', status: 'working', dataRef: 'd' });
  const before = story.ask('ada', 'claim.checkpoint', { id: 't', checkpoint: 'half' });
  story.pass(30_000);
  const { claim, isRenewal } = story.ask('ada', 'claim.take', { id: 't' });
  expect(isRenewal).toBe(true);
  expect(claim.epoch).toBeGreaterThan(before.epoch);
  expect(claim).toEqual({ ...before, epoch: claim.epoch, lapsesAt: story.at + 60_000 });
  const renewed = story.ask('ada', 'claim.renew', { id: 't', epoch: claim.epoch, ttlMs: HOUR });
  expect(renewed).toEqual({ ...claim, ttlMs: HOUR, lapsesAt: story.at + HOUR });
});

test('[CM2] a renewal may change the scope, and only to what is free', () => {
  const story = createClaimStory();
  story.take('ada', 't', 'a');
  story.take('bob', 'u', 'b');
  expect(codeOf(story.tryTake('ada', 't', 'a', 'b'))).toBe('claim.overlap');
  expect(story.take('ada', 't', 'c').claim.scope?.paths).toEqual(['c']);
  expect(codeOf(story.tryTake('bob', 'v', 'a'))).toBeNull();
  expect(codeOf(story.tryTake('bob', 'w', 'c'))).toBe('claim.overlap');
});

test('[CM3] a time to live has a floor, a ceiling, a default, and is a number', () => {
  const story = createClaimStory();
  for (const ttlMs of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, 0]) {
    const refusal = refusalOf(story.do('ada', 'claim.take', { id: 't', ttlMs }));
    expect([ttlMs, refusal.refused]).toEqual([ttlMs, 'ttl.invalid']);
    expect(refusal.message).toContain(`${ttlMs / 1000} s`);
    expect(JSON.parse(JSON.stringify(refusal))).toEqual(refusal);
  }
  expect(codeOf(story.do('ada', 'claim.take', { id: 't', ttlMs: 1e300 }))).toBe('ttl.too-long');
  expect(story.ask('ada', 'claim.take', { id: 't', ttlMs: 5 }).claim.ttlMs).toBe(30_000);
  expect(story.ask('ada', 'claim.take', { id: 'u', ttlMs: 24 * HOUR }).claim.ttlMs).toBe(24 * HOUR);
  expect(story.ask('ada', 'claim.take', { id: 'v' }).claim.ttlMs).toBe(HOUR);
});

test('[CM4] a late holder is fenced by its epoch in everything it does', () => {
  const story = createClaimStory();
  const { epoch } = story.take('ada', 't', 'src').claim;
  story.handOver('ada', 't', 'bob');
  const current = accepted(story.handOver('bob', 't', 'ada')).claim.epoch;
  const acts = [
    story.do('ada', 'claim.take', { id: 't', epoch }),
    story.do('ada', 'claim.renew', { id: 't', epoch }),
    story.do('ada', 'claim.update', { id: 't', epoch, status: 'done' }),
    story.do('ada', 'claim.checkpoint', { id: 't', epoch, checkpoint: 'x' }),
    story.do('ada', 'claim.hand-off', { id: 't', epoch, to: 'bob' }),
    story.do('ada', 'claim.release', { id: 't', epoch }),
    story.do('root', 'claim.release', { id: 't', epoch, isForced: true }, 'admin'),
  ];
  for (const act of acts) {
    expect(act).toMatchObject({
      refused: 'claim.fenced',
      detail: { epoch: current, holder: 'ada' },
    });
  }
  expect(codeOf(story.do('ada', 'claim.release', { id: 't', epoch: current }))).toBeNull();
});

test('[CM4] only the holder acts on a claim, and what nobody holds is not found', () => {
  const story = createClaimStory();
  story.take('ada', 't', 'src');
  expect(codeOf(story.do('bob', 'claim.update', { id: 't', note: 'x' }))).toBe('claim.not-holder');
  expect(codeOf(story.do('bob', 'claim.release', { id: 't', isForced: true }))).toBe(
    'claim.not-holder',
  );
  expect(codeOf(story.do('bob', 'claim.renew', { id: 'nothing' }))).toBe('claim.not-found');
  expect(codeOf(story.do('eve', 'claim.take', { id: 'u' }, 'observer'))).toBe('access.denied');
  expect(codeOf(story.do('root', 'claim.release', { id: 't' }, 'admin'))).toBe('claim.not-holder');
  expect(
    codeOf(story.do('root', 'claim.release', { id: 't', isForced: true }, 'admin')),
  ).toBeNull();
});

test('[WK7] a person frees what an agent holds, and its late holder is fenced', () => {
  const story = createClaimStory();
  const { epoch } = story.take('ada', 't', 'src').claim;
  expect(codeOf(story.do('mia', 'claim.release', { id: 't' }, 'human'))).toBe('claim.not-holder');
  expect(codeOf(story.do('mia', 'claim.release', { id: 't', isForced: true }, 'human'))).toBeNull();
  story.take('bob', 't', 'src');
  expect(codeOf(story.do('ada', 'claim.update', { id: 't', epoch, note: 'x' }))).toBe(
    'claim.fenced',
  );
});

test('[CM5] a version counts the changes of a claim from 0, survives a renewal, and is compared', () => {
  const story = createClaimStory();
  story.take('eve', 'other', 'lib');
  const versions = [story.take('ada', 't', 'src').claim.version];
  versions.push(story.ask('ada', 'claim.update', { id: 't', note: 'x' }).version);
  story.ask('eve', 'claim.update', { id: 'other', note: 'in between' });
  versions.push(story.ask('ada', 'claim.checkpoint', { id: 't', checkpoint: 'x' }).version);
  versions.push(story.take('ada', 't', 'src').claim.version);
  versions.push(accepted(story.handOver('ada', 't', 'bob')).claim.version);
  expect(versions).toEqual([0, 1, 2, 2, 3]);
  const change = { id: 't', note: 'y' };
  const stale = story.do('bob', 'claim.update', { ...change, expectedVersion: 2 });
  expect(stale).toMatchObject({ refused: 'claim.version', detail: { version: 3 } });
  expect(story.ask('bob', 'claim.update', { ...change, expectedVersion: 3 }).version).toBe(4);
  story.release('bob', 't');
  expect(story.take('eve', 't', 'src').claim.version).toBe(0);
});

test('[CM6] a status moves along its life cycle only', () => {
  // How each status is reached, and where it may go from there; staying is always allowed.
  const ways = {
    claimed: { through: [], on: ['claimed', 'working', 'done', 'failed'] },
    working: { through: ['working'], on: ['working', 'input_required', 'done', 'failed'] },
    input_required: {
      through: ['working', 'input_required'],
      on: ['working', 'input_required', 'done', 'failed'],
    },
    done: { through: ['done'], on: ['done'] },
    failed: { through: ['failed'], on: ['failed'] },
  };
  for (const [from, { through, on }] of Object.entries(ways)) {
    for (const to of [...Object.keys(ways), 'resting']) {
      const story = createClaimStory();
      story.take('ada', 't', 'src');
      for (const status of through) story.ask('ada', 'claim.update', { id: 't', status });
      const moved = story.do('ada', 'claim.update', { id: 't', status: to });
      const expected = on.includes(to) ? null : 'claim.status';
      expect([from, to, codeOf(moved)]).toEqual([from, to, expected]);
    }
  }
});

test('[CM7] a checkpoint goes to the next holder after a lapse or a release, but not when the work is done', () => {
  const story = createClaimStory();
  story.take('ada', 't', 'src');
  story.ask('ada', 'claim.checkpoint', { id: 't', checkpoint: 'half' });
  story.pass(HOUR);
  expect(story.events.at(-1)).toMatchObject({ type: 'claim.expired', id: 't', owner: 'ada' });
  expect(story.take('bob', 't', 'src')).toMatchObject({
    inheritedFrom: 'ada',
    claim: { checkpoint: 'half' },
  });
  story.release('bob', 't');
  expect(story.take('eve', 't', 'src').claim.checkpoint).toBe('half');
  story.ask('eve', 'claim.update', { id: 't', status: 'done' });
  story.release('eve', 't');
  expect(story.take('ada', 't', 'src')).toMatchObject({
    inheritedFrom: null,
    claim: { checkpoint: null },
  });
});

test('[CM8] a claim taken over keeps the work and the time left; it is offered to somebody who is there', () => {
  const story = createClaimStory();
  story.ask('ada', 'claim.take', { id: 't', scope: scopeOf('src'), git: 'g' });
  story.ask('ada', 'claim.update', { id: 't', status: 'working', dataRef: 'd' });
  const before = story.ask('ada', 'claim.checkpoint', { id: 't', checkpoint: 'half' });
  story.absent.add('zoe');
  expect(codeOf(story.do('ada', 'claim.hand-off', { id: 't', to: 'zoe' }))).toBe(
    'claim.recipient-absent',
  );
  expect(codeOf(story.do('ada', 'claim.hand-off', { id: 't', to: 'ada' }))).toBe(
    'claim.recipient-self',
  );
  story.pass(600_000);
  const { claim: after, inheritedFrom } = accepted(story.handOver('ada', 't', 'bob'));
  expect(inheritedFrom).toBe('ada');
  expect(after).toEqual({ ...before, owner: 'bob', epoch: after.epoch, version: 3 });
  expect(after.epoch).toBeGreaterThan(before.epoch);
  expect(codeOf(story.do('ada', 'claim.release', { id: 't' }))).toBe('claim.not-holder');
  story.ask('bob', 'claim.hand-off', { id: 't', to: 'eve', ttlMs: 60_000, note: 'yours' });
  const { claim: short } = story.ask('eve', 'claim.take', { id: 't' });
  expect(short.note).toBe('yours');
  expect(short.lapsesAt).toBe(story.at + 60_000);
  story.pass(60_000);
  expect(story.events.at(-1)).toMatchObject({ type: 'claim.expired', owner: 'eve' });
});

test('[CM8] an offer binds nobody and counts against nobody, and is the holder’s to take back', () => {
  const story = createClaimStory();
  const { epoch } = story.take('ada', 't', 'src').claim;
  const offered = story.ask('ada', 'claim.hand-off', { id: 't', to: 'bob' });
  expect(offered).toMatchObject({ owner: 'ada', epoch, offer: { to: 'bob' } });
  expect([...story.book.counts]).toEqual([['ada', 1]]);
  const { length } = story.events;
  story.ask('ada', 'claim.hand-off', { id: 't', to: 'bob' });
  expect(story.events).toHaveLength(length);
  expect(codeOf(story.do('eve', 'claim.take', { id: 't' }))).toBe('claim.held');
  expect(codeOf(story.do('bob', 'claim.update', { id: 't', note: 'x' }))).toBe('claim.not-holder');
  expect(codeOf(story.do('ada', 'claim.renew', { id: 't', epoch }))).toBeNull();
  expect(story.ask('ada', 'claim.hand-off', { id: 't', to: 'ada' }).offer).toBeNull();
  expect(codeOf(story.do('bob', 'claim.take', { id: 't' }))).toBe('claim.held');
  // To another: the first may no longer take it.
  story.ask('ada', 'claim.hand-off', { id: 't', to: 'bob' });
  story.ask('ada', 'claim.hand-off', { id: 't', to: 'eve' });
  expect(codeOf(story.do('bob', 'claim.take', { id: 't' }))).toBe('claim.held');
  // What is given back is offered no more.
  story.release('ada', 't');
  story.take('dan', 't', 'src');
  expect(codeOf(story.do('eve', 'claim.take', { id: 't' }))).toBe('claim.held');
});

test('[CM8] who takes over may name other files, which are free or refused', () => {
  const story = createClaimStory();
  story.take('ada', 't', 'src');
  story.take('eve', 'd', 'docs');
  story.ask('ada', 'claim.hand-off', { id: 't', to: 'bob' });
  expect(codeOf(story.tryTake('bob', 't', 'docs/a'))).toBe('claim.overlap');
  expect(story.take('bob', 't', 'lib').claim).toMatchObject({
    owner: 'bob',
    scope: scopeOf('lib'),
  });
  expect(codeOf(story.tryTake('eve', 's', 'src'))).toBeNull();
});

test('[CM8] a hand-off leaves no path with two holders and no agent over its quota', () => {
  const story = createClaimStory();
  story.take('ada', 'wide', 'src');
  story.take('ada', 'narrow', 'src/a');
  expect(story.handOver('ada', 'wide', 'bob')).toMatchObject({
    refused: 'claim.overlap',
    detail: { holder: 'ada', overlaps: [{ mine: 'src', theirs: 'src/a' }] },
  });
  story.release('ada', 'narrow');
  for (let i = 0; i < CLAIMS_PER_AGENT_MAX; i++) story.ask('bob', 'claim.take', { id: `b${i}` });
  expect(codeOf(story.handOver('ada', 'wide', 'bob'))).toBe('claim.quota');
  story.release('bob', 'b0');
  expect(codeOf(story.handOver('ada', 'wide', 'bob'))).toBeNull();
});

test('[CM9] a lapse is an event, and what it covered is free', () => {
  const story = createClaimStory();
  story.take('ada', 't', 'src');
  story.pass(HOUR - 1);
  expect(codeOf(story.tryTake('bob', 'u', 'src/x'))).toBe('claim.overlap');
  story.pass(1);
  expect(codeOf(story.do('ada', 'claim.renew', { id: 't' }))).toBe('claim.not-found');
  story.take('bob', 'u', 'src/x');
  expect(story.events.map(({ type }) => type)).toEqual([
    'claim.taken',
    'claim.expired',
    'claim.taken',
  ]);
  expect(story.book.counts.get('ada')).toBeUndefined();
});

test('[CM9] much that lapses together lapses in steps, all of it once, and the turns come after', () => {
  const story = createClaimStory();
  const count = LAPSES_AT_ONCE_MAX + 44;
  for (let i = 0; i < count; i++) story.take(`agent${i}`, `t${i}`, `f${i}`);
  story.ask('bob', 'claim.wait', { scope: scopeOf('f0', `f${count - 1}`), ttlMs: 2 * HOUR });
  const steps: number[] = [];
  for (story.at += HOUR; (nextExpiry(story.book) ?? Infinity) <= story.at; ) {
    const lapsed = expireClaims(story.book, story.at);
    for (const event of lapsed) evolveClaims(story.book, event);
    steps.push(lapsed.length);
  }
  expect(steps).toEqual([LAPSES_AT_ONCE_MAX, 44 + 1]);
  expect([...story.book.waits.values()].map(({ isReserved }) => isReserved)).toEqual([true]);
});

test('[CM10] an agent holds at most 128 claims; its renewals and a released place are free', () => {
  const story = createClaimStory();
  for (let i = 0; i < CLAIMS_PER_AGENT_MAX; i++) story.take('ada', `t${i}`, `f${i}`);
  expect(story.tryTake('ada', 'more', 'x')).toMatchObject({
    refused: 'claim.quota',
    detail: { limit: 'CLAIMS_PER_AGENT_MAX', max: 128 },
  });
  expect(codeOf(story.tryTake('ada', 't0', 'f0'))).toBeNull();
  story.release('ada', 't0');
  expect(codeOf(story.tryTake('ada', 'more', 'x'))).toBeNull();
});

test('[CM10] a claim that has lapsed takes up no place', () => {
  const story = createClaimStory();
  story.ask('ada', 'claim.take', { id: 'short', ttlMs: 30_000 });
  for (let i = 1; i < CLAIMS_PER_AGENT_MAX; i++) story.take('ada', `t${i}`, `f${i}`);
  expect(codeOf(story.tryTake('ada', 'more', 'x'))).toBe('claim.quota');
  story.pass(30_000);
  expect(codeOf(story.tryTake('ada', 'more', 'x'))).toBeNull();
});

test('[CM11] ids and texts are bounded and printable; a refusal changes nothing', () => {
  const story = createClaimStory();
  for (const id of ['', ' ', 'a b', 'a\nb', 'x'.repeat(257)]) {
    expect([id, codeOf(story.tryTake('ada', id, 'x'))]).toEqual([id, 'claim.id-invalid']);
  }
  expect(codeOf(story.do('ada', 'claim.take', { id: 't', note: 'x'.repeat(5000) }))).toBe(
    'claim.text-too-long',
  );
  expect(codeOf(story.tryTake('ada', 't', 'ok', '../x'))).toBe('scope.escape');
  expect(story.events).toEqual([]);
  story.take('ada', 'the-id:any/été.1', 'x');
  const checkpoint = 'x'.repeat(CHECKPOINT_CHARS_MAX + 1);
  const id = 'the-id:any/été.1';
  expect(codeOf(story.do('ada', 'claim.checkpoint', { id, checkpoint }))).toBe(
    'claim.text-too-long',
  );
});

test('[CM12] a key repeats the answer for its sender, command and content only', () => {
  const story = createClaimStory();
  const once = { id: 't', scope: scopeOf('src'), idempotency: { key: 'k', digest: 'd1' } };
  const first = story.ask('ada', 'claim.take', once);
  const length = story.events.length;
  story.at += 5;
  expect(story.do('ada', 'claim.take', once)).toEqual(first);
  expect(story.events).toHaveLength(length);
  const other = { ...once, id: 'u', idempotency: { key: 'k', digest: 'd2' } };
  expect(codeOf(story.do('ada', 'claim.take', other))).toBe('claim.key-reused');
  expect(codeOf(story.do('bob', 'claim.take', once))).toBe('claim.held');
  const release = { id: 't', idempotency: { key: 'k', digest: 'd1' } };
  expect(codeOf(story.do('ada', 'claim.release', release))).toBeNull();
  expect(story.book.claims.size).toBe(0);
  expect(codeOf(story.do('bob', 'claim.take', once))).toBeNull();
});

test('[CM12] keys are bounded for each sender, and the oldest is forgotten', () => {
  const story = createClaimStory();
  story.ask('bob', 'claim.take', { id: 'b', idempotency: { key: 'mine', digest: 'd' } });
  for (let i = 0; i <= CLAIM_KEYS_PER_AGENT_MAX; i++) {
    story.ask('ada', 'claim.take', { id: 't', idempotency: { key: `k${i}`, digest: 'd' } });
  }
  expect(story.book.keysBySender.get('ada')?.size).toBe(CLAIM_KEYS_PER_AGENT_MAX);
  const length = story.events.length;
  story.ask('bob', 'claim.take', { id: 'b', idempotency: { key: 'mine', digest: 'd' } });
  expect(story.events).toHaveLength(length);
  story.ask('ada', 'claim.take', { id: 't', idempotency: { key: 'k0', digest: 'd' } });
  expect(story.events.length).toBeGreaterThan(length);
});
