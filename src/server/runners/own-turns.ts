/**
 * Which turns this server runs, a file for each beside their transcripts: where several servers run turns of one space, the
 * next start of one ends those that it left, and no other's [RU25].
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Turn } from '../../core/turns/turn-state.ts';

export interface OwnTurns {
  add(space: string, turn: RunTime): void;
  remove(space: string, turn: RunTime): void;
  has(space: string, turn: RunTime): boolean;
}

/** One time that a turn is run. */
type RunTime = Pick<Turn, 'id' | 'epoch'>;

export function openOwnTurns(dir: string): OwnTurns {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const pathOf = (space: string, { id, epoch }: RunTime): string =>
    join(dir, `${space}.${id}.${epoch}`);
  return {
    add(space, turn) {
      try {
        writeFileSync(pathOf(space, turn), '', { mode: 0o600 });
      } catch {
        // On a full disk the turn runs all the same; should the server die with it, another ends it [RU26], or its lease does.
      }
    },
    remove: (space, turn) => rmSync(pathOf(space, turn), { force: true }),
    has: (space, turn) => existsSync(pathOf(space, turn)),
  };
}
