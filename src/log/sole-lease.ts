/**
 * The lease of a space for a server that shares with nobody: it has it, or is told who does. A word that its predecessor had
 * said may come late and looks like life; nothing follows it, so it is waited out and the start is not refused [NL5].
 */
import type { Lease, Leases } from './lease.ts';
import { type Steady, WRITE_MS_MAX } from './lease-words.ts';

/** So many words may come late, one after the other. */
const TRIES_MAX = 4;

/** Null when it was taken by another again and again, or could not be written, as `isRefused` tells. */
export async function takeSoleLease(
  leases: Pick<Leases, 'of'>,
  space: string,
  steady: Steady,
  isRefused: () => boolean = () => false,
): Promise<Lease | null> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    // Throws when another is there for sure: one that goes on saying so.
    const lease = await leases.of(space);
    if (await isMineSoon(lease, steady)) return lease;
    await lease.close();
    if (isRefused()) return null;
  }
  return null;
}

function isMineSoon(lease: Lease, steady: Steady): Promise<boolean> {
  return new Promise((resolve) => {
    lease.onChange(() => lease.isMine && resolve(true));
    steady.after(WRITE_MS_MAX, () => resolve(lease.isMine));
    lease.stand();
  });
}
