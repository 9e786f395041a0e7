#!/usr/bin/env node
/**
 * Verifies an export of a Synod log, without Synod: one file, nothing but Node 18 or newer.
 *
 *   node synod-verify.mjs export.ndjson [--anchors FILE]... [--key KEY]... [--json]
 *
 * It makes the chain anew from the entries and compares every head; holds what a compaction left to the
 * digest that the chain records; and holds the log to anchors: signed heads, in the export or in files of
 * their own. It was written from docs/reference/log-format.md and shares no code with the hub.
 *
 * Leaves with 0 when everything holds, 1 when the log is not what it was, 2 when it was asked wrongly, and
 * 3 when an anchor is no evidence: badly signed, by an unknown key, or of another log.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const GENESIS = '0'.repeat(64);
const HEX = /^[0-9a-f]{64}$/;
const KEY = /^ed25519:[A-Za-z0-9_-]{43}$/;
const USAGE =
  'usage: node synod-verify.mjs export.ndjson [--anchors FILE]... [--key KEY]... [--json]';

class Broken extends Error {
  exitCode = 1;
  code = 'log.broken';
}
class BadAnchor extends Error {
  exitCode = 3;
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}
class Usage extends Error {
  exitCode = 2;
  code = 'cli.usage';
}

const CRC = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

function crc32(bytes) {
  let c = 0xffffffff;
  for (const byte of bytes) c = CRC[(c ^ byte) & 0xff] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

/** One append as the log stores it: count, then length and checksum of each entry, then the entries. */
function encodeBatch(entries) {
  const payloads = entries.map((entry) => Buffer.from(entry, 'utf8'));
  const header = Buffer.alloc(4 + 8 * entries.length);
  header.writeUInt32LE(entries.length, 0);
  for (const [i, payload] of payloads.entries()) {
    header.writeUInt32LE(payload.length, 4 + 8 * i);
    header.writeUInt32LE(crc32(payload), 8 + 8 * i);
  }
  return Buffer.concat([header, ...payloads]);
}

function chainHead(previous, bytes) {
  return createHash('sha256').update(Buffer.from(previous, 'hex')).update(bytes).digest('hex');
}

/** What a compaction leaves of a message: everything but its body, and a word that it went. */
function isStub(entry) {
  const fields = parseJson(entry);
  return fields?.dropped === true && JSON.stringify(fields.body) === '{}';
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isPosition = (value) => Number.isSafeInteger(value) && value >= 0;

function parseHeader(line) {
  const header = parseJson(line ?? '');
  const isWhole =
    [1, 2].includes(header?.synod_log) &&
    isPosition(header.from) &&
    isPosition(header.length) &&
    HEX.test(header.head) &&
    HEX.test(header.previous);
  if (isWhole) return header;
  if (header?.synod_log > 2)
    throw new Usage(`the export has format ${header.synod_log}, and this program knows up to 2`);
  throw new Broken('the file does not start with the header of a log export');
}

/** Walks the export; answers length, head, origin, what was compacted, and the heads at `wanted`. */
async function walk(lines, header, wanted) {
  const { from, compacted = null } = header;
  const through = compacted?.through ?? 0;
  const digest = createHash('sha256');
  const heads = new Map([[from, header.previous]]);
  let position = from;
  let head = header.previous;
  let headThere = GENESIS;
  let origin = null;
  let proof = null;
  let number = 1;
  if (from === 0 && head !== GENESIS)
    throw new Broken('the export starts at 0 with another head than that of nothing');
  for await (const text of lines) {
    number++;
    if (text === '') continue;
    const line = parseJson(text);
    const isWhole =
      isPosition(line?.first) &&
      HEX.test(line.head) &&
      Array.isArray(line.entries) &&
      line.entries.length > 0 &&
      line.entries.every((entry) => typeof entry === 'string');
    if (!isWhole)
      throw new Broken(
        `line ${number} is no batch of entries: the export was cut or changed at position ${position}`,
      );
    if (line.first !== position)
      throw new Broken(
        `the entries from position ${position} to ${line.first} are missing or out of order`,
      );
    const bytes = encodeBatch(line.entries);
    const isOld = line.first < through;
    if (chainHead(head, bytes) !== line.head && !(isOld && line.entries.some(isStub))) {
      throw new Broken(`position ${position}: this batch or one before it was changed`);
    }
    head = line.head;
    if (position === 0) origin = head;
    if (isOld) {
      digest.update(`${line.first} ${line.entries.length} ${head}\n`).update(bytes);
      headThere = head;
    }
    if (
      compacted !== null &&
      compacted.record >= position &&
      compacted.record < position + line.entries.length
    ) {
      proof = parseJson(line.entries[compacted.record - position])?.facts ?? null;
    }
    position += line.entries.length;
    if (wanted.has(position)) heads.set(position, head);
  }
  if (position !== header.length) {
    throw new Broken(`${position} entries, the export says ${header.length}: it was cut`);
  }
  if (head !== header.head)
    throw new Broken(`the export ends with another head than it says at position ${position}`);
  if (compacted !== null) {
    const isRecorded = proof?.through === through && compacted.record >= through;
    if (!isRecorded) throw new Broken('the record of its compaction is not in the chain');
    if (proof.head !== headThere || proof.digest !== digest.digest('hex')) {
      throw new Broken(`what lies below position ${through} is not what its compaction recorded`);
    }
  }
  return { length: position, head, origin, heads, dropped: proof?.dropped ?? 0 };
}

function parseAnchor(value, place) {
  const isWhole =
    value?.synod_head === 1 &&
    /^[a-z0-9_-]{1,64}$/.test(value.space) &&
    HEX.test(value.origin) &&
    isPosition(value.position) &&
    HEX.test(value.head) &&
    typeof value.at === 'string' &&
    KEY.test(value.key) &&
    typeof value.signature === 'string';
  if (!isWhole)
    throw new BadAnchor('log.anchor-bad', `${place} is no signed head: it was cut or changed`);
  return { ...value, place };
}

function headText({ space, origin, position, head, at }) {
  return `synod-head 1\nspace ${space}\norigin ${origin}\nposition ${position}\nhead ${head}\nat ${at}\n`;
}

function isSigned(anchor) {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: anchor.key.slice('ed25519:'.length) };
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  return verify(
    null,
    Buffer.from(headText(anchor)),
    key,
    Buffer.from(anchor.signature, 'base64url'),
  );
}

/** An anchor must be evidence itself before the log is held to it. */
function judgeAnchors(anchors, origin, keys) {
  for (const anchor of anchors) {
    const what = `the anchor of ${anchor.at} (${anchor.place})`;
    if (!isSigned(anchor))
      throw new BadAnchor(
        'log.anchor-bad',
        `${what} does not carry the signature of its key: it was changed`,
      );
    if (keys.size > 0 && !keys.has(anchor.key))
      throw new BadAnchor(
        'log.anchor-key',
        `${what} is signed by ${anchor.key}, which is not a key that was given`,
      );
    if (origin !== null && anchor.origin !== origin) {
      throw new BadAnchor(
        'log.anchor-other',
        `${what} is of another log: that began with head ${anchor.origin.slice(0, 16)}…, this with ${origin.slice(0, 16)}…; if it should be this one, all of it was replaced`,
      );
    }
  }
}

function holdTo(anchors, found, from) {
  for (const { at, position, head } of anchors) {
    if (position > found.length)
      throw new Broken(`${found.length} entries, the anchor of ${at} says at least ${position}`);
    if (position >= from && found.heads.get(position) !== head) {
      throw new Broken(
        `the anchor of ${at} says another head for the first ${position} entries: the log was changed before that`,
      );
    }
  }
}

function parseKey(text) {
  let said = existsSync(text) ? readFileSync(text, 'utf8').trim() : text;
  if (said.startsWith('-----'))
    said = `ed25519:${createPublicKey(said).export({ format: 'jwk' }).x}`;
  if (!KEY.test(said))
    throw new Usage(`--key ${text} is no key: ed25519:… as anchors name it, or a file with it`);
  return said;
}

function parseArguments(argv) {
  const asked = { file: null, anchors: [], keys: [], isJson: false };
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i];
    if (word === '--json') asked.isJson = true;
    else if (word === '--anchors' || word === '--key') {
      const value = argv[++i];
      if (value === undefined) throw new Usage(`${word} needs a value; ${USAGE}`);
      (word === '--key' ? asked.keys : asked.anchors).push(value);
    } else if (word.startsWith('-') || asked.file !== null) throw new Usage(USAGE);
    else asked.file = word;
  }
  if (asked.file === null) throw new Usage(USAGE);
  for (const file of [asked.file, ...asked.anchors]) {
    if (!existsSync(file)) throw new Usage(`${file} does not exist`);
  }
  return asked;
}

async function main(argv) {
  const asked = parseArguments(argv);
  const keys = new Set(asked.keys.map(parseKey));
  const input = createReadStream(asked.file, 'utf8');
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[
    Symbol.asyncIterator
  ]();
  const header = parseHeader((await lines.next()).value);
  const inside = (Array.isArray(header.anchors) ? header.anchors : []).map((value, i) =>
    parseAnchor(value, `${asked.file}, anchor ${i + 1}`),
  );
  const beside = asked.anchors.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, i) =>
        line.trim() === '' ? [] : [parseAnchor(parseJson(line), `${file}:${i + 1}`)],
      ),
  );
  const anchors = [...inside, ...beside];
  const wanted = new Set(anchors.map(({ position }) => position));
  const rest = { [Symbol.asyncIterator]: () => lines };
  const found = await walk(rest, header, wanted);
  judgeAnchors(anchors, found.origin, keys);
  holdTo(anchors, found, header.from);
  const newest = anchors.reduce(
    (best, one) => (best === null || one.position > best.position ? one : best),
    null,
  );
  return { asked, keys, header, found, anchors, newest };
}

function report({ asked, keys, header, found, anchors, newest }) {
  const signers = [...new Set(anchors.map(({ key }) => key))];
  if (asked.isJson) {
    const { length, head, dropped } = found;
    return JSON.stringify({
      ok: true,
      from: header.from,
      length,
      head,
      dropped,
      anchors: anchors.length,
      anchored: newest?.position ?? null,
      keys: signers,
      keys_known: keys.size > 0,
    });
  }
  const said = [`ok: ${found.length - header.from} entries, head ${found.head}`];
  if (header.compacted)
    said.push(
      `compacted below ${header.compacted.through}: ${found.dropped} bodies dropped, as the chain records`,
    );
  if (newest === null) {
    said.push(
      'no anchor: that nothing was cut from the end, and that no other chain was put in its place, is not proved',
    );
    return said.join('\n');
  }
  const behind = found.length - newest.position;
  said.push(
    `${anchors.length} anchors hold; the newest, of ${newest.at}, vouches for the first ${newest.position} entries: none of them was cut or changed`,
  );
  if (behind > 0) said.push(`the ${behind} entries behind it are vouched for by nobody yet`);
  if (keys.size === 0)
    said.push(
      `signed by ${signers.join(', ')}: this proves as much as you know that key; give it with --key`,
    );
  return said.join('\n');
}

main(process.argv.slice(2)).then(
  (done) => console.log(report(done)),
  (error) => {
    const isOurs = typeof error.exitCode === 'number';
    const isJson = process.argv.includes('--json');
    const label = { 1: 'BROKEN: ', 3: 'NO EVIDENCE: ' }[error.exitCode] ?? '';
    if (isJson)
      console.log(
        JSON.stringify({ ok: false, code: error.code ?? 'internal', message: error.message }),
      );
    else console.error(`${label}${error.message}`);
    process.exitCode = isOurs ? error.exitCode : 70;
  },
);
