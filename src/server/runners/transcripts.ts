/**
 * The transcripts of a hub's turns: one file a turn, for as long as there is room, the oldest going
 * first. Those that grow are watched here, by whoever may see the turn [RU11].
 */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TurnLine, TurnOutput, TurnWindow } from '../desk/turn-window.ts';
import { type OpenTranscript, openTranscript, readTail } from './transcript.ts';

interface Room {
  readonly filesMax: number;
  readonly bytesMax: number;
}

const ROOM: Room = { filesMax: 1_000, bytesMax: 1024 * 1024 * 1024 };

export interface OfTurn {
  readonly space: string;
  readonly turn_id: string;
  readonly agent_id: string;
  readonly attempt: number;
}

export interface Transcripts extends Pick<TurnWindow, 'follow'> {
  /** The last lines of a turn that runs or ran here. */
  tail(space: string, turnId: string): readonly TurnLine[];
  /** Attempts of one turn are one transcript. */
  open(turn: OfTurn, onSign: () => void): OpenTranscript;
}

interface Kept {
  readonly path: string;
  bytes: number;
}

export function createTranscripts(
  dir: string,
  now: () => number = Date.now,
  { filesMax, bytesMax }: Room = ROOM,
): Transcripts {
  const live = new Map<string, OpenTranscript>();
  const listeners = new Set<(output: TurnOutput) => void>();
  const kept = readKept(dir);
  let total = kept.reduce((sum, { bytes }) => sum + bytes, 0);

  function pathOf(space: string, turnId: string): string {
    return join(dir, space, `${encodeURIComponent(turnId)}.jsonl`);
  }

  function makeRoom(): void {
    for (let at = 0; at < kept.length && (kept.length > filesMax || total > bytesMax); ) {
      const { path, bytes } = kept[at] as Kept;
      if (live.has(path)) {
        at += 1;
        continue;
      }
      rmSync(path, { force: true });
      kept.splice(at, 1);
      total -= bytes;
    }
  }

  function forget(path: string): void {
    const at = kept.findIndex((one) => one.path === path);
    if (at < 0) return;
    total -= kept[at]?.bytes ?? 0;
    kept.splice(at, 1);
  }

  return {
    open({ space, turn_id, agent_id, attempt }, onSign) {
      const path = pathOf(space, turn_id);
      mkdirSync(join(dir, space), { recursive: true, mode: 0o700 });
      // Of another space that had this name, and was removed.
      if (attempt <= 1) rmSync(path, { force: true });
      forget(path);
      const entry: Kept = { path, bytes: 0 };
      kept.push(entry);
      const transcript = openTranscript({
        ...{ path, now, onSign },
        onLines(lines) {
          for (const listener of listeners) listener({ space, turn_id, agent_id, lines });
        },
      });
      const open: OpenTranscript = {
        ...transcript,
        close() {
          transcript.close();
          if (!live.delete(path)) return;
          entry.bytes = sizeOf(path);
          total += entry.bytes;
          makeRoom();
        },
      };
      live.set(path, open);
      makeRoom();
      return open;
    },
    tail(space, turnId) {
      const path = pathOf(space, turnId);
      return live.get(path)?.tail() ?? readTail(path);
    },
    follow(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The oldest first. */
function readKept(dir: string): Kept[] {
  const found: (Kept & { readonly at: number })[] = [];
  for (const space of list(dir)) {
    for (const name of list(join(dir, space))) {
      const path = join(dir, space, name);
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat?.isFile()) found.push({ path, bytes: stat.size, at: stat.mtimeMs });
    }
  }
  return found.sort((one, other) => one.at - other.at);
}

function list(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
