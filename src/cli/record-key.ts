/** The key of heads as a command finds it, and which keys anchors may be signed by. */
import { createPublicKey } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { keyIdOf, type SigningKey } from '../log/signed-head.ts';
import { readKeyFile, usualKeyPath } from '../log/signing-key-file.ts';
import { fail } from './failure.ts';

/** The hub's own, where this user can read it; null where not. */
export function ownKey(): SigningKey | null {
  return readKeyFile(process.env.SYNOD_RECORD_KEY || usualKeyPath(process.env, homedir()));
}

/** Those that were named, else the hub's own; null when there is none to go by. */
export function knownKeys(named: readonly string[]): ReadonlySet<string> | null {
  if (named.length > 0) return new Set(named.map(parseKey));
  const key = ownKey();
  return key === null ? null : new Set([key.id]);
}

/** `ed25519:…`, or a file that holds that or a public key as PEM. */
function parseKey(text: string): string {
  const said = existsSync(text) ? readFileSync(text, 'utf8').trim() : text;
  try {
    const id = said.startsWith('-----') ? keyIdOf(createPublicKey(said)) : said;
    if (/^ed25519:[A-Za-z0-9_-]{43}$/.test(id)) return id;
  } catch {
    // No key at all: said below.
  }
  throw fail(
    'cli.usage',
    `--key ${text} is no key: ed25519:… as anchors name it, or a file with it`,
  );
}
