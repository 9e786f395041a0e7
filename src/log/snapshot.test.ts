import { expect, test } from 'vitest';
import { decodeSnapshot, encodeSnapshot } from './snapshot.ts';

test('[H20] a long snapshot is encoded with pauses, and comes back to the character', async () => {
  // Pairs of halves at every place where a slice could end.
  for (const text of ['', 'a', `a${'😀'.repeat(400_000)}`, '😀'.repeat(400_000)]) {
    let pauses = 0;
    const snapshot = { position: 7, head: 'h', text };
    const bytes = await encodeSnapshot(snapshot, async () => {
      pauses++;
    });
    expect(pauses).toBe(Math.ceil(text.length / (256 * 1024)));
    expect(decodeSnapshot(bytes)).toEqual(snapshot);
  }
});
