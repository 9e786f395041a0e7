/**
 * A join token as it is handed over: where the store is, which cluster it is of, and a private key that is in no other
 * place. The registry has its public half, so nobody who reads the registry can join; the same key lets the
 * server in at NATS. A token that was cut off or mistyped is told by its check.
 */
import { createHash } from 'node:crypto';
import { readJson } from '../../core/law/json.ts';
import { ClusterError } from './cluster-error.ts';
import { SEED_BYTES } from './keys.ts';

export interface JoinToken {
  /** `nats://…`, without anybody's credentials. */
  readonly store: string;
  readonly cluster: string;
  /** Of the invitation. */
  readonly id: string;
  readonly name: string | null;
  readonly seed: Uint8Array;
}

const START = 'synj1_';
const CHECK_BYTES = 6;
const TOKEN_CHARS_MAX = 8_192;

export function writeJoinToken({ seed, ...token }: JoinToken): string {
  const told = { ...token, seed: Buffer.from(seed).toString('base64url') };
  const bytes = Buffer.from(JSON.stringify(told));
  return START + Buffer.concat([bytes, checkOf(bytes)]).toString('base64url');
}

/** Throws ClusterError for what is none. */
export function parseJoinToken(text: string): JoinToken {
  const trimmed = text.trim();
  if (!trimmed.startsWith(START) || trimmed.length > TOKEN_CHARS_MAX) throw invalid();
  const all = Buffer.from(trimmed.slice(START.length), 'base64url');
  const bytes = all.subarray(0, -CHECK_BYTES);
  if (!checkOf(bytes).equals(all.subarray(-CHECK_BYTES))) throw invalid();
  try {
    const told = readJson(bytes.toString('utf8')) as Record<string, unknown>;
    const { store, cluster, id, name } = told;
    const seed = Buffer.from(String(told.seed), 'base64url');
    const isWhole = [store, cluster, id].every((one) => typeof one === 'string');
    if (isWhole && seed.byteLength === SEED_BYTES)
      return {
        ...(told as unknown as JoinToken),
        name: (name as string | undefined) ?? null,
        seed,
      };
  } catch {
    // Said below.
  }
  throw invalid();
}

function checkOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest().subarray(0, CHECK_BYTES);
}

function invalid(): ClusterError {
  return new ClusterError(
    'cluster.token-invalid',
    `that is no whole join token: it begins with ${START} and is one line; copy all of what "synod cluster invite" printed`,
  );
}
