/**
 * What the servers of a store tell one another every second: that they are there, and how far they have come with
 * each space. Nothing of it is stored, and nothing is decided by it: it is what the owner is shown [SQ6]. Each telling is
 * sealed by the server it is of [JN3].
 */

import { readJson } from '../../core/law/json.ts';
import type { Link } from '../../log/nats/link.ts';
import type { NatsPlace } from '../../log/nats/place.ts';
import type { Seals } from './seal.ts';

export interface SpaceNews {
  readonly space: string;
  readonly position: number;
  /** Entries that are known to be stored and are not here yet. */
  readonly lag: number;
  readonly isMine: boolean;
}

export interface ServerNews {
  readonly name: string;
  readonly version: string;
  readonly url: string | null;
  /** When it started, by its own clock. */
  readonly since: number;
  readonly isDraining: boolean;
  readonly spaces: readonly SpaceNews[];
}

export interface HeardServer extends ServerNews {
  /** How long ago it was heard of. */
  readonly heardMs: number;
  readonly isGone: boolean;
}

export interface News {
  /** Ourselves too, by name. */
  servers(): HeardServer[];
  /** How far the one that sequences a space has come, as it said last; 0 when nobody said. */
  sequenced(space: string): number;
  close(): void;
}

const TELL_MS = 1_000;
const GONE_MS = 3_000;
/** A server that is gone is shown for so long. */
const FORGOTTEN_MS = 60 * 60 * 1_000;
const SERVERS_MAX = 64;
/** In one telling; the rest are told in turn. */
const SPACES_TOLD_MAX = 500;
const SPACES_HEARD_MAX = 10_000;
const TEXT_MAX = 256;

interface Heard {
  at: number;
  news: Omit<ServerNews, 'spaces'>;
  /** Of one start of the server: another start begins anew. */
  readonly spaces: Map<string, SpaceNews>;
  /** Names that were told of, and are not open any more, go when all have been told once. */
  round: Set<string>;
}

export function openNews(link: Link, place: NatsPlace, seals: Seals, tell: () => ServerNews): News {
  const { connection } = link;
  const heard = new Map<string, Heard>();
  let from = 0;

  const listening = connection.subscribe(`${place.prefix}.news`, {
    callback(error, message) {
      if (error !== null || seals.isOwn(message.data)) return;
      const opened = seals.open({ purpose: 'news', space: null }, message.data);
      if (opened === null || seals.hear(opened) !== 'fresh') return;
      const told = parseNews(opened.bytes);
      if (told?.news.name === opened.from) hear(told, performance.now());
    },
  });

  function hear({ news, isRoundEnd }: Told, at: number): void {
    const { spaces, ...rest } = news;
    const last = heard.get(news.name);
    if (last === undefined && heard.size >= SERVERS_MAX && !forgetOne(at)) return;
    const isSame = last !== undefined && last.news.since === rest.since;
    const one: Heard = isSame ? last : { at, news: rest, spaces: new Map(), round: new Set() };
    one.at = at;
    one.news = rest;
    for (const space of spaces) {
      if (one.spaces.size < SPACES_HEARD_MAX || one.spaces.has(space.space))
        one.spaces.set(space.space, space);
      one.round.add(space.space);
    }
    if (isRoundEnd) {
      for (const name of one.spaces.keys()) if (!one.round.has(name)) one.spaces.delete(name);
      one.round = new Set();
    }
    heard.set(news.name, one);
  }

  function forgetOne(now: number): boolean {
    for (const [name, { at }] of heard) if (now - at > GONE_MS) return heard.delete(name);
    return false;
  }

  function say(): void {
    const now = performance.now();
    for (const [name, { at }] of heard) if (now - at > FORGOTTEN_MS) heard.delete(name);
    const news = tell();
    const { spaces } = news;
    if (from >= spaces.length) from = 0;
    const part = spaces.slice(from, from + SPACES_TOLD_MAX);
    from += part.length;
    const told: Told = { news: { ...news, spaces: part }, isRoundEnd: from >= spaces.length };
    // We know of ourselves without NATS too.
    hear(told, now);
    if (connection.isClosed()) return;
    const sealed = seals.seal({ purpose: 'news', space: null }, Buffer.from(JSON.stringify(told)));
    connection.publish(`${place.prefix}.news`, sealed);
  }

  say();
  const timer = setInterval(say, TELL_MS).unref();

  return {
    servers() {
      const now = performance.now();
      // Of ourselves we know more than we told last.
      hear({ news: tell(), isRoundEnd: true }, now);
      return [...heard.values()]
        .map(({ at, news, spaces }) => ({
          ...{ ...news, spaces: [...spaces.values()] },
          ...{ heardMs: now - at, isGone: now - at > GONE_MS },
        }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    sequenced(space) {
      let position = 0;
      for (const { spaces } of heard.values()) {
        const one = spaces.get(space);
        if (one?.isMine) position = Math.max(position, one.position);
      }
      return position;
    },
    close() {
      clearInterval(timer);
      listening.unsubscribe();
    },
  };
}

interface Told {
  readonly news: ServerNews;
  readonly isRoundEnd: boolean;
}

/** Null for what no server of ours says. */
export function parseNews(data: Uint8Array): Told | null {
  try {
    const { news, isRoundEnd } = readJson(Buffer.from(data).toString('utf8')) as Told;
    const { name, version, url, since, spaces } = news;
    const isWhole =
      [name, version, url ?? ''].every(isShort) &&
      Number.isFinite(since) &&
      spaces.length <= SPACES_TOLD_MAX &&
      spaces.every((one) => isShort(one.space) && isCount(one.position) && isCount(one.lag));
    const isDraining = news.isDraining === true;
    return isWhole ? { news: { ...news, isDraining }, isRoundEnd: isRoundEnd === true } : null;
  } catch {
    return null;
  }
}

function isShort(text: unknown): boolean {
  return typeof text === 'string' && text.length <= TEXT_MAX;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
