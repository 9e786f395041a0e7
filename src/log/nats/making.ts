/**
 * A space that is being made: the write that makes it may be refused, and then there is none [SP3]. Its pointer counts
 * the servers that opened it and do not know yet. One that stored something settles it for all; the last that leaves and
 * stored nothing takes it away, and each step is a write to the pointer that nobody else may have made meanwhile: what
 * another server has begun to use stays.
 */
import {
  type Generation,
  pointerSubject,
  pointersOf,
  readPointer,
  writePointer,
} from './generation.ts';
import type { Link } from './link.ts';
import type { NatsPlace } from './place.ts';
import { withLink } from './removal.ts';
import { removeStreams, streamWord } from './streams.ts';

export interface Making {
  /** It is there from now on, for every server. */
  settle(): Promise<void>;
  /** This server stored nothing in it, and has closed it; false where it is there all the same. */
  unmake(): Promise<boolean>;
}

/** Null where it was made before. */
export function makingOf(place: NatsPlace, { space, id, making }: Generation): Making | null {
  if (making === undefined) return null;

  /** Until it was written, or is none of ours any more: then null. */
  async function write(
    link: Link,
    change: (making: number, settled: Generation) => Generation,
  ): Promise<{ readonly written: Generation; readonly seq: number } | null> {
    for (;;) {
      const pointer = await readPointer(link, place, space);
      if (pointer?.generation.id !== id) return null;
      const { making: makers, ...settled } = pointer.generation;
      if (makers === undefined) return null;
      const written = change(makers, settled);
      const seq = await writePointer(link, place, written, pointer.seq);
      if (seq !== null) return { written, seq };
    }
  }

  return {
    settle: () =>
      withLink(place, `make ${space} in`, async (link) => {
        await write(link, (_, settled) => settled);
      }),
    unmake: () =>
      withLink(place, `take ${space} away from`, async (link) => {
        const left = await write(link, (makers, one) => ({ ...one, making: makers - 1 }));
        if (left?.written.making !== 0) return left !== null;
        await removeStreams(link, place, left.written);
        // Names are invented without end. What was said of it since is of who made it again.
        const { prefix } = place;
        const said = [pointerSubject(place, space), `${prefix}.lease.${streamWord(space)}`];
        for (const filter of said)
          await link.manager.streams.purge(pointersOf(prefix), { filter, seq: left.seq + 1 });
        return true;
      }),
  };
}
