/** The registry as the owner works with it: invite, list, revoke, and what a server needs at NATS. */
import { isRefusal, type Refusal } from '../../core/law/decider.ts';
import type { Link } from '../../log/nats/link.ts';
import type { NatsPlace } from '../../log/nats/place.ts';
import { type Invite, invite, isWaiting, notFound, revoke } from './invite.ts';
import type { Member } from './member.ts';
import { natsUser } from './permissions.ts';
import type { Invitation, Revoked } from './registry.ts';

export interface RegistryDesk {
  invite(wish: Invite): Promise<InvitedServer | Refusal>;
  servers(): RegistryReading;
  revoke(what: string): Promise<{ revoked: 'server' | 'token'; name: string } | Refusal>;
  permissions(what: string): Promise<{ nats_user: string } | Refusal>;
}

interface OpenToken {
  readonly token_id: string;
  readonly name: string | null;
  readonly spaces: string[] | null;
  readonly invited_by: string;
  readonly expires_at: number;
}

interface InvitedServer extends OpenToken {
  readonly token: string;
  readonly nats_user: string;
}

export interface RegistryReading {
  readonly cluster: string;
  readonly servers: {
    readonly name: string;
    readonly key: string;
    readonly spaces: string[] | null;
    readonly joined_by: string | null;
    readonly joined_at: number;
    readonly revoked: { by: string; at: number } | null;
  }[];
  readonly tokens: OpenToken[];
  readonly dropped: number;
}

export function createRegistryDesk(link: Link, place: NatsPlace, member: Member): RegistryDesk {
  const { name, key, stream } = member;
  const { registry } = stream;
  const inviter = { name, key, stream, place };
  return {
    async invite(wish) {
      const invited = await invite(inviter, wish);
      if (isRefusal(invited)) return invited;
      const { token, invitation } = invited;
      const user = await natsUser(link, place, { ...invitation, tokenKey: invitation.publicKey });
      return { token, ...tokenView(invitation), nats_user: user };
    },
    servers: () => ({
      cluster: registry.cluster ?? '',
      servers: [...registry.servers.values()].map((one) => ({
        ...{ name: one.name, key: one.publicKey, spaces: listOf(one.spaces) },
        ...{ joined_by: one.joinedBy, joined_at: one.joinedAt / 1000 },
        revoked: revokedView(one.revoked),
      })),
      tokens: [...registry.invitations.values()].filter(isWaiting).map(tokenView),
      dropped: member.dropped,
    }),
    async revoke(what) {
      const out = await revoke(inviter, what);
      if (isRefusal(out)) return out;
      return { revoked: 'server' in out ? 'server' : 'token', name: what };
    },
    async permissions(what) {
      await stream.refresh();
      const server = registry.servers.get(what);
      const invitation = registry.invitations.get(what);
      if (server !== undefined) return { nats_user: await natsUser(link, place, server) };
      if (invitation === undefined) return notFound(what);
      const user = { ...invitation, tokenKey: invitation.publicKey };
      return { nats_user: await natsUser(link, place, user) };
    },
  };
}

function tokenView(invitation: Invitation): OpenToken {
  return {
    ...{ token_id: invitation.id, name: invitation.name, spaces: listOf(invitation.spaces) },
    ...{ invited_by: invitation.by, expires_at: invitation.expiresAt / 1000 },
  };
}

function revokedView(revoked: Revoked | null): { by: string; at: number } | null {
  return revoked === null ? null : { by: revoked.by, at: revoked.at / 1000 };
}

function listOf(spaces: readonly string[] | null): string[] | null {
  return spaces === null ? null : [...spaces];
}
