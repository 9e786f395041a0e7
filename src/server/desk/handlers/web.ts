/** The window's links and sessions. The secret of a link is made here and shown once [WD1]. */
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import type { Handlers, Room } from '../room.ts';
import { isWebSession, LINK_MS, liveWebSessions } from '../web-sessions.ts';

export const webHandlers: Handlers<
  'web.link' | 'web.sessions' | 'web.revoke' | 'web.phone_open' | 'web.phone_close'
> = {
  async 'web.link'(room, input) {
    const link = await makeLink(room, room.about.pageUrl(), input.name);
    if (isRefusal(link)) return link;
    return { ...link, expires_at: (room.platform.now() + LINK_MS) / 1000 };
  },

  async 'web.phone_open'(room, { host = null, port = null, name, link }) {
    const opened = await (room.platform.phone?.open({ host, port }) ?? noPhone());
    if (isRefusal(opened)) return opened;
    const made = link ? await makeLink(room, opened.url, name) : { url: null, name: null };
    if (isRefusal(made)) return made;
    const { url: origin, fingerprint, until } = opened;
    return { ...made, origin, fingerprint, open_until: until / 1000 };
  },

  async 'web.phone_close'({ platform }) {
    return { closed: (await platform.phone?.close()) ?? false };
  },

  async 'web.sessions'({ hub }) {
    const sessions = await hub.ask((world) => liveWebSessions(world, hub.stamp()));
    if (isRefusal(sessions)) return sessions;
    return {
      sessions: sessions.map(({ id, agent, label, createdAt, expiresAt }) => ({
        session_id: id,
        name: agent,
        device: label,
        created_at: createdAt / 1000,
        expires_at: (expiresAt ?? 0) / 1000,
      })),
    };
  },

  async 'web.revoke'({ hub, by }, { session_id: id }) {
    const session = await hub.ask((world) => world.tokens.get(id) ?? null);
    if (isRefusal(session)) return session;
    // Other tokens are ended by tokens.revoke, under their own name.
    if (session === null || !isWebSession(session)) {
      return refuse('token.not-found', `there is no session ${id}; see synod web sessions`);
    }
    if (session.revokedAt !== null) return { session_id: id, revoked: false };
    const revoked = await hub.submit({ type: 'token.revoke', by, at: hub.stamp(), id });
    if (isRefusal(revoked) && revoked.refused !== 'token.not-found') return revoked;
    return { session_id: id, revoked: !isRefusal(revoked) };
  },
};

/** For whom it is named, for the one person of the space, or for who asks. */
async function makeLink(
  { hub, by, caller, webSessions }: Room,
  origin: string,
  asked: string | undefined,
): Promise<{ url: string; name: string } | Refusal> {
  const people = await hub.ask((world) => [...world.gates.people.keys()]);
  if (isRefusal(people)) return people;
  const [only = by.id, another] = people;
  const name = asked ?? (another === undefined ? only : by.id);
  return { url: `${origin}/in/${webSessions.makeLink(caller.space, name, by)}`, name };
}

function noPhone(): Refusal {
  return refuse('operation.unknown', 'this hub listens nowhere, so that no phone reaches it');
}
