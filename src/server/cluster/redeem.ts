/**
 * `synod join`: a data directory is made a server of a cluster with a token. The token is good once: the first record
 * in the registry that it has signed counts, and every server sees the same one as first. What was begun and broken off
 * is finished when it is run again with the same token in the same directory [JN7].
 */
import { join } from 'node:path';
import { replaceFile } from '../../log/disk.ts';
import { API, apiCode } from '../../log/nats/failure.ts';
import { type Link, openLink } from '../../log/nats/link.ts';
import { writeNkeySeed } from '../../log/nats/nkey.ts';
import { formatNatsUrl, type NatsPlace, parseNatsUrl, shownPlace } from '../../log/nats/place.ts';
import { ClusterError } from './cluster-error.ts';
import { notFounded, requireOwn } from './enter.ts';
import { ensureServerKey, readKnownCluster, writeKnownCluster } from './identity.ts';
import { type JoinToken, parseJoinToken } from './join-token.ts';
import { type KeyPair, keyPairOfSeed } from './keys.ts';
import { type Invitation, SERVER_NAME, type WhyNot, whyNotJoin } from './registry.ts';
import { openRegistryStream, type RegistryStream } from './registry-stream.ts';

export interface Redeem {
  readonly token: string;
  /** The data directory; nobody else uses it meanwhile. */
  readonly dir: string;
  /** Where the token leaves it open. */
  readonly name: string | null;
  /** The store as this machine comes to it, where that is another way than the token says. */
  readonly store: string | null;
  /** The file of the authority that signed the certificates of NATS. */
  readonly ca: string | null;
}

export interface Joined {
  readonly name: string;
  readonly cluster: string;
  /** Null: all. */
  readonly spaces: readonly string[] | null;
  readonly invitedBy: string;
  /** What `synod serve` is started with. */
  readonly store: string;
}

export async function redeem(wish: Redeem): Promise<Joined> {
  const token = parseJoinToken(wish.token);
  const name = token.name ?? wish.name ?? '';
  if (wish.name !== null && token.name !== null && wish.name !== token.name)
    throw unfit('name', token.name, '');
  if (!SERVER_NAME.test(name)) {
    throw new ClusterError(
      'cluster.token-name',
      'this token is for any server: say which this is with --server-name, 1 to 64 letters, digits or any of . _ -',
    );
  }
  const key = ensureServerKey(wish.dir);
  const store = storeOf(token, wish);
  const place = placeOf(store);
  // Another cluster than this directory knows is refused before anything is written anywhere.
  requireOwn(place, token.cluster, readKnownCluster(wish.dir)?.cluster ?? null);
  const link = await openLink(place);
  try {
    const stream = await openFounded(link, place, token);
    const { spaces, by } = await joined(stream, token, name, key);
    writeKnownCluster(wish.dir, { cluster: token.cluster, name });
    return { name, cluster: token.cluster, spaces, invitedBy: by, store };
  } finally {
    await link.release();
  }
}

/** The key of the token is kept beside that of the server: it is what NATS knows this server by. */
function storeOf(token: JoinToken, { dir, store, ca }: Redeem): string {
  if (store !== null) return store;
  const path = join(dir, 'nats.nk');
  replaceFile(path, `${writeNkeySeed(token.seed)}\n`);
  return formatNatsUrl(placeOf(token.store), { nkey: path, ...(ca !== null && { ca }) });
}

function placeOf(store: string): NatsPlace {
  const place = parseNatsUrl(store);
  if (place !== null) return place;
  throw new ClusterError('cluster.token-invalid', `${store} is no store: nats://HOST:PORT/PREFIX`);
}

async function openFounded(
  link: Link,
  place: NatsPlace,
  token: JoinToken,
): Promise<RegistryStream> {
  const options = { isFollowed: false, mayMake: false };
  const stream = await openRegistryStream(link, place, options).catch((cause: unknown) => {
    if (apiCode((cause as Error).cause) === API.streamNotFound) throw notFounded(place);
    throw cause;
  });
  const { cluster, invitations } = stream.registry;
  if (cluster === null) throw notFounded(place);
  if (cluster !== token.cluster || !invitations.has(token.id)) {
    throw new ClusterError(
      'cluster.token-foreign',
      `the token is for the cluster ${token.cluster}, and ${shownPlace(place)} is ${cluster}: mend the address, or get a token from a server of that cluster`,
    );
  }
  // What it signs would not count, and would take up room all the same.
  if (invitations.get(token.id)?.publicKey !== keyPairOfSeed(token.seed).id) {
    throw new ClusterError(
      'cluster.token-invalid',
      'the token has another key than the one that was given out under its id: copy all of what "synod cluster invite" printed, or get another one with it',
    );
  }
  return stream;
}

async function joined(
  stream: RegistryStream,
  token: JoinToken,
  name: string,
  key: KeyPair,
): Promise<Invitation> {
  const { registry } = stream;
  const invitation = (): Invitation => registry.invitations.get(token.id) as Invitation;
  const isDone = (): boolean =>
    invitation().usedBy === name && registry.servers.get(name)?.publicKey === key.id;
  const entry = { kind: 'joined', cluster: token.cluster, invitation: token.id, name } as const;
  if (isDone()) return invitation();
  const { counts, at } = await stream.add(
    () => {
      // By NATS it is as late as its newest record says, at least. When this one will be stored is not known before it
      // is, so the first that comes too late is told by the answer, and whoever tries again by that record.
      const why = whyNotJoin(invitation(), name, stream.newestAt);
      if (why !== null) throw unfit(why, invitation().name, invitation().usedBy);
      if (registry.servers.get(name)?.revoked === null) throw nameUsed(name);
      return { ...entry, key: key.id };
    },
    key,
    keyPairOfSeed(token.seed),
  );
  if (counts) return invitation();
  throw unfit(whyNotJoin(invitation(), name, at) ?? 'used', invitation().name, null);
}

function unfit(why: WhyNot, forName: string | null, usedBy: string | null): ClusterError {
  const again = 'get another one with "synod cluster invite" at a server of the cluster';
  switch (why) {
    case 'used':
      return new ClusterError(
        'cluster.token-used',
        `the token was used${usedBy === null ? '' : ` by ${usedBy}`}, and each is good once; ${again}`,
      );
    case 'expired':
      return new ClusterError('cluster.token-expired', `the token has expired; ${again}`);
    case 'revoked':
      return new ClusterError('cluster.token-revoked', `the token was taken back; ${again}`);
    case 'name':
      return new ClusterError(
        'cluster.token-name',
        `the token is for the server ${forName}: leave --server-name out, or ${again}`,
      );
  }
}

function nameUsed(name: string): ClusterError {
  return new ClusterError(
    'cluster.name-used',
    `a server ${name} is in the cluster: choose another with --server-name, or take that one out with "synod cluster revoke ${name}" if it is gone`,
  );
}
