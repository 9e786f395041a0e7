/**
 * Servers of tests come into their cluster without a hand: the first founds it, and each other is invited by a server
 * that was enrolled before, and joins. Whoever starts a server in a process of its own calls this first.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isRefusal } from '../../src/core/law/decider.ts';
import { openLink } from '../../src/log/nats/link.ts';
import { parseNatsUrl } from '../../src/log/nats/place.ts';
import { enterCluster } from '../../src/server/cluster/enter.ts';
import { ensureServerKey } from '../../src/server/cluster/identity.ts';
import { invite } from '../../src/server/cluster/invite.ts';
import { redeem } from '../../src/server/cluster/redeem.ts';
import { openRegistryStream } from '../../src/server/cluster/registry-stream.ts';

/** By cluster, who was enrolled first; one after the other. Each server may come to the store by another way. */
const founders = new Map<string, { readonly name: string; readonly dir: string }>();
let enrolling: Promise<void> = Promise.resolve();

/** Does nothing for a directory that is in a cluster. */
export function enrol(store: string, dir: string, name: string): Promise<void> {
  const done = enrolling.then(() => enrolNext(store, dir, name));
  enrolling = done.catch(() => {});
  return done;
}

/** As the flags of `synod serve` name a server of several. */
export async function enrolByFlags(dir: string, args: readonly string[]): Promise<void> {
  const [store, name] = ['--store', '--server-name'].map((flag) => args[args.indexOf(flag) + 1]);
  const isNamed = args.includes('--store') && args.includes('--server-name');
  if (isNamed && store?.startsWith('nats:') && name !== undefined) await enrol(store, dir, name);
}

async function enrolNext(store: string, dir: string, name: string): Promise<void> {
  if (existsSync(join(dir, 'cluster.json'))) return;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const place = parseNatsUrl(store);
  if (place === null) return;
  const link = await openLink(place);
  try {
    const stream = await openRegistryStream(link, place, { isFollowed: false });
    const founder = founders.get(stream.registry.cluster ?? '');
    if (founder === undefined) {
      await enterCluster({ stream, place, dir, name, key: ensureServerKey(dir) });
      founders.set(stream.registry.cluster ?? '', { name, dir });
      return;
    }
    const key = ensureServerKey(founder.dir);
    const inviter = { name: founder.name, key, stream, place };
    const invited = await invite(inviter, { name, spaces: null, ttlMs: 60_000 });
    if (isRefusal(invited)) throw new Error(invited.message);
    await redeem({ token: invited.token, dir, name: null, store, ca: null });
  } finally {
    await link.release();
  }
}
