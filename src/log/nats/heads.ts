/**
 * The signed heads of a log in JetStream, and the notes of its anchors: a stream of their own under the prefix, one
 * subject for each log, which a compaction does not change. Servers that share the log hear what the others sign. Like
 * the file beside a log they prove nothing by themselves: anchors are made of them, and an opening compares the log
 * with the newest [RC4] [RC9].
 */
import type { StreamConfig } from '@nats-io/jetstream';
import { type AnchorNote, encodeNote, parseNote } from '../anchor-notes.ts';
import type { Heads } from '../heads.ts';
import { encodeSignedHead, parseSignedHead, type SignedHead } from '../signed-head.ts';
import { readFirst } from './consume.ts';
import { API, apiCode, natsFailure } from './failure.ts';
import { type Generation, readPointer } from './generation.ts';
import { type Link, openLink } from './link.ts';
import { type NatsPlace, shownPlace } from './place.ts';
import { requireKeeping } from './settings.ts';
import { streamWord } from './streams.ts';

/** The newest of each log; every one of them vouches for all that was before it. */
const KEPT_MAX = 1_000;
const READ_AT_ONCE = 256;

export async function openNatsHeads(place: NatsPlace, space: string): Promise<Heads> {
  const link = await openLink(place);
  try {
    return await openOn(link, place, space);
  } catch (error) {
    await link.release();
    throw natsFailure(shownPlace(place), 'read the signed heads of', error);
  }
}

async function openOn(link: Link, place: NatsPlace, space: string): Promise<Heads> {
  const { js, manager, connection } = link;
  let isThere = false;
  const generation = (await readPointer(link, place, space))?.generation ?? null;
  const { stream, headsSubject, anchorsSubject } = headNames(place, space, generation);
  let heads: SignedHead[] = [];
  let strange = 0;
  let notes: AnchorNote[] = [];

  function hearHead(line: string): void {
    const head = parseSignedHead(line);
    if (head === null) strange++;
    else if (heads.at(-1)?.signature !== head.signature) heads = [...heads, head].slice(-KEPT_MAX);
  }
  function hearNote(line: string): void {
    notes = [...notes, ...parseNote(line)].slice(-KEPT_MAX);
  }

  await requireHeadsKept(link, place);
  for (const line of await readSubject(link, stream, headsSubject)) hearHead(line);
  for (const line of await readSubject(link, stream, anchorsSubject)) hearNote(line);
  const subscriptions = [
    connection.subscribe(headsSubject, {
      callback: (error, message) => void (error ?? hearHead(message.string())),
    }),
    connection.subscribe(anchorsSubject, {
      callback: (error, message) => void (error ?? hearNote(message.string())),
    }),
  ];

  /** Reading makes none. */
  async function put(subject: string, line: string): Promise<void> {
    if (!isThere) await ensureHeads(link, place);
    isThere = true;
    await js.publish(subject, line);
  }

  return {
    where: `the stream ${stream} (${headsSubject})`,
    get heads() {
      return heads;
    },
    get strange() {
      return strange;
    },
    get notes() {
      return notes;
    },
    async add(head) {
      await put(headsSubject, encodeSignedHead(head));
      hearHead(encodeSignedHead(head));
    },
    async note(note) {
      await put(anchorsSubject, encodeNote(note).trim());
    },
    async setAside(now) {
      const aside = `${headsSubject}-BROKEN-${now}`;
      for (const line of await readSubject(link, stream, headsSubject)) {
        await put(aside, line);
      }
      await manager.streams.purge(stream, { filter: headsSubject });
      heads = [];
      strange = 0;
      return `${stream} (${aside})`;
    },
    async close() {
      for (const one of subscriptions) one.unsubscribe();
      await link.release();
    },
  };
}

export function headsStreamOf(prefix: string): string {
  return `${prefix}-heads`;
}

/** Where the heads and the anchors of a log lie; a compaction does not move them. */
export function headNames(
  { prefix }: NatsPlace,
  space: string,
  generation: Pick<Generation, 'id' | 'lineage'> | null,
): { readonly stream: string; readonly headsSubject: string; readonly anchorsSubject: string } {
  const log = `${streamWord(space)}-${generation?.lineage ?? generation?.id ?? 'none'}`;
  return {
    stream: headsStreamOf(prefix),
    headsSubject: `${prefix}.heads.${log}`,
    anchorsSubject: `${prefix}.anchors.${log}`,
  };
}

export async function ensureHeads(link: Link, place: NatsPlace): Promise<void> {
  if (await requireHeadsKept(link, place)) return;
  const config = {
    ...{ name: headsStreamOf(place.prefix) },
    ...{ subjects: [`${place.prefix}.heads.*`, `${place.prefix}.anchors.*`] },
    ...{ storage: 'file', retention: 'limits', num_replicas: place.replicas },
    max_msgs_per_subject: KEPT_MAX,
  } as Partial<StreamConfig> & { name: string };
  await link.manager.streams.add(config).catch((cause: unknown) => {
    if (apiCode(cause) !== API.streamNameInUse) throw cause;
  });
}

/** False where there are none yet. Heads that were forgotten would let a log pass that was cut [NL6]. */
async function requireHeadsKept({ manager }: Link, place: NatsPlace): Promise<boolean> {
  try {
    const { config } = await manager.streams.info(headsStreamOf(place.prefix));
    requireKeeping(shownPlace(place), config, KEPT_MAX);
    return true;
  } catch (error) {
    if (apiCode(error) !== API.streamNotFound) throw error;
    return false;
  }
}

/** Every message of a subject as text, oldest first. */
async function readSubject(link: Link, stream: string, subject: string): Promise<string[]> {
  const info = await link.manager.streams
    .info(stream, { subjects_filter: subject })
    .catch((error: unknown) => {
      if (apiCode(error) !== API.streamNotFound) throw error;
      return null;
    });
  const count = info?.state.subjects?.[subject] ?? 0;
  const lines: string[] = [];
  for await (const message of readFirst(link, stream, subject, count, READ_AT_ONCE))
    lines.push(message.string());
  return lines;
}
