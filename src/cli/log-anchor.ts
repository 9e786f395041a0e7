/**
 * `synod log anchor`: the head of the log, signed, put where whoever writes the log cannot: a file, a
 * program of one's own, a git remote, a time stamp of an authority. `synod log verify --anchors` holds the log to
 * it later. Without a way it is printed, for a pipe.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import type { Command } from 'commander';
import { readJson } from '../core/law/json.ts';
import type { Heads } from '../log/heads.ts';
import type { Log } from '../log/log.ts';
import { headOf, originOf } from '../log/origin.ts';
import {
  encodeSignedHead,
  hasGoodSignature,
  headText,
  type SignedHead,
} from '../log/signed-head.ts';
import { pushAnchor } from './anchor-git.ts';
import { handle } from './context.ts';
import { fail } from './failure.ts';
import {
  headsAt,
  type LogPlace,
  openAt,
  placeOf,
  STORE_FLAG,
  type StoreFlags,
} from './log-place.ts';
import { ownKey } from './record-key.ts';

interface AnchorFlags extends StoreFlags {
  readonly file?: string;
  readonly command?: string;
  readonly git?: string;
  readonly rfc3161?: string;
}

const COMMAND_MS = 60_000;

export function registerAnchor(log: Command): void {
  const command = log
    .command('anchor')
    .description('put the signed head of the log where whoever writes the log cannot')
    .option(...STORE_FLAG)
    .option('--file <file>', 'append it to this file')
    .option('--command <command>', 'give it to this shell command on standard input')
    .option('--git <remote>', 'push it to refs/synod/anchors of this remote')
    .option('--rfc3161 <url>', 'have it stamped by this time stamp authority first');
  handle<AnchorFlags>(command, async ({ flags, show, print, remark, isJson }) => {
    const place = await placeOf(flags);
    const isFile = !place.url.startsWith('nats:');
    if (isFile && !existsSync(place.path))
      throw fail('cli.no-input', `${place.path} does not exist`);
    const log = await openAt(place, true);
    const head = await withHeads(place, (heads) => currentHead(place, log, heads)).finally(() =>
      log.close(),
    );
    const { line, stamped } = await stampedLine(head, flags.rfc3161);
    const ways = put(line, head, flags);
    if (flags.rfc3161 !== undefined) ways.push('rfc3161');
    const document = { ...(readJson(line) as object), ways };
    if (ways.length === 0 || (ways.length === 1 && flags.rfc3161 !== undefined)) {
      // Nobody has it yet but who reads this.
      print(line);
      remark(
        'keep this line where no agent can write; synod log verify --anchors FILE holds the log to it',
      );
      return;
    }
    await withHeads(place, (heads) => heads.note({ head, way: ways.join(',') }));
    const by =
      stamped === null
        ? ''
        : `, stamped at ${stamped.at} by ${stamped.subject} (${stamped.fingerprint})`;
    show(isJson ? document : null, () => [
      `anchored ${head.position} ${head.position === 1 ? 'entry' : 'entries'} of ${place.path}, head ${head.head.slice(0, 16)}… (${ways.join(', ')})${by}`,
      `signed by ${head.key}`,
    ]);
  });
}

/** What goes into an export to vouch for it: every anchor that was noted, and its end. */
export async function vouchers(place: LogPlace, log: Log): Promise<SignedHead[]> {
  return withHeads(place, async (heads) => {
    const noted = heads.notes.map(({ head }) => head);
    return [...noted, await currentHead(place, log, heads)];
  });
}

async function withHeads<T>(
  place: LogPlace,
  work: (heads: Heads) => T | Promise<T>,
): Promise<Awaited<T>> {
  const heads = await headsAt(place);
  try {
    return await work(heads);
  } finally {
    await heads.close();
  }
}

/** As the log is now, signed here; without the key, as the hub signed it last. */
async function currentHead(place: LogPlace, log: Log, heads: Heads): Promise<SignedHead> {
  const signed = heads.heads.at(-1) ?? null;
  await requireAgrees(place, log, signed);
  const key = ownKey();
  const origin = await originOf(log);
  if (key !== null && origin !== null) {
    const space = place.space ?? signed?.space ?? 'default';
    const { length: position, head } = log;
    return key.sign({ space, origin, position, head, at: new Date().toISOString() });
  }
  if (signed !== null) return signed;
  if (origin === null) throw fail('cli.no-input', `${place.path} holds nothing yet`);
  throw fail('log.key', `nothing of ${place.path} is signed, and the key is not here`, {
    hint: 'start the hub once, or name its key in SYNOD_RECORD_KEY',
  });
}

/** A head that was signed before must still be there: what was cut is not to be vouched for again. */
async function requireAgrees(place: LogPlace, log: Log, signed: SignedHead | null): Promise<void> {
  // A hub at work may have come further than this opening knows.
  for await (const _ of log.read(log.length));
  if (signed === null) return;
  const isThere = (await headOf(log, signed.position)) === signed.head;
  if (isThere && hasGoodSignature(signed)) return;
  throw fail(
    'log.broken',
    `${place.path} has ${log.length} entries and not the head that was signed at ${signed.at} for ${signed.position}; nothing was anchored`,
    { hint: 'synod log verify says more; restore the log from a copy or an export' },
  );
}

async function stampedLine(
  head: SignedHead,
  url: string | undefined,
): Promise<{ line: string; stamped: { at: string; subject: string; fingerprint: string } | null }> {
  const line = encodeSignedHead(head);
  if (url === undefined) return { line, stamped: null };
  const { requestStamp } = await import('./time-stamp.ts');
  const answer = await requestStamp(url, headText(head));
  if ('problem' in answer) {
    throw fail('log.anchor-not-put', `${url} gave no time stamp: ${answer.problem}`, {
      hint: 'nothing was anchored; try again, or another authority',
    });
  }
  const { at, subject, fingerprint } = answer.stamp;
  const stamp = answer.token.toString('base64');
  return {
    line: JSON.stringify({ ...(readJson(line) as object), stamp }),
    stamped: { at: at.toISOString(), subject, fingerprint },
  };
}

/** By every way that was asked for; the first that fails is said, with those that were done. */
function put(line: string, head: SignedHead, { file, command, git }: AnchorFlags): string[] {
  const done: string[] = [];
  const failed = (way: string, why: string): Error =>
    fail('log.anchor-not-put', `the anchor was not put (${way}): ${why}`, {
      hint: done.length === 0 ? 'nothing was anchored' : `it is put already by ${done.join(', ')}`,
    });
  if (file !== undefined) {
    try {
      appendFileSync(file, `${line}\n`, { mode: 0o600, flush: true });
    } catch (cause) {
      throw failed('file', (cause as Error).message);
    }
    done.push('file');
  }
  if (command !== undefined) {
    const ran = spawnSync('sh', ['-c', command], {
      ...{ input: `${line}\n`, timeout: COMMAND_MS },
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    if (ran.status !== 0) {
      const how =
        ran.error?.message ?? (ran.signal === null ? `exit code ${ran.status}` : ran.signal);
      throw failed('command', how);
    }
    done.push('command');
  }
  if (git !== undefined) {
    const title = `${head.space}: ${head.position} entries, head ${head.head.slice(0, 16)}`;
    const why = pushAnchor(git, line, title);
    if (why !== null) throw failed('git', why);
    done.push('git');
  }
  return done;
}
