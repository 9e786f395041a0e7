/**
 * How a person's browser comes in: by a link that is good once and for a minute, and whose secret only
 * its maker has [WD1]. What it gets is a session, which is a token of kind `human` in the log: it
 * survives a restart, ends by itself, and is revoked as a token is [WD2]. Its secret has two halves: a
 * browser sends a cookie to every port of this machine, and keeps what a page stores to one [WD3].
 */
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import type { Principal } from '../../core/law/principal.ts';
import type { Token, WorldView } from '../../core/law/state.ts';
import { isLive } from '../../core/law/token.ts';
import type { Hub } from '../../hub/hub.ts';
import { PAGE_HALF, tokenText } from './identity.ts';
import type { Platform } from './platform.ts';
import type { Spaces } from './spaces.ts';

export const LINK_MS = 60_000;
export const WEB_SESSION_MS: number = 30 * 86_400_000;
/** Of one space; the oldest ends when there is another. */
export const WEB_SESSIONS_MAX = 32;
const LINKS_MAX = 100;
const DEVICE_CHARS_MAX = 64;

/** Ids of other tokens are hexadecimal, so that no other begins with it. */
const SESSION_ID = 'w';

interface Link {
  readonly space: string;
  readonly name: string;
  /** Who made it, and in whose name the session is made. */
  readonly by: Principal;
  /** By the clock that only goes forward. */
  readonly until: number;
}

/** What a browser is given, once. */
export interface OpenedSession {
  readonly cookie: string;
  readonly page: string;
  readonly maxAgeMs: number;
}

export interface WebSessions {
  /** The secret of a new link. */
  makeLink(space: string, name: string, by: Principal): string;
  /** Spends a link. */
  enter(secret: string, device: string): Promise<OpenedSession | Refusal>;
}

/** What the two halves come to: the token of a session, or null. */
export function webSessionToken(cookie: string, page: string): string | null {
  const [, space = '', id = '', half = ''] =
    /^([a-z0-9_-]{1,64})\.(w[a-z0-9]{1,63})\.([\w-]{1,64})$/.exec(cookie) ?? [];
  if (half === '' || !page.startsWith(PAGE_HALF)) return null;
  return tokenText(space, id, half + page.slice(PAGE_HALF.length));
}

export function isWebSession({ id }: Pick<Token, 'id'>): boolean {
  return id.startsWith(SESSION_ID);
}

/** Newest first. */
export function liveWebSessions(world: WorldView, at: number): Token[] {
  return [...world.tokens.values()]
    .filter((token) => isWebSession(token) && isLive(token, at))
    .reverse();
}

export function createWebSessions(platform: Platform, spaces: Spaces): WebSessions {
  const { elapsedMs, newSecret, newId, digest } = platform;
  const links = new Map<string, Link>();

  function take(secret: string): Link | null {
    const key = digest(secret);
    const link = links.get(key);
    links.delete(key);
    return link !== undefined && link.until > elapsedMs() ? link : null;
  }

  /** Those that ran out, and the oldest of too many: tokens that are revoked make room [I12]. */
  async function makeRoom(hub: Hub, by: Principal): Promise<void> {
    const at = hub.stamp();
    const over = await hub.ask((world) => {
      const kept = new Set(liveWebSessions(world, at).slice(0, WEB_SESSIONS_MAX - 1));
      return [...world.tokens.values()].filter(
        (token) => isWebSession(token) && token.revokedAt === null && !kept.has(token),
      );
    });
    if (isRefusal(over)) return;
    for (const { id } of over) {
      await hub.submit({ type: 'token.revoke', by, at: hub.stamp(), id });
    }
  }

  return {
    makeLink(space, name, by) {
      const secret = newSecret();
      links.set(digest(secret), { space, name, by, until: elapsedMs() + LINK_MS });
      const oldest = links.keys().next().value;
      if (links.size > LINKS_MAX && oldest !== undefined) links.delete(oldest);
      return secret;
    },
    async enter(secret, device) {
      const link = take(secret);
      if (link === null) return spent();
      const { space, name, by } = link;
      const hub = spaces.find(space) ?? (await spaces.open(space, { mayCreate: false }));
      if (isRefusal(hub)) return hub;
      await makeRoom(hub, by);
      const [half, other] = [newSecret(), newSecret()];
      const id = `${SESSION_ID}${newId().replaceAll('-', '').slice(0, 12)}`;
      const at = hub.stamp();
      const made = await hub.submit({
        ...{ type: 'token.create', by, at, id, agent: name, kind: 'human', tier: 'owner' },
        ...{ hash: digest(half + other), label: device.slice(0, DEVICE_CHARS_MAX) || null },
        ...{ roles: [], expiresAt: at + WEB_SESSION_MS },
      });
      if (isRefusal(made)) return made;
      return {
        cookie: `${space}.${id}.${half}`,
        page: `${PAGE_HALF}${other}`,
        maxAgeMs: WEB_SESSION_MS,
      };
    },
  };
}

function spent(): Refusal {
  return refuse(
    'link.spent',
    'this link opens nothing: it was used, or is older than a minute; ask for another with synod web',
  );
}
