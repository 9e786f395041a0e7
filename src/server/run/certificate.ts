/**
 * A certificate that the hub makes for itself, without a program beside it: one key, one address, signed by
 * that key. Nobody vouches for it, so that a person compares its fingerprint. The key stays in the data directory, for
 * its user alone, and serves until the certificate runs out: a phone that trusted it once goes on doing so.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import { PRIVATE_FILE, unavailable } from '../../log/disk.ts';

const DAY_MS = 86_400_000;
/** What browsers take from anybody at most. */
const VALID_MS: number = 397 * DAY_MS;
const LEFT_MS_MIN: number = 30 * DAY_MS;

export interface OwnCertificate {
  readonly key: string;
  readonly cert: string;
  /** SHA-256, as `AB:CD:…`. */
  readonly fingerprint: string;
}

/** The one for this address, made when there is none that lasts. */
export async function ensureCertificate(dir: string, address: string): Promise<OwnCertificate> {
  const path = join(dir, 'phone', `${address.replaceAll(':', '-')}.pem`);
  const known = await readFile(path, 'utf8').catch(() => null);
  const kept = known === null ? null : parsePem(known);
  if (kept !== null && isGood(kept.cert, address)) return kept;
  const made = makeCertificate(address, Date.now());
  try {
    await mkdir(join(dir, 'phone'), { recursive: true, mode: 0o700 });
    const draft = `${path}.${process.pid}`;
    await writeFile(draft, made.key + made.cert, { mode: PRIVATE_FILE });
    await rename(draft, path);
  } catch (cause) {
    throw unavailable(path, 'write', cause);
  }
  return made;
}

function parsePem(text: string): OwnCertificate | null {
  try {
    const [, key = '', cert = ''] = /^(.+-----END PRIVATE KEY-----\n)(.+)$/s.exec(text) ?? [];
    const parsed = new X509Certificate(cert);
    if (!parsed.checkPrivateKey(createPrivateKey(key))) return null;
    return { key, cert, fingerprint: parsed.fingerprint256 };
  } catch {
    // Half written or somebody else's: another is made.
    return null;
  }
}

function isGood(cert: string, address: string): boolean {
  const parsed = new X509Certificate(cert);
  const leftMs = parsed.validToDate.getTime() - Date.now();
  return parsed.checkIP(address) !== undefined && leftMs > LEFT_MS_MIN;
}

export function makeCertificate(address: string, now: number): OwnCertificate {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = toBeSigned(address, privateKey, now);
  const signed = sign('sha256', body, privateKey);
  const der = sequence(body, ECDSA_SHA256, bitString(signed));
  const text = der.toString('base64').replace(/.{1,64}/g, '$&\n');
  const cert = `-----BEGIN CERTIFICATE-----\n${text}-----END CERTIFICATE-----\n`;
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  return { key, cert, fingerprint: new X509Certificate(cert).fingerprint256 };
}

/** RFC 5280, 4.1: version 3, with what a server's own certificate has to say and nothing else. */
function toBeSigned(address: string, key: KeyObject, now: number): Buffer {
  const name = sequence(set(sequence(OID_COMMON_NAME, tagged(0x0c, Buffer.from('Synod')))));
  // Begun an hour ago, for a phone whose clock is slow.
  const valid = sequence(time(now - 3_600_000), time(now + VALID_MS));
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const serial = randomBytes(16);
  serial[0] = ((serial[0] as number) & 0x7f) | 0x40;
  const extensions = sequence(
    extension('551d13', sequence()),
    extension('551d0f', tagged(0x03, Buffer.from([7, 0x80]))),
    extension('551d25', sequence(tagged(0x06, Buffer.from('2b06010505070301', 'hex')))),
    extension('551d11', sequence(tagged(0x87, addressBytes(address)))),
  );
  return sequence(
    ...[tagged(0xa0, integer(Buffer.from([2]))), integer(serial), ECDSA_SHA256],
    ...[name, valid, name, publicKey, tagged(0xa3, extensions)],
  );
}

const ECDSA_SHA256 = sequence(tagged(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
const OID_COMMON_NAME = tagged(0x06, Buffer.from('550403', 'hex'));

function extension(oid: string, value: Buffer): Buffer {
  return sequence(tagged(0x06, Buffer.from(oid, 'hex')), tagged(0x04, value));
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const words = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [before, after] = [words(head), words(tail ?? '')];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const all = [...before, ...Array<string>(zeros).fill('0'), ...after];
  return Buffer.from(all.map((word) => word.padStart(4, '0')).join(''), 'hex');
}

function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthBytes(content.length), content]);
}

function lengthBytes(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  return length < 0x100 ? Buffer.from([0x81, length]) : Buffer.from([0x82, length >> 8, length]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function set(part: Buffer): Buffer {
  return tagged(0x31, part);
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function bitString(bytes: Buffer): Buffer {
  return tagged(0x03, Buffer.concat([Buffer.from([0]), bytes]));
}

/** GeneralizedTime from 2050 on, UTCTime before, as the RFC wants it. */
function time(at: number): Buffer {
  const text = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '');
  return text < '2050' ? tagged(0x17, Buffer.from(text.slice(2))) : tagged(0x18, Buffer.from(text));
}
