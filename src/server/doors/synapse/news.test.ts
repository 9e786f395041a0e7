import { describe, expect, test } from 'vitest';
import { createWorld } from '../../../core/law/state.ts';
import { parseFrame } from './frame.ts';
import { newsOf } from './news.ts';
import { recipientsOf } from './recipients.ts';
import { createSpeech, newestThatFit } from './speech.ts';

describe('newsOf', () => {
  test('[SY6] a lease that ran out is told, which the original kept to itself', () => {
    const event = { type: 'claim.expired', at: 1, id: 'T', owner: 'ada', epoch: 3 } as const;
    expect(newsOf(createWorld(), event)).toMatchObject([
      { type: 'system', fields: { event: 'claim_expired', task_id: 'T', owner: 'ada', epoch: 3 } },
    ]);
  });

  test('[SY6] a claim let go in the moment it was taken is still told as it was granted', () => {
    const [news] = newsOf(createWorld(), {
      type: 'claim.taken',
      at: 1_000,
      by: 'ada',
      id: 'T',
      epoch: 7,
      scope: { worktree: 'w', branch: 'b', paths: ['src'] },
      ttlMs: 60_000,
      note: null,
      git: null,
      inheritedFrom: null,
    });
    expect(news?.fields).toEqual({
      task_id: 'T',
      owner: 'ada',
      note: '',
      status: 'claimed',
      worktree: 'w',
      paths: ['src'],
      epoch: 7,
      version: 0,
      checkpoint: '',
      git: { branch: 'b', base: '', auto_release_on: 'manual' },
      lease_expires_at: 61,
    });
  });
});

describe('recipientsOf', () => {
  const online = ['quantum', 'quantum/c-1', 'other/c-1'];
  test.each([
    ['quantum', ['quantum', 'quantum/c-1']],
    ['quantum/*', ['quantum/c-1']],
    ['*/c-1', ['other/c-1', 'quantum/c-1']],
    ['quantum/c-1, other/c-1', ['other/c-1', 'quantum/c-1']],
    ['other/c-1,all', ['other/c-1']],
    ['away', ['away']],
    ['nobody/*', []],
    ['not a name', []],
  ])('[SY4] %s means %j', (target, names) => {
    expect(recipientsOf(target, online)).toEqual(names);
  });
});

describe('parseFrame', () => {
  test('[SY7] depth is counted outside of strings', () => {
    expect(parseFrame(`{"a":${'['.repeat(63)}${']'.repeat(63)}}`)).not.toBeNull();
    expect(parseFrame(`{"a":${'['.repeat(64)}${']'.repeat(64)}}`)).toBeNull();
    expect(parseFrame(`{"a":"${'['.repeat(100)}\\"["}`)).not.toBeNull();
    expect(parseFrame('['.repeat(1_000_000))).toBeNull();
  });
});

describe('speech', () => {
  const speech = createSpeech(() => 1_500);

  test('[SY5] a frame that would be too large is cut, marked, and still valid', () => {
    const paths = Array.from({ length: 500 }, (_, i) => `${i}${'é'.repeat(4_000)}`);
    const frame = JSON.parse(speech.say('claim_granted', 'all', 'x', { task_id: 'T', paths }));
    expect(frame).toMatchObject({ task_id: 'T', paths: [], truncated: true, timestamp: 1.5 });
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [i, 'y'.repeat(60_000)]));
    const text = speech.relay({ ...many, type: 'chat', payload: 'p', msg_id: 1 });
    expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024);
    expect(JSON.parse(text)).toMatchObject({ type: 'chat', msg_id: 1, truncated: true });
  });

  test('[SY5] of rows the newest are kept', () => {
    expect(newestThatFit([1, 2, 3], 4)).toEqual({ rows: [2, 3], isCut: true });
    expect(newestThatFit([1, 2, 3], 6)).toEqual({ rows: [1, 2, 3], isCut: false });
  });

  test('[SY7] what is not finite never gets out', () => {
    expect(speech.say('x', 'all', '', { lease: Number.NaN, more: 1 / 0 })).toContain(
      '"lease":null',
    );
  });
});
