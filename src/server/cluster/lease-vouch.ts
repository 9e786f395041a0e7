/**
 * Words of leases, sealed by who says them. That a server is there it says itself; who has a space is said by a server
 * that serves it, of itself or of whom it hands it to. What a server says that was taken out is nobody's word [JN5].
 */
import type { LeaseVouch } from '../../log/nats/lease-store.ts';
import type { Seals } from './seal.ts';

export function vouchLeases(seals: Seals): LeaseVouch {
  return {
    seal(key, text) {
      const space = spaceOf(key);
      const sealed = seals.seal({ purpose: 'lease', space, to: key }, Buffer.from(text));
      return Buffer.from(sealed).toString('base64');
    },
    open(key, sealed) {
      const space = spaceOf(key);
      const bytes = Buffer.from(sealed, 'base64');
      const opened = seals.open({ purpose: 'lease', space, to: key }, bytes);
      if (opened === null || (space === null && key !== `server ${opened.from}`)) return null;
      return Buffer.from(opened.bytes).toString('utf8');
    },
  };
}

/** Null for the word of a server about itself. */
function spaceOf(key: string): string | null {
  return key.startsWith('space ') ? key.slice('space '.length) : null;
}
