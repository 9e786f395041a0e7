/**
 * How a hub proves to a client of its owner that it is the hub, before the credential is shown: it signs a
 * number of the client's choosing with the credential both can read. Whoever took its port cannot.
 */
export const PROOF_PATH = '/v1/proof';
export const NONCE_PATTERN: RegExp = /^[0-9a-f]{32,64}$/;

/** What is signed, with HMAC-SHA256, in hex. */
export function proofText(nonce: string): string {
  return `synod hub proof ${nonce}`;
}
