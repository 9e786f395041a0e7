/**
 * What the cluster promises about a stored batch. JetStream answers a write before it lies on the disk, unless
 * it is told otherwise; with one copy, a machine that loses power loses what it acknowledged. So a log is opened
 * where three servers have each write, or where the one that has it writes it to the disk first; which one that is
 * the stream says, and a monitor speaks for its own server alone [NL3].
 */
import type { StreamInfo } from '@nats-io/jetstream';
import { LogError } from '../log.ts';
import { type NatsPlace, shownPlace } from './place.ts';

export interface Durability {
  readonly replicas: number;
  readonly storage: 'file' | 'memory';
  /** Null: not known, because no monitoring address was given, or one of another server. */
  readonly isSynced: boolean | null;
  readonly isStrict: boolean;
}

const SAFE_REPLICAS = 3;
const ASK_MS = 3_000;

export async function requireDurable(
  place: NatsPlace,
  { config, cluster }: StreamInfo,
): Promise<Durability> {
  const replicas = config.num_replicas;
  const told = place.monitor === null ? null : await readMonitor(place.monitor);
  // A server that is in no cluster has what it tells of.
  const isElsewhere = told !== null && cluster !== undefined && cluster.leader !== told.server;
  const isSynced = isElsewhere ? null : (told?.isSynced ?? null);
  const storage = config.storage === 'file' ? 'file' : 'memory';
  const isStrict = storage === 'file' && (replicas >= SAFE_REPLICAS || isSynced === true);
  if (isStrict || place.durability === 'relaxed') return { replicas, storage, isSynced, isStrict };
  const sync = isElsewhere
    ? `at the server ${cluster.leader ?? 'that is chosen to lead them'}, and the monitor is that of ${told.server}, which cannot tell whether it is written to the disk first`
    : isSynced === null
      ? 'and whether it is written to the disk first is not known'
      : 'and the server does not write to the disk first';
  throw new LogError(
    'log.durability',
    `${shownPlace(place)} keeps ${replicas === 1 ? 'one copy' : `${replicas} copies`} in ${storage === 'file' ? 'files' : 'memory'}, ${sync}: ` +
      'a machine that loses power may lose what was acknowledged. Use three servers and replicas=3, or sync_interval: always with monitor=http://HOST:8222, or accept it with durability=relaxed',
    { path: shownPlace(place) },
  );
}

/** Null when the server does not say. */
async function readMonitor(
  monitor: string,
): Promise<{ readonly server: unknown; readonly isSynced: boolean } | null> {
  try {
    const reply = await fetch(new URL('/varz', monitor), { signal: AbortSignal.timeout(ASK_MS) });
    const { server_name: server, jetstream } = (await reply.json()) as {
      server_name?: unknown;
      jetstream?: { config?: { sync_always?: unknown } };
    };
    const config = jetstream?.config;
    return config === undefined ? null : { server, isSynced: config.sync_always === true };
  } catch {
    return null;
  }
}
