/**
 * What the suites of one server need to be run against three (`npm run test:cluster`): a store for each hub under a
 * prefix of its own, and addresses of which each is as good as another.
 */
import { randomBytes } from 'node:crypto';
import { openLink } from '../../src/log/nats/link.ts';
import { parseNatsUrl } from '../../src/log/nats/place.ts';

/** Names the nodes that the run has started, and PREFIX; absent where suites are run against one server. */
const NATS = process.env.SYNOD_TEST_NATS;

export const IS_CLUSTER: boolean = NATS !== undefined;
export const SERVER_NAMES: readonly string[] = ['one', 'two', 'three'];

export interface SharedStore {
  /** As each server knows it: with another node first, as on three machines. */
  readonly urls: readonly string[];
  /** Takes the streams away, when no server is there any more. */
  remove(): Promise<void>;
}

export function createSharedStore(): SharedStore {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const [, hosts = '', rest = ''] = /^nats:\/\/([^/]+)(.*)$/.exec(NATS ?? '') ?? [];
  const nodes = hosts.split(',');
  const urls = SERVER_NAMES.map((_, i) => {
    const turned = [...nodes.slice(i), ...nodes.slice(0, i)];
    return `nats://${turned.join(',')}${rest.replace('PREFIX', prefix)}`;
  });
  return { urls, remove: () => removeStreams(urls[0] as string) };
}

async function removeStreams(url: string): Promise<void> {
  const place = parseNatsUrl(url);
  if (place === null) throw new Error(`${url} is no address of NATS`);
  const link = await openLink(place);
  try {
    const names: string[] = [];
    for await (const name of link.manager.streams.names()) names.push(name);
    const ours = names.filter((name) => name.startsWith(`${place.prefix}-`));
    await Promise.all(ours.map((name) => link.manager.streams.delete(name)));
  } finally {
    await link.release();
  }
}

export function oneOf<T>(all: readonly T[]): T {
  return all[Math.floor(Math.random() * all.length)] as T;
}

const alike = new Map<string, readonly string[]>();

/** From now on whoever asks for one of these addresses is given any. */
export function shareAddresses(addresses: readonly string[]): void {
  for (const address of addresses) alike.set(address, addresses);
}

/** The address, or one that is as good. */
export function anyOf(address: string): string {
  return oneOf(alike.get(address) ?? [address]);
}
