/**
 * Who comes into a cluster and who goes: a server that serves all spaces invites another with a token, and takes
 * servers and tokens out again. What is refused here every other server would have ignored [JN7].
 */
import { randomBytes } from 'node:crypto';
import { isRefusal, type Refusal, refuse, refuseFull } from '../../core/law/decider.ts';
import { CLUSTER_SERVERS_MAX } from '../../core/law/limits.ts';
import { formatNatsUrl, type NatsPlace } from '../../log/nats/place.ts';
import { writeJoinToken } from './join-token.ts';
import { createSeed, type KeyPair, keyPairOfSeed } from './keys.ts';
import type { Entry, Invitation, Registry, Server } from './registry.ts';
import type { RegistryStream } from './registry-stream.ts';

const NONCE_BYTES = 16;

export interface Inviter {
  readonly name: string;
  readonly key: KeyPair;
  readonly stream: RegistryStream;
  readonly place: NatsPlace;
}

export interface Invite {
  readonly name: string | null;
  /** Null: all. */
  readonly spaces: readonly string[] | null;
  readonly ttlMs: number;
}

export interface Invited {
  readonly token: string;
  readonly invitation: Invitation;
}

export async function invite(inviter: Inviter, wish: Invite): Promise<Invited | Refusal> {
  const { name: by, key, stream, place } = inviter;
  const seed = createSeed();
  const id = randomBytes(6).toString('hex');
  const added = await addUnlessRefused(stream, key, (registry) => {
    const refusal = speaksForAll(registry, by) ?? roomFor(registry, wish);
    if (refusal !== null) return refusal;
    const { name, spaces, ttlMs } = wish;
    const entry = { kind: 'invited', cluster: clusterOf(registry), id, by, name, spaces, ttlMs };
    return { ...entry, key: keyPairOfSeed(seed).id } as Entry;
  });
  if (added !== null) return added;
  const { registry } = stream;
  const token = writeJoinToken({
    ...{ store: formatNatsUrl(place), cluster: clusterOf(registry), id, name: wish.name, seed },
  });
  return { token, invitation: registry.invitations.get(id) as Invitation };
}

/** What was taken out: a server by its name, or a token by its id. */
export async function revoke(
  { name: by, key, stream }: Inviter,
  what: string,
): Promise<{ readonly server: Server } | { readonly invitation: Invitation } | Refusal> {
  const added = await addUnlessRefused(stream, key, (registry) => {
    const refusal = speaksForAll(registry, by);
    if (refusal !== null) return refusal;
    if (what === by) return itself(by);
    const subject = openServer(registry, what)
      ? { server: what }
      : openInvitation(registry, what) && { invitation: what };
    if (!subject) return notFound(what);
    const nonce = randomBytes(NONCE_BYTES).toString('hex');
    return { kind: 'revoked', cluster: clusterOf(registry), subject, by, nonce };
  });
  if (added !== null) return added;
  const server = stream.registry.servers.get(what);
  if (server !== undefined) return { server };
  return { invitation: stream.registry.invitations.get(what) as Invitation };
}

/** Null when it was added and counts. */
async function addUnlessRefused(
  stream: RegistryStream,
  key: KeyPair,
  judge: (registry: Registry) => Entry | Refusal,
): Promise<Refusal | null> {
  const said: { refusal: Refusal | null } = { refusal: null };
  const stop = new Error();
  try {
    const { counts } = await stream.add(() => {
      const judged = judge(stream.registry);
      if (!isRefusal(judged)) return judged;
      said.refusal = judged;
      throw stop;
    }, key);
    return counts ? null : refuse('internal', 'the registry did not take what it was to take');
  } catch (cause) {
    if (cause !== stop) throw cause;
    return said.refusal;
  }
}

function speaksForAll(registry: Registry, by: string): Refusal | null {
  const own = registry.servers.get(by);
  if (own?.revoked !== null)
    return refuse('cluster.revoked', `this server, ${by}, was taken out of the cluster`);
  if (own.spaces === null) return null;
  return refuse(
    'cluster.scoped',
    `this server, ${by}, serves ${own.spaces.join(', ')} alone; ask one that serves all spaces`,
  );
}

function roomFor(registry: Registry, { name }: Invite): Refusal | null {
  if (name !== null && openServer(registry, name)) {
    return refuse(
      'cluster.name-taken',
      `a server ${name} is in the cluster; choose another name, or take it out with cluster.revoke first`,
    );
  }
  // Each token that waits becomes a server without being asked again.
  const waiting = [...registry.invitations.values()].filter(isWaiting).length;
  const servers = [...registry.servers.values()].filter(({ revoked }) => revoked === null).length;
  return servers + waiting < CLUSTER_SERVERS_MAX
    ? null
    : refuseFull('CLUSTER_SERVERS_MAX', CLUSTER_SERVERS_MAX);
}

/** Neither used nor revoked; whether it has expired NATS tells who tries it. */
function isOpen({ usedBy, revoked }: Invitation): boolean {
  return usedBy === null && revoked === null;
}

/** What counts against the bound and is shown: one that has expired, by the clock of this server, needs no taking back. */
export function isWaiting(invitation: Invitation): boolean {
  return isOpen(invitation) && invitation.expiresAt > Date.now();
}

function openServer(registry: Registry, name: string): boolean {
  return registry.servers.get(name)?.revoked === null;
}

function openInvitation(registry: Registry, id: string): boolean {
  const found = registry.invitations.get(id);
  return found !== undefined && isOpen(found);
}

function clusterOf(registry: Registry): string {
  return registry.cluster ?? '';
}

function itself(name: string): Refusal {
  return refuse(
    'cluster.itself',
    `${name} is the server that you ask, and a server does not take itself out; ask another one`,
  );
}

export function notFound(what: string): Refusal {
  return refuse(
    'cluster.not-found',
    `no server and no open token ${JSON.stringify(what.slice(0, 64))} is in the registry; see cluster.servers`,
  );
}
