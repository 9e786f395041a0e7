/**
 * Where the log of a space lies among the streams of a prefix. A stream cannot be written anew, so a log that
 * is compacted becomes another stream, its next generation; a stream of pointers says which one counts. The
 * old stream ends with a message that names the new one: that message is the moment of the change, and whoever
 * finds a pointer that is behind goes on from there [G12].
 */
import { randomBytes } from 'node:crypto';
import { type Compacted, LogError } from '../log.ts';
import { API, apiCode } from './failure.ts';
import type { Link } from './link.ts';
import { readMessage } from './message.ts';
import { type NatsPlace, shownPlace } from './place.ts';
import { requireKeeping } from './settings.ts';
import { addStream, addStreams, dropStreams, namesOf, streamWord } from './streams.ts';

export interface Generation {
  readonly space: string;
  readonly id: string;
  readonly compacted: Compacted | null;
  /** The id of its first generation: what is signed of the log is found by that. */
  readonly lineage?: string;
  /** The space was removed; its streams are those of this generation. */
  readonly removed?: { readonly at: number };
  /** Nothing was stored there yet, and so many servers may still find that nothing will be; with none of them it is nobody's. */
  readonly making?: number;
}

export interface GenerationOptions {
  readonly readOnly?: boolean;
  /** A space that was removed is made again, empty. */
  readonly revives?: boolean;
  /** Whoever opens it has not decided whether it makes it: what it finds making is counted in. */
  readonly mayUnmake?: boolean;
}

/** The generation that counts; made when the space is new. Where it is still `making`, this opening is among the makers. */
export async function openGeneration(
  link: Link,
  place: NatsPlace,
  space: string,
  { readOnly = false, revives = false, mayUnmake = false }: GenerationOptions = {},
): Promise<Generation> {
  await openPointers(link, place);
  /** The generation of which it is known that we are among its makers. */
  let counted = '';
  for (;;) {
    const pointer = await readPointer(link, place, space);
    if (pointer !== null && (await settleLeftOver(link, place, pointer.generation)))
      counted = pointer.generation.id;
    if (pointer === null || isFree(pointer.generation, revives)) {
      if (readOnly) throw noSpace(place, space);
      const making = mayUnmake ? { making: 1 } : {};
      const made = await makeGeneration(link, place, space, making, pointer?.seq ?? 0);
      if (made === null) continue;
      counted = made;
      // Whoever found that it is nobody's was stopped before its streams were gone.
      if (pointer?.generation.making === 0) await dropStreams(link, place, pointer.generation);
      continue;
    }
    const { generation, seq } = pointer;
    if (generation.making !== undefined && counted !== generation.id && !readOnly) {
      const { making, ...settled } = generation;
      const next = mayUnmake ? { ...settled, making: making + 1 } : settled;
      if ((await writePointer(link, place, next, seq)) !== null) counted = generation.id;
      continue;
    }
    if (generation.removed !== undefined) throw wasRemoved(place, space, generation.removed.at);
    const end = await endOf(link, place, generation);
    const next = end?.replacedBy ?? null;
    if (end !== null && next === null) return generation;
    if (next === null || (await endOf(link, place, next)) === null) {
      // Or it was replaced since, and is not wanted any more.
      if ((await readPointer(link, place, space))?.seq !== seq) continue;
      throw next === null
        ? streamGone(place, generation)
        : replacementGone(place, generation, next, end?.seq ?? 0);
    }
    // Whoever replaced it was stopped before the pointer moved, or is about to move it.
    if ((await writePointer(link, place, next, seq)) !== null)
      await dropStreams(link, place, generation);
  }
}

/** What a making that failed could not remove, or what may be named, is used by the next one here: it is left once. */
const leftOver = new Map<string, LeftOver>();
/** Names are invented without end. */
const LEFT_OVER_MAX = 1_000;

interface LeftOver {
  readonly id: string;
  readonly mayBeNamed: boolean;
}

function leave(key: string, left: LeftOver): void {
  leftOver.set(key, left);
  const [oldest] = leftOver.size > LEFT_OVER_MAX ? leftOver.keys() : [];
  if (oldest !== undefined) leftOver.delete(oldest);
}

/** The pointer tells what became of it: it is named, which is answered, or somebody else was first and it is nobody's. */
async function settleLeftOver(link: Link, place: NatsPlace, named: Generation): Promise<boolean> {
  const key = JSON.stringify([place, named.space]);
  const left = leftOver.get(key);
  const isNamed = left?.id === named.id;
  // Where a space was removed, or is nobody's, a pointer that makes it again may still come.
  if (left === undefined || (isFree(named, true) && !isNamed)) return false;
  leftOver.delete(key);
  if (!isNamed) await dropStreams(link, place, { space: named.space, id: left.id });
  return isNamed;
}

/**
 * Made, and its id where the pointer names it; null where another was first. Or nothing is left of it that could be
 * removed [NL10].
 */
async function makeGeneration(
  link: Link,
  place: NatsPlace,
  space: string,
  making: Pick<Generation, 'making'>,
  previous: number,
): Promise<string | null> {
  const key = JSON.stringify([place, space]);
  // Never by two at once: one would remove what the other has named.
  const left = leftOver.get(key);
  leftOver.delete(key);
  const fresh = { space, id: left?.id ?? createId(), compacted: null, ...making };
  let mayBeNamed = left?.mayBeNamed ?? false;
  try {
    await addStreams(link, place, fresh, mayBeNamed);
    if ((await nameIt()) !== null) return fresh.id;
    // Of several servers that begin at once one is first; what the others made is nobody's.
    const first = mayBeNamed ? await readPointer(link, place, space) : null;
    if (first?.generation.id === fresh.id) return fresh.id;
    await dropStreams(link, place, fresh);
    return null;
  } catch (error) {
    const isGone = !mayBeNamed && (await dropStreams(link, place, fresh));
    if (!isGone) leave(key, { id: fresh.id, mayBeNamed });
    throw error;
  }

  async function nameIt(): Promise<number | null> {
    try {
      return await writePointer(link, place, fresh, previous);
    } catch (error) {
      // Only what the server refused is known not to be stored.
      if (apiCode(error) === null) mayBeNamed = true;
      throw error;
    }
  }
}

function isFree({ removed, making }: Generation, revives: boolean): boolean {
  return making === 0 || (removed !== undefined && revives);
}

export function createId(): string {
  return randomBytes(6).toString('hex');
}

export function pointersOf(prefix: string): string {
  return `${prefix}-spaces`;
}

/** Of the stream of pointers: where each space lies, who is there, and who has what. */
const POINTERS = ['spaces', 'alive', 'lease'];

export async function openPointers(link: Link, place: NatsPlace): Promise<void> {
  const name = pointersOf(place.prefix);
  const subjects = POINTERS.map((kind) => `${place.prefix}.${kind}.*`);
  try {
    const { config } = await link.manager.streams.info(name);
    requireKeeping(shownPlace(place), config, 1);
    if (subjects.every((one) => config.subjects.includes(one))) return;
    const all = [...new Set([...config.subjects, ...subjects])];
    await link.manager.streams.update(name, { subjects: all });
  } catch (error) {
    if (apiCode(error) !== API.streamNotFound) throw error;
    try {
      await addStream(link, place, { name, subjects, max_msgs_per_subject: 1 });
    } catch (cause) {
      if (apiCode(cause) !== API.streamNameInUse) throw cause;
    }
  }
}

export function pointerSubject({ prefix }: NatsPlace, space: string): string {
  return `${prefix}.spaces.${streamWord(space)}`;
}

export async function readPointer(
  { manager }: Link,
  place: NatsPlace,
  space: string,
): Promise<{ readonly generation: Generation; readonly seq: number } | null> {
  const last_by_subj = pointerSubject(place, space);
  const message = await manager.streams.getMessage(pointersOf(place.prefix), { last_by_subj });
  if (message === null) return null;
  const generation = parsePointer(message.data);
  if (generation?.space !== space) throw otherSpace(place, space, generation);
  return { generation, seq: message.seq };
}

/** Null for what is no pointer: anybody may publish under a prefix that is not guarded. */
export function parsePointer(data: Uint8Array): Generation | null {
  try {
    const found = JSON.parse(Buffer.from(data).toString('utf8')) as Partial<Generation> | null;
    const isPointer = typeof found?.space === 'string' && typeof found.id === 'string';
    return isPointer ? ({ compacted: null, ...found } as Generation) : null;
  } catch {
    return null;
  }
}

/** Its number; null where somebody else was first, who has said the same, or something newer: the next look tells. */
export async function writePointer(
  { js }: Link,
  place: NatsPlace,
  generation: Generation,
  previous: number,
): Promise<number | null> {
  const subject = pointerSubject(place, generation.space);
  const expect = { lastSubjectSequence: previous };
  try {
    return (await js.publish(subject, JSON.stringify(generation), { expect })).seq;
  } catch (error) {
    if (apiCode(error) !== API.wrongLastSequence) throw error;
    return null;
  }
}

/** After a replacement that this process carried out. */
export async function movePointer(link: Link, place: NatsPlace, to: Generation): Promise<void> {
  const pointer = await readPointer(link, place, to.space);
  if (pointer !== null) await writePointer(link, place, to, pointer.seq);
}

interface End {
  readonly seq: number;
  readonly replacedBy: Generation | null;
}

/** The last of its log, and what that names; null when there is no such stream. */
async function endOf(
  { manager }: Link,
  place: NatsPlace,
  generation: Generation,
): Promise<End | null> {
  const { log, logSubject } = namesOf(place, generation);
  try {
    const last = await manager.streams.getMessage(log, { last_by_subj: logSubject });
    if (last === null) return { seq: 0, replacedBy: null };
    const { replaced, data, seq } = readMessage(last);
    const replacedBy = replaced === null ? null : parsePointer(data);
    if (replaced !== null && replacedBy?.space !== generation.space)
      throw otherSpace(place, generation.space, replacedBy);
    return { seq, replacedBy };
  } catch (error) {
    if (apiCode(error) !== API.streamNotFound) throw error;
    return null;
  }
}

function wasRemoved(place: NatsPlace, space: string, at: number): LogError {
  const when = new Date(at).toISOString();
  return new LogError(
    'log.removed',
    `${shownPlace(place)}: space ${space} was removed at ${when}`,
    {
      path: shownPlace(place),
    },
  );
}

function otherSpace(place: NatsPlace, space: string, found: Generation | null): LogError {
  const named = found === null ? 'something else' : `the log of the space ${found.space}`;
  return new LogError(
    'log.corrupt',
    `${shownPlace(place)} has, where the log of the space ${space} should be named, ${named}: somebody else writes under this prefix, or copied it there; use another prefix, or restore the space from an export`,
    { path: shownPlace(place) },
  );
}

function noSpace(place: NatsPlace, space: string): LogError {
  return new LogError('log.unavailable', `${shownPlace(place)} has no space ${space}`, {
    path: shownPlace(place),
  });
}

function streamGone(place: NatsPlace, generation: Generation): LogError {
  const { log } = namesOf(place, generation);
  return new LogError(
    'log.corrupt',
    `${shownPlace(place)} names the stream ${log} for the space ${generation.space}, and it is gone: restore the log from an export`,
    { path: shownPlace(place) },
  );
}

/** Earlier versions removed what a compaction had made when its last answer was lost. */
function replacementGone(
  place: NatsPlace,
  old: Generation,
  next: Generation,
  seq: number,
): LogError {
  const [{ log }, { log: gone }] = [namesOf(place, old), namesOf(place, next)];
  return new LogError(
    'log.corrupt',
    `the stream ${log} of ${shownPlace(place)} says that the space ${old.space} goes on in ${gone}, and that is gone. What was stored until then is in ${log}: to go on from there take its last message away (nats stream rmm ${log} ${seq}), or restore the log from an export`,
    { path: shownPlace(place) },
  );
}
