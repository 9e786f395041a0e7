/**
 * `synod log verify|anchor|export|import|compact|at|audit`: the log itself, without a hub. Verify and export also work
 * beside a running one; import and compact take its lock, because a log has one writer.
 */
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { Log } from '../log/log.ts';
import type { SignedHead } from '../log/signed-head.ts';
import { handle } from './context.ts';
import { fail } from './failure.ts';
import { registerAnchor, vouchers } from './log-anchor.ts';
import { registerLogAt } from './log-at.ts';
import { registerLogAudit } from './log-audit.ts';
import {
  type LogPlace,
  openAt,
  placeOf,
  requireMayWriteAt,
  STORE_FLAG,
  type StoreFlags,
} from './log-place.ts';
import { registerVerify } from './log-verify.ts';
import { parseDurationMs, parseWhole } from './parse-value.ts';
import { plainJson } from './terminal.ts';

export function registerLog(program: Command): void {
  const log = program
    .command('log')
    .description('verify, anchor, export, import, compact, audit or look back into the log itself');
  registerVerify(log);
  registerAnchor(log);
  registerExport(log);
  registerCopy(log);
  registerImport(log);
  registerCompact(log);
  registerLogAt(log);
  registerLogAudit(log);
}

function registerExport(log: Command): void {
  const command = log
    .command('export')
    .description('write the log as NDJSON')
    .option(...STORE_FLAG)
    .option('--from <position>', 'start here (0)', '0')
    .option('--out <file>', 'instead of stdout')
    .option(
      '--with-anchors',
      'with what vouches for it: a signed head of its end, and every anchor noted',
    );
  handle<ExportFlags>(command, async ({ flags, remark }) => {
    const { exportLog } = await import('../log/transfer.ts');
    const from = parseWhole(flags.from, '--from');
    const place = await placeOf(flags);
    const opened = await openAt(place, true);
    try {
      const anchors = flags.withAnchors === true ? await vouchers(place, opened) : [];
      const target =
        flags.out === undefined ? process.stdout : createWriteStream(flags.out, { mode: 0o600 });
      // The same values, in characters that no terminal obeys; a file holds them as they are.
      const shown = flags.out === undefined ? plainJson : (line: string) => line;
      await pipeline(exportLines(opened, from, withAnchors(exportLog, anchors), shown), target, {
        end: flags.out !== undefined,
      });
      remark(`exported ${opened.length - Math.min(from, opened.length)} entries`);
    } finally {
      await opened.close();
    }
  });
}

interface ExportFlags extends StoreFlags {
  readonly from: string;
  readonly out?: string;
  readonly withAnchors?: boolean;
}

type Exporter = (log: Log, from: number, line: (text: string) => Promise<void>) => Promise<void>;

/** The same export with anchors in its header. */
function withAnchors(
  write: typeof import('../log/transfer.ts').exportLog,
  anchors: readonly SignedHead[],
): Exporter {
  return (log, from, line) => write(log, from, line, anchors);
}

/** Turns the writer's calls into a stream, one line at a time, so that a slow reader slows us. */
async function* exportLines(
  log: Log,
  from: number,
  write: Exporter,
  shown: (line: string) => string,
): AsyncGenerator<string> {
  const { TransformStream } = await import('node:stream/web');
  const { readable, writable } = new TransformStream<string, string>();
  const writer = writable.getWriter();
  const done = write(log, from, (line) => writer.write(`${shown(line)}\n`)).then(
    () => writer.close(),
    (error) => writer.abort(error),
  );
  yield* readable;
  await done;
}

function registerImport(log: Command): void {
  const command = log
    .command('import')
    .description('read an export into a log; what is there already is compared, not repeated')
    .argument('[file]', 'left out or -: standard input', '-')
    .option(...STORE_FLAG);
  handle<StoreFlags>(command, async ({ args, flags, show }) => {
    const { importLog } = await import('../log/transfer.ts');
    const [file = '-'] = args;
    if (file !== '-' && !existsSync(file)) throw fail('cli.no-input', `${file} does not exist`);
    const place = await placeOf(flags);
    const opened = await openAt(place, false);
    try {
      const input = file === '-' ? process.stdin : createReadStream(file);
      const done = await importLog(
        opened,
        createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }),
      );
      const { length, appended, skipped, isComplete, head } = done;
      const rest = isComplete ? '' : '; the export goes on: import the rest of it too';
      show({ path: place.path, length, head, appended, skipped, is_complete: isComplete }, () => [
        `imported ${appended} entries (${skipped} were there), now ${length}${rest}`,
      ]);
    } finally {
      await opened.close();
    }
  });
}

function registerCopy(log: Command): void {
  const command = log
    .command('copy')
    .description('copy a log into another store, with its heads; run again, it goes on')
    .argument('<store>', 'where to: sqlite:///path, file:///dir or nats://HOST:PORT/PREFIX')
    .option(...STORE_FLAG);
  handle<StoreFlags>(command, async ({ args, flags, show }) => {
    const { copyLog } = await import('../log/transfer.ts');
    const [to = ''] = args;
    const [place, target] = [await placeOf(flags), await placeOf({ ...flags, store: to })];
    if (place.url === target.url) throw fail('cli.usage', 'a log is not copied onto itself');
    const source = await openAt(place, true);
    try {
      const opened = await openAt(target, false);
      try {
        const { length, head, appended, skipped } = await copyLog(source, opened);
        show({ from: place.path, to: target.path, length, head, appended, skipped }, () => [
          `copied ${appended} entries (${skipped} were there), now ${length}, head ${head.slice(0, 16)}…`,
        ]);
      } finally {
        await opened.close();
      }
    } finally {
      await source.close();
    }
  });
}

/** Nothing is made by being compacted: what is not there is said, whatever kind of store it is not in. */
async function requireCompactable(place: LogPlace, isDryRun: boolean): Promise<void> {
  if (!place.url.startsWith('nats:')) {
    if (!existsSync(place.path)) throw fail('cli.no-input', `${place.path} does not exist`);
    return;
  }
  if (!isDryRun) await requireMayWriteAt(place);
  await (await openAt(place, true)).close();
}

function registerCompact(log: Command): void {
  const command = log
    .command('compact')
    .description(
      'drop old bodies that nobody is owed; the chain stays provable (stop the hub first)',
    )
    .option(...STORE_FLAG)
    .option('--older-than <age>', 'where no retention is set: 90d, 12h (keep all)')
    .option('--dry-run', 'say what would go, and change nothing');
  handle<StoreFlags & { olderThan?: string; dryRun?: boolean }>(
    command,
    async ({ flags, show }) => {
      const { compactSpace } = await import('../server/run/compact.ts');
      const { olderThan, dryRun: isDryRun = false } = flags;
      const place = await placeOf(flags);
      await requireCompactable(place, isDryRun);
      const facts = await compactSpace(place.url, {
        olderThanMs: olderThan === undefined ? null : parseDurationMs(olderThan, '--older-than'),
        isDryRun,
        by: 'owner',
        at: Date.now(),
      });
      const { dropped, bytesBefore, bytesAfter, through, head } = facts;
      const result = { path: place.path, is_dry_run: isDryRun, dropped, through, head };
      show({ ...result, bytes_before: bytesBefore, bytes_after: bytesAfter }, () => [
        dropped === 0
          ? `nothing to drop from ${place.path}: ${through} entries, ${bytesBefore} bytes`
          : `${isDryRun ? 'would drop' : 'dropped'} ${dropped} bodies from ${place.path}: ${bytesBefore} bytes of entries become ${bytesAfter}`,
      ]);
    },
  );
}
