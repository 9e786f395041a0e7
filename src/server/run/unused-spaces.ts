/**
 * Spaces that are open here and that nobody here uses, where another server sequences them: their copy is closed, so that
 * nothing is read of what others store, and no memory is held of it [SQ29]. Who asks for one next opens it again, so that a
 * space is opened no oftener than once in that time, whoever asks.
 */
import type { Clock } from '../../hub/clock.ts';
import type { Hub } from '../../hub/hub.ts';
import type { OpenSpaces } from './spaces.ts';

export interface UnusedSpacesOptions {
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly spaces: Pick<OpenSpaces, 'opened' | 'rest' | 'onOpened'>;
  /** For so long nobody asked for it. */
  readonly unusedMs: number;
  /** When each space was asked for anything at our doors last; infinite where somebody is connected. */
  uses(): ReadonlyMap<string, number>;
}

export interface UnusedSpaces {
  /** It is about to be used: another server hands it over, say. */
  note(space: string): void;
  close(): void;
}

const LOOKS = 10;
const LOOK_MS_MAX = 30_000;

export function watchUnusedSpaces(options: UnusedSpacesOptions): UnusedSpaces {
  const { clock, spaces, unusedMs } = options;
  const notedAt = new Map<string, number>();
  const note = (space: string): void => void notedAt.set(space, clock.now());
  const stop = spaces.onOpened((hub) => note(hub.space));
  let isClosed = false;

  async function look(): Promise<void> {
    const before = clock.now() - unusedMs;
    const found = spaces
      .opened()
      .filter((hub) => isElsewhere(hub) && !hub.isInUse)
      .filter(({ space }) => (notedAt.get(space) ?? 0) <= before);
    if (found.length === 0) return;
    const uses = options.uses();
    const unused = found.filter(({ space }) => (uses.get(space) ?? 0) <= before);
    for (const { space } of unused) notedAt.delete(space);
    // In the turn in which it was looked: from then on who asks finds them closed.
    await Promise.all(unused.map(({ space }) => spaces.rest(space)));
  }

  let cancel = (): void => {};
  function again(): void {
    if (isClosed) return;
    cancel = clock.after(Math.min(unusedMs / LOOKS, LOOK_MS_MAX), () => void look().then(again));
  }
  again();

  return {
    note,
    close() {
      isClosed = true;
      stop();
      cancel();
    },
  };
}

/** Another decides there; where nobody is known to, we may be next. */
function isElsewhere({ standing }: Hub): boolean {
  return standing !== null && standing.sequencer !== null && standing.sequencer !== standing.server;
}
