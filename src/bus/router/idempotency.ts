/**
 * Idempotency keys: the same key runs once. A request repeated while the first one runs waits for
 * the same answer; one repeated later gets the answer that was kept [BU12]. Only what a worker
 * answered is kept: an error of the bus means "try again", and trying again must work.
 *
 * Kept answers are bounded in number, bytes and time; the oldest goes first, and a repeat after
 * that runs again, like the first time.
 */
import type { Envelope } from '../process/scan-message.ts';
import { loadCrypto } from '../process/secrets.ts';
import type { KeptAnswer } from './state.ts';

const KEYS_MAX = 10_000;
const KEPT_BYTES_MAX = 33_554_432;

export interface Keys {
  find(key: string, now: number): KeptAnswer | undefined;
  begin(key: string, print: string, now: number, keptUntil: number): KeptAnswer;
  settle(kept: KeptAnswer, answer: Envelope): void;
  forget(kept: KeptAnswer): void;
}

export const printOf = (method: string, params: string): string =>
  loadCrypto()
    .createHash('sha256')
    .update(method)
    .update('\0')
    .update(params, 'latin1')
    .digest('base64');

export function createKeys(): Keys {
  const keys = new Map<string, KeptAnswer>();
  // In the order they were answered. One that runs is not in it and is never forgotten: its repeats
  // wait for it, and requests are bounded elsewhere.
  const answered = new Set<KeptAnswer>();
  let bytes = 0;

  const forget = (kept: KeptAnswer): void => {
    if (keys.get(kept.key) !== kept) return;
    keys.delete(kept.key);
    if (answered.delete(kept)) bytes -= kept.answer?.line.length ?? 0;
  };

  const makeRoom = (now: number): void => {
    for (const kept of answered) {
      const isTooMuch = answered.size > KEYS_MAX || bytes > KEPT_BYTES_MAX;
      if (!isTooMuch && kept.keptUntil > now) return;
      forget(kept);
    }
  };

  return {
    find(key, now) {
      const kept = keys.get(key);
      if (!kept?.answer || kept.keptUntil > now) return kept;
      forget(kept);
      return undefined;
    },
    begin(key, print, now, keptUntil) {
      const kept: KeptAnswer = { key, print, keptUntil, waiting: new Set(), answer: null };
      keys.set(key, kept);
      makeRoom(now);
      return kept;
    },
    settle(kept, answer) {
      if (keys.get(kept.key) !== kept) return;
      kept.answer = answer;
      bytes += answer.line.length;
      answered.add(kept);
      makeRoom(0);
    },
    forget,
  };
}
