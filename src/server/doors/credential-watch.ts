/**
 * A connection lives no longer than the token that opened it: it ends when the token is
 * revoked, rotated or expired [I5], or over with its turn [TN7]. Connections opened without a token are not watched.
 */
import { isRefusal } from '../../core/law/decider.ts';
import type { Caller, Introduction } from '../desk/caller.ts';
import type { Desk } from '../desk/desk.ts';

/** What a token is refused with that opens nothing any more. */
const OVER: ReadonlySet<string> = new Set(['access.unknown', 'session.gone', 'turn.stale']);
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface WatchedCredential {
  readonly introduction: Introduction;
  readonly caller: Caller;
  /** May be called more than once. */
  end(reason: 'revoked' | 'expired'): void;
}

const NOTHING = (): void => {};

/** Watches until the answer is called. */
export function watchCredential(
  desk: Pick<Desk, 'authenticate' | 'onRevoked'>,
  watched: WatchedCredential,
): () => void {
  return watched.caller.tokenId === null ? NOTHING : watchToken(desk, watched);
}

function watchToken(
  desk: Pick<Desk, 'authenticate' | 'onRevoked'>,
  { introduction, caller, end }: WatchedCredential,
): () => void {
  const { tokenId, tokenExpiresAt } = caller;
  let timer: NodeJS.Timeout | undefined;
  const arm = (expiresAt: number): void => {
    const leftMs = expiresAt - Date.now();
    if (leftMs <= 0) end('expired');
    else timer = setTimeout(() => arm(expiresAt), Math.min(leftMs, TIMER_MS_MAX)).unref();
  };
  const stopListening = desk.onRevoked((revoked) => {
    if (revoked === tokenId) end('revoked');
  });
  if (tokenExpiresAt !== undefined) arm(tokenExpiresAt);
  // The token may have been revoked after it was looked at and before we listened: we look again.
  void desk.authenticate(introduction).then((again) => {
    if (isRefusal(again) && OVER.has(again.refused)) end('revoked');
  });
  return () => {
    stopListening();
    clearTimeout(timer);
  };
}
