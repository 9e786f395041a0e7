/**
 * A key by which NATS knows a user without a secret in its configuration: an Ed25519 key in NATS's own spelling (base32
 * with a check, `U…` for the public half and `SU…` for the private).
 */

const SEED = 18 << 3;
const USER = 20 << 3;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The private half, from its 32 bytes. */
export function writeNkeySeed(seed: Uint8Array): string {
  return spelt(Buffer.concat([Buffer.of(SEED | (USER >> 5), (USER & 31) << 3), seed]));
}

export function writeNkeyPublic(key: Uint8Array): string {
  return spelt(Buffer.concat([Buffer.of(USER), key]));
}

function spelt(bytes: Buffer): string {
  const check = Buffer.alloc(2);
  check.writeUInt16LE(crc16(bytes));
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of Buffer.concat([bytes, check])) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(held >> (bits - 5)) & 31];
    held &= (1 << bits) - 1;
  }
  return bits > 0 ? text + ALPHABET[(held << (5 - bits)) & 31] : text;
}

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let i = 0; i < 8; i++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc;
}
