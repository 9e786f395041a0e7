/**
 * RFC 3161: an authority's word that something existed at a time. A request is made and its token is
 * checked as far as can be done alone: it is over our text, and the certificate in it has signed it. Whether
 * that certificate is an authority's is for the person to say, who gets its fingerprint.
 */
import { createHash, randomBytes, verify, X509Certificate } from 'node:crypto';
import { type Der, der, readDer, TAG } from './der.ts';

const SHA256 = Buffer.from('0609608648016503040201', 'hex');
const SIGNED_DATA = '2a864886f70d010702';
const TST_INFO = '2a864886f70d0109100104';
const MESSAGE_DIGEST = '2a864886f70d010904';
/** By the object id of the digest. */
const DIGESTS: Readonly<Record<string, string>> = {
  '608648016503040201': 'sha256',
  '608648016503040202': 'sha384',
  '608648016503040203': 'sha512',
};
const GRANTED = [0, 1];
const BYTES_MAX = 1 << 20;
const TIMEOUT_MS = 30_000;

export interface Stamp {
  /** When the authority says it saw it. */
  readonly at: Date;
  readonly subject: string;
  readonly fingerprint: string;
}

/** Asks the authority for a stamp over the text; answers the token, or why there is none. */
export async function requestStamp(
  url: string,
  text: string,
): Promise<{ token: Buffer; stamp: Stamp } | { problem: string }> {
  const nonce = Buffer.concat([Buffer.from([0x01]), randomBytes(8)]);
  let answer: Buffer;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/timestamp-query' },
      body: new Uint8Array(encodeRequest(text, nonce)),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) return { problem: `it answered ${response.status}` };
    answer = Buffer.from(await response.arrayBuffer());
  } catch (cause) {
    const { cause: why = cause } = cause as Error;
    return { problem: `it cannot be reached (${why instanceof Error ? why.message : why})` };
  }
  if (answer.length > BYTES_MAX) return { problem: 'its answer is too long' };
  const [response] = readDer(answer) ?? [];
  const [info, token] = childrenOf(response);
  const status = childrenOf(info)[0]?.body.at(-1);
  if (status === undefined || !GRANTED.includes(status)) {
    return { problem: `it did not grant a stamp (status ${status ?? 'unreadable'})` };
  }
  const stamp = token === undefined ? null : readStamp(token.whole, text, nonce);
  if (token === undefined || stamp === null) {
    return {
      problem: 'its token is not over this head, or is not signed by the certificate in it',
    };
  }
  return { token: token.whole, stamp };
}

export function encodeRequest(text: string, nonce: Buffer): Buffer {
  const imprint = der(
    TAG.sequence,
    der(TAG.sequence, SHA256, der(TAG.null)),
    der(TAG.octets, createHash('sha256').update(text).digest()),
  );
  const version = der(TAG.integer, Buffer.from([1]));
  const wantsCertificate = der(TAG.boolean, Buffer.from([0xff]));
  return der(TAG.sequence, version, imprint, der(TAG.integer, nonce), wantsCertificate);
}

/** What a token says of the text; null when it is not over it, or does not verify. */
export function readStamp(token: Buffer, text: string, nonce: Buffer | null = null): Stamp | null {
  const [type, content] = childrenOf(readDer(token)?.[0]);
  if (type?.body.toString('hex') !== SIGNED_DATA) return null;
  const parts = childrenOf(childrenOf(content)[0]);
  const [, , encapsulated] = parts;
  const [kind, octets] = childrenOf(encapsulated);
  const info = childrenOf(octets)[0];
  if (kind?.body.toString('hex') !== TST_INFO || info?.tag !== TAG.octets) return null;
  const fields = childrenOf(readDer(info.body)?.[0]);
  const imprint = childrenOf(fields[2]);
  const wanted = createHash('sha256').update(text).digest();
  const isOver = imprint[0]?.body.subarray(0, SHA256.length).equals(SHA256) === true;
  if (!isOver || imprint[1]?.body.equals(wanted) !== true) return null;
  const isOurs =
    nonce === null || fields.some(({ tag, body }) => tag === TAG.integer && body.equals(nonce));
  const at = parseTime(fields.find(({ tag }) => tag === TAG.time)?.body.toString('latin1'));
  const certificates = certificatesIn(parts.find(({ tag }) => tag === TAG.context0));
  const signer = childrenOf(parts.filter(({ tag }) => tag === TAG.set).at(-1))[0];
  const by = certificates.find((one) => hasSigned(one, signer, info.body));
  if (!isOurs || at === null || by === undefined) return null;
  return { at, subject: by.subject.replaceAll('\n', ', '), fingerprint: by.fingerprint256 };
}

function hasSigned(
  certificate: X509Certificate,
  signer: Der | undefined,
  content: Buffer,
): boolean {
  const parts = childrenOf(signer);
  const digest = DIGESTS[childrenOf(parts[2])[0]?.body.toString('hex') ?? ''];
  const attributes = parts.find(({ tag }) => tag === TAG.context0);
  const signature = parts.find(({ tag }) => tag === TAG.octets);
  if (digest === undefined || attributes === undefined || signature === undefined) return false;
  const said = childrenOf(attributes).find(
    (one) => childrenOf(one)[0]?.body.toString('hex') === MESSAGE_DIGEST,
  );
  const told = childrenOf(childrenOf(said)[1])[0]?.body;
  if (told?.equals(createHash(digest).update(content).digest()) !== true) return false;
  // What is signed is the attributes as a set, not as the field they stand in.
  const signed = der(TAG.set, attributes.body);
  try {
    return verify(digest, signed, certificate.publicKey, signature.body);
  } catch {
    // A key that does not go with this kind of signature: another certificate of the chain.
    return false;
  }
}

function certificatesIn(field: Der | undefined): X509Certificate[] {
  return childrenOf(field).flatMap(({ whole }) => {
    try {
      return [new X509Certificate(whole)];
    } catch {
      // Other things may lie there that are no certificates we can read.
      return [];
    }
  });
}

function childrenOf(value: Der | undefined): Der[] {
  return (value !== undefined && readDer(value.body)) || [];
}

/** `20261116111203Z`, perhaps with a fraction. */
function parseTime(text = ''): Date | null {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d+)?Z$/.exec(text) ?? [];
  const [year, month, day, hour, minute, second] = parts;
  return parts.length === 0
    ? null
    : new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
