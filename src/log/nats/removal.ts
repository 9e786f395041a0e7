/**
 * Spaces that were removed. The pointer of the space says so from then on: that one write removes it for every server,
 * and none makes it again unless it is asked to by name [SP4]. Its streams are sealed, so that nobody who has not heard
 * of it yet can store anything there, or deleted.
 */
import type { StreamConfig } from '@nats-io/jetstream';
import { LogError } from '../log.ts';
import { API, apiCode, natsFailure } from './failure.ts';
import {
  type Generation,
  openPointers,
  parsePointer,
  pointersOf,
  readPointer,
  writePointer,
} from './generation.ts';
import { type Link, openLink } from './link.ts';
import { type NatsPlace, shownPlace } from './place.ts';
import { namesOf, removeStreams } from './streams.ts';

export interface NatsRemoval {
  readonly space: string;
  /** When; milliseconds. */
  readonly at: number;
  /** The generation whose streams are kept. */
  readonly id: string;
  /** The stream of its log. */
  readonly stream: string;
}

/** Two servers may remove it at once: the first says when. */
export async function removeNatsSpace(
  place: NatsPlace,
  space: string,
  at: number,
): Promise<NatsRemoval | null> {
  return withLink(place, `remove ${space} from`, async (link) => {
    for (;;) {
      const pointer = await readPointer(link, place, space);
      if (pointer === null) return null;
      const { generation, seq } = pointer;
      if (generation.removed !== undefined) {
        await sealStreams(link, place, generation);
        return removalOf(place, generation);
      }
      const { making, ...settled } = generation;
      if (making === 0) return null;
      await writePointer(link, place, { ...settled, removed: { at } }, seq);
    }
  });
}

export async function deleteNatsRemoved(
  place: NatsPlace,
  { space, id }: Pick<NatsRemoval, 'space' | 'id'>,
): Promise<void> {
  await withLink(place, `delete what ${space} held from`, (link) =>
    removeStreams(link, place, { space, id }),
  );
}

/** The names that are refused. */
export async function natsRemovals(place: NatsPlace): Promise<NatsRemoval[]> {
  return withLink(place, 'list the removed spaces of', async (link) => {
    await openPointers(link, place);
    const stream = pointersOf(place.prefix);
    const { state } = await link.manager.streams.info(stream, {
      subjects_filter: `${place.prefix}.spaces.*`,
    });
    const found: NatsRemoval[] = [];
    for (const last_by_subj of Object.keys(state.subjects ?? {})) {
      const message = await link.manager.streams.getMessage(stream, { last_by_subj });
      const pointer = message === null ? null : parsePointer(message.data);
      const removal = pointer === null ? null : removalOf(place, pointer);
      if (removal !== null) found.push(removal);
    }
    return found;
  });
}

export function removalOf(place: NatsPlace, generation: Generation): NatsRemoval | null {
  const { space, id, removed } = generation;
  if (removed === undefined) return null;
  return { space, at: removed.at, id, stream: namesOf(place, generation).log };
}

/** Nothing is stored there any more; whatever is there can be read, and deleted. */
async function sealStreams(link: Link, place: NatsPlace, generation: Generation): Promise<void> {
  const { log } = namesOf(place, generation);
  try {
    const { config } = await link.manager.streams.info(log);
    if (!config.sealed) {
      await link.manager.streams.update(log, { ...config, sealed: true } as Partial<StreamConfig>);
    }
  } catch (error) {
    if (apiCode(error) !== API.streamNotFound) throw error;
  }
}

export async function withLink<T>(
  place: NatsPlace,
  tried: string,
  work: (link: Link) => Promise<T>,
): Promise<T> {
  const link = await openLink(place);
  try {
    return await work(link);
  } catch (error) {
    throw error instanceof LogError ? error : natsFailure(shownPlace(place), tried, error);
  } finally {
    await link.release();
  }
}
