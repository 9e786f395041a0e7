/**
 * Who a server is, in its data directory: its key (`server.key`, its owner's alone) and the cluster that it belongs to
 * (`cluster.json`). A directory that knows its cluster takes no other for it, whatever lies at the prefix.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '../../core/law/json.ts';
import { makeOwnDirectory, replaceFile, unavailable } from '../../log/disk.ts';
import { LogError } from '../../log/log.ts';
import { ensureKeyPem } from '../../log/signing-key-file.ts';
import { type KeyPair, readKeyPair } from './keys.ts';

export interface KnownCluster {
  readonly cluster: string;
  readonly name: string;
}

export function ensureServerKey(dir: string): KeyPair {
  makeOwnDirectory(dir);
  const path = join(dir, 'server.key');
  const key = readKeyPair(ensureKeyPem(path));
  if (key !== null) return key;
  throw new LogError(
    'log.key',
    `${path} holds no Ed25519 private key (PEM); restore it, or move it away, revoke this server and join again`,
    { path },
  );
}

/** Null: it has never been in a cluster. */
export function readKnownCluster(dir: string): KnownCluster | null {
  const path = pathOf(dir);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unavailable(path, 'read', cause);
  }
  try {
    const { cluster, name } = readJson(text) as KnownCluster;
    if (typeof cluster === 'string' && typeof name === 'string') return { cluster, name };
  } catch {
    // Said below.
  }
  throw new LogError('log.unavailable', `${path} says nothing of a cluster; restore it`, { path });
}

export function writeKnownCluster(dir: string, known: KnownCluster): void {
  const before = readKnownCluster(dir);
  if (before?.cluster === known.cluster && before.name === known.name) return;
  replaceFile(pathOf(dir), `${JSON.stringify(known)}\n`);
}

function pathOf(dir: string): string {
  return join(dir, 'cluster.json');
}
