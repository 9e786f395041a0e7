/**
 * `synod log verify`: does the log still say what was appended, and is it still the one that anchors and
 * archives know? Without them a tail that was cut and a chain that was made anew look whole.
 */
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import type { Anchor, Pin } from '../log/anchors.ts';
import type { Log } from '../log/log.ts';
import type { Verified } from '../log/verify.ts';
import { handle } from './context.ts';
import { EXITS, fail, failureText } from './failure.ts';
import {
  headsAt,
  type LogPlace,
  openAt,
  placeOf,
  placesOf,
  STORE_FLAG,
  type StoreFlags,
} from './log-place.ts';
import { parseWhole } from './parse-value.ts';
import { knownKeys } from './record-key.ts';

interface VerifyFlags extends StoreFlags {
  readonly archive?: string;
  readonly anchors?: readonly string[];
  readonly key?: readonly string[];
  readonly head?: string;
  readonly at?: string;
}

type Found = {
  readonly space: string | null;
  readonly path: string;
  readonly anchors?: number;
  /** Where the head lies that was given and holds. */
  readonly given?: number;
} & Verified;

export function registerVerify(log: Command): void {
  const verify = log
    .command('verify')
    .description('does the log still say what was appended; every space unless --space names one')
    .option(...STORE_FLAG)
    .option('--anchors <files...>', 'and does it still have the heads of these anchors')
    .option('--key <keys...>', 'the keys anchors may be signed by (the key of this hub)')
    .option('--head <hash>', 'and does it have this head, at the position --at')
    .option('--at <position>', 'how many entries the log had then')
    .option('--archive <file>', 'and does this export, from before a compaction, lead to it');
  handle<VerifyFlags>(verify, async ({ flags, show, remark, isJson }) => {
    const { archive } = flags;
    const anchors = await readAnchorFiles(flags.anchors ?? []);
    const given = parseHead(flags);
    const keys = anchors.length === 0 ? null : knownKeys(flags.key ?? []);
    if (anchors.length > 0 && keys === null) {
      remark(
        `signed by ${[...new Set(anchors.map(({ head }) => head.key))].join(', ')}: is that your key?`,
      );
    }
    const isOne = archive !== undefined || given !== null;
    const logs: Found[] = [];
    for (const place of isOne ? [await placeOf(flags)] : await placesOf(flags)) {
      const opened = await openAt(place, true);
      try {
        logs.push(await verifyOne(place, opened, { anchors, keys, given }));
        if (archive !== undefined) logs.push(await verifiedArchive(opened, archive));
      } finally {
        await opened.close();
      }
    }
    if (anchors.length > 0 && logs.every((one) => one.ok && one.anchors === 0)) {
      const { noneIsOf } = await import('../log/anchors.ts');
      throw noneIsOf(logs.map(({ path }) => path).join(', '), flags.anchors ?? []);
    }
    const broken = logs.find((one) => !one.ok);
    show({ ok: broken === undefined, logs }, () => logs.map(lineOf));
    if (broken === undefined || broken.ok) return;
    const { path, position, reason, pinned } = broken;
    const what =
      pinned === undefined ? `first breaks at position ${position}: ` : 'is not what it was: ';
    const failure = fail('log.broken', `${path} ${what}${reason}`, {
      hint: 'what stands before it is sound; keep the file and restore from an export',
      detail: { path, position, ...(pinned !== undefined && { contradicted: pinned }) },
    });
    process.stderr.write(failureText(failure, isJson));
    process.exitCode = EXITS['log.broken'];
  });
}

interface Held {
  readonly anchors: readonly Anchor[];
  readonly keys: ReadonlySet<string> | null;
  readonly given: Pin | null;
}

async function verifyOne(place: LogPlace, log: Log, held: Held): Promise<Found> {
  const { verifyLog } = await import('../log/verify.ts');
  const { space, path } = place;
  const { anchors, keys, given } = held;
  const { pinsBeside, pinsOf } = await import('../log/anchors.ts');
  const { originOf } = await import('../log/origin.ts');
  const now = Date.now();
  const origin = anchors.length === 0 ? null : await originOf(log);
  const pins = pinsOf(anchors, { space, origin }, keys, now);
  const heads = await headsAt(place);
  const beside = pinsBeside(heads, now);
  await heads.close();
  // Anchors first: where several are contradicted, the one that counts more is named.
  const all = [...pins, ...(given === null ? [] : [given]), ...beside.pins];
  const verified = await verifyLog(log, all);
  const found = {
    ...{ space, path, ...(anchors.length > 0 && { anchors: pins.length }) },
    ...(given !== null && { given: given.position }),
  };
  if (!verified.ok || beside.changed === null) return { ...found, ...verified };
  const pinned = 'the signed heads beside it';
  return { ...found, ok: false, position: verified.length, reason: beside.changed, pinned };
}

function lineOf(one: Found): string {
  if (!one.ok) {
    const where = one.pinned === undefined ? `position ${one.position}: ` : '';
    return `BROKEN  ${one.path}: ${where}${one.reason}`;
  }
  const { path, length, head, anchors = 0, given } = one;
  const kept =
    anchors === 0 ? '' : `, ${anchors} ${anchors === 1 ? 'anchor holds' : 'anchors hold'}`;
  const held = given === undefined ? kept : `${kept}, the head given at ${given} holds`;
  return `ok      ${path}: ${length} ${length === 1 ? 'entry' : 'entries'}, head ${head.slice(0, 16)}…${held}${droppedText(one)}${unnamedText(one)}`;
}

async function readAnchorFiles(files: readonly string[]): Promise<Anchor[]> {
  const { parseAnchors } = await import('../log/anchors.ts');
  const { readStamp } = await import('./time-stamp.ts');
  const { headText } = await import('../log/signed-head.ts');
  const { LogError } = await import('../log/log.ts');
  const anchors = files.flatMap((file) => {
    if (!existsSync(file)) throw fail('cli.no-input', `${file} does not exist`);
    const found = parseAnchors(readFileSync(file, 'utf8'), file);
    if (found.length === 0) throw fail('cli.no-input', `there is no anchor in ${file}`);
    return found;
  });
  for (const { head, stamp, place } of anchors) {
    if (stamp === null || readStamp(Buffer.from(stamp, 'base64'), headText(head)) !== null)
      continue;
    throw new LogError('log.anchor-bad', `${place} carries a time stamp that is not over it`);
  }
  return anchors;
}

function parseHead({ head, at }: VerifyFlags): Pin | null {
  if (head === undefined && at === undefined) return null;
  if (head === undefined || at === undefined) {
    throw fail(
      'cli.usage',
      '--head and --at go together: the head, and how many entries there were',
    );
  }
  if (!/^[0-9a-f]{64}$/.test(head)) throw fail('cli.usage', '--head is 64 hex digits');
  const position = parseWhole(at, '--at');
  return { position, head, what: 'the head that was given' };
}

/** What a compaction took is said wherever the log is said to be sound. */
function droppedText({ compacted }: Extract<Verified, { ok: true }>): string {
  if (compacted === undefined) return '';
  const { dropped, through, head } = compacted;
  return `; compacted below ${through}: ${dropped} bodies dropped, head there ${head.slice(0, 16)}…`;
}

/** Nothing is wrong with them as far as anybody can tell; that they are not used is worth a word. */
function unnamedText({ unnamed }: Extract<Verified, { ok: true }>): string {
  if (unnamed === undefined) return '';
  return `; the log names no snapshot of ${unnamed.join(' or ')} entries: it is from before snapshots were named, or not the hub's, and is not believed`;
}

async function verifiedArchive(
  log: Log,
  file: string,
): Promise<{ space: null; path: string } & Verified> {
  if (!existsSync(file)) throw fail('cli.no-input', `${file} does not exist`);
  const { verifyArchive } = await import('../log/transfer.ts');
  const lines = createInterface({
    input: createReadStream(file),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  return { space: null, path: file, ...(await verifyArchive(log, lines)) };
}
