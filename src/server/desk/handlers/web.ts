/** The window's links and sessions. The secret of a link is made here and shown once [WD1]. */
import { isRefusal, refuse } from '../../../core/law/decider.ts';
import type { Handlers } from '../room.ts';
import { isSession, LINK_MS, liveSessions } from '../sessions.ts';

export const webHandlers: Handlers<'web.link' | 'web.sessions' | 'web.revoke'> = {
  async 'web.link'({ hub, by, caller, platform, sessions, about }, input) {
    const people = await hub.ask((world) => [...world.gates.people.keys()]);
    if (isRefusal(people)) return people;
    const [only = by.id, another] = people;
    const name = input.name ?? (another === undefined ? only : by.id);
    const secret = sessions.makeLink(caller.space, name, by);
    const expires_at = (platform.now() + LINK_MS) / 1000;
    return { url: `${about.pageUrl()}/in/${secret}`, name, expires_at };
  },

  async 'web.sessions'({ hub }) {
    const sessions = await hub.ask((world) => liveSessions(world, hub.stamp()));
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

  async 'web.revoke'({ hub, by, onRevoked }, { session_id: id }) {
    const session = await hub.ask((world) => world.tokens.get(id) ?? null);
    if (isRefusal(session)) return session;
    // Other tokens are ended by tokens.revoke, under their own name.
    if (session === null || !isSession(session)) {
      return refuse('token.not-found', `there is no session ${id}; see synod web sessions`);
    }
    if (session.revokedAt !== null) return { session_id: id, revoked: false };
    const revoked = await hub.submit({ type: 'token.revoke', by, at: hub.stamp(), id });
    if (isRefusal(revoked) && revoked.refused !== 'token.not-found') return revoked;
    onRevoked(id);
    return { session_id: id, revoked: !isRefusal(revoked) };
  },
};
