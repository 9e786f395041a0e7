/** Proofs to be a person: whose they are, how long they last, and what guessing costs. */
import { expect, test } from 'vitest';
import { isRefusal } from '../../core/law/decider.ts';
import { createActivity } from './activity.ts';
import type { Caller } from './caller.ts';
import type { Platform } from './platform.ts';
import { createProofs } from './proofs.ts';

const MINUTES_15 = 900_000;

function createStage() {
  const time = { now: 1_000_000_000_000, elapsedMs: 5_000 };
  let secrets = 0;
  const platform = {
    now: () => time.now,
    elapsedMs: () => time.elapsedMs,
    newSecret: () => `secret-${++secrets}`,
    digest: (text: string) => `digest of ${text}`,
  } as unknown as Platform;
  return { time, proofs: createProofs(platform) };
}

function createCaller(name: string, wishes: Partial<Caller> = {}): Caller {
  return {
    ...{ principal: { id: name, kind: 'admin', tier: 'owner' }, space: 'default' },
    ...{ transport: 'http', connectionId: 'c', clientVersion: null, mayMakeSpace: false },
    ...{ isOwner: true, tokenId: null, credential: null, authMs: 0 },
    activity: createActivity(name),
    ...wishes,
  };
}

const right = async (): Promise<boolean> => true;
const wrong = async (): Promise<boolean> => false;

test('[GT3] a proof holds for the caller that made it: its name, its credential, its space', async () => {
  const { proofs } = createStage();
  const owner = createCaller('owner');
  const proof = await proofs.prove(owner, 'mia', MINUTES_15, 'passphrase', right);
  if (isRefusal(proof)) throw new Error(proof.message);
  expect(proofs.personOf(owner, proof)).toBe('mia');
  expect(proofs.personOf(createCaller('owner', { connectionId: 'another' }), proof)).toBe('mia');
  for (const other of [
    createCaller('zed'),
    createCaller('owner', { isOwner: false, tokenId: 't1' }),
    createCaller('owner', { space: 'elsewhere' }),
  ]) {
    expect(proofs.personOf(other, proof)).toBeNull();
  }
  for (const shown of [null, undefined, '', 'syp_x']) {
    expect(proofs.personOf(owner, shown)).toBeNull();
  }
  expect(createStage().proofs.personOf(owner, proof)).toBeNull();
});

test('[GT3] it ends after its time, and a clock that is set back does not prolong it', async () => {
  const { proofs, time } = createStage();
  const owner = createCaller('owner');
  const proof = await proofs.prove(owner, 'mia', MINUTES_15, 'passphrase', right);
  if (isRefusal(proof)) throw new Error(proof.message);
  time.now -= 7_200_000;
  time.elapsedMs += MINUTES_15 - 1;
  expect(proofs.personOf(owner, proof)).toBe('mia');
  time.elapsedMs += 1;
  expect(proofs.personOf(owner, proof)).toBeNull();
});

test('[GT3] guessing waits longer each time, one try at a time, by credential and not by name', async () => {
  const { proofs, time } = createStage();
  const waits: number[] = [];
  for (let i = 0; i < 9; i++) {
    const refused = await proofs.prove(
      createCaller(`name-${i}`),
      'mia',
      MINUTES_15,
      'passphrase',
      wrong,
    );
    if (!isRefusal(refused)) throw new Error('it is wrong');
    expect(refused.refused).toBe('proof.wrong');
    waits.push((refused.retryAt ?? 0) - time.now);
    const soon = await proofs.prove(createCaller('other'), 'mia', MINUTES_15, 'passphrase', right);
    expect(soon).toMatchObject({ refused: 'rate.limited' });
    time.elapsedMs += waits.at(-1) ?? 0;
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000));
  // Another credential is not kept waiting for it.
  const token = createCaller('tom', { isOwner: false, tokenId: 't1' });
  expect(await proofs.prove(token, 'tom', MINUTES_15, 'passphrase', right)).toMatch(/^syp_/);
  let release = (_: boolean): void => {};
  const slow = proofs.prove(createCaller('owner'), 'mia', MINUTES_15, 'passphrase', () => {
    return new Promise<boolean>((resolve) => {
      release = resolve;
    });
  });
  const beside = await proofs.prove(createCaller('owner'), 'mia', MINUTES_15, 'passphrase', right);
  expect(beside).toMatchObject({ refused: 'rate.limited' });
  release(true);
  expect(await slow).toMatch(/^syp_/);
});

test('[GT3] who proves it without end pushes out its own proofs, and nobody else’s', async () => {
  const { proofs } = createStage();
  const [mia, tom] = [createCaller('mia'), createCaller('tom')];
  const first = await proofs.prove(mia, 'mia', MINUTES_15, 'passphrase', right);
  const made: (string | object)[] = [];
  for (let i = 0; i < 2_000; i++) {
    made.push(await proofs.prove(tom, 'tom', MINUTES_15, 'passkey', right));
  }
  expect(proofs.personOf(mia, String(first))).toBe('mia');
  expect(proofs.personOf(tom, String(made.at(-1)))).toBe('tom');
  expect(proofs.personOf(tom, String(made[0]))).toBeNull();
});
