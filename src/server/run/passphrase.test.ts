/** Passphrases: what is kept tells nothing, and the same words are the same. */
import { expect, test } from 'vitest';
import { checkPassphrase, sealPassphrase } from './passphrase.ts';

test('[GT4] a seal opens for its passphrase alone, does not hold it, and differs each time', async () => {
  const words = 'correct horse bättery';
  const [one, other] = await Promise.all([sealPassphrase(words), sealPassphrase(words)]);
  expect(one).toMatch(/^scrypt\$65536\$8\$1\$/);
  expect(one).not.toContain('horse');
  expect(one).not.toBe(other);
  const tried = await Promise.all([
    checkPassphrase(words, one),
    // Typed on a keyboard that composes its letters otherwise.
    checkPassphrase(words.normalize('NFD'), one),
    checkPassphrase('correct horse battery', one),
    checkPassphrase(words, null),
    checkPassphrase(words, 'scrypt$1'),
  ]);
  expect(tried).toEqual([true, true, false, false, false]);
});
