/**
 * `synod context …`: values that agents share. A value is JSON if it can be read as such, and else a text;
 * `-` takes it from standard input. Printed is JSON, in one line. [CX9]
 */
import type { Command } from 'commander';
import type { CallOutput } from '../client/operations.ts';
import { readJson } from '../core/law/json.ts';
import { textOf } from './body-input.ts';
import { type Context, handle } from './context.ts';
import { clockTime } from './message-text.ts';
import { addPageFlags, duration, type PageFlags, seconds, whole } from './parse-value.ts';
import { jsonText } from './terminal.ts';

type Change = CallOutput<'context.diff'>['changes'][number];

/** The hub waits so long at once; a command that waits longer asks again. */
const WAIT_MS = 60_000;

export function registerContext(program: Command): void {
  const context = program
    .command('context')
    .description('values that agents share, by namespace and key; private/YOU is yours alone');
  registerSet(context);
  registerGet(context);
  registerDelete(context);
  registerList(context);
  registerSnapshot(context);
  registerDiff(context);
  registerWatch(context);
}

interface SetFlags {
  readonly ifVersion?: number;
  readonly ttl?: number;
}

function registerSet(context: Command): void {
  const set = context
    .command('set')
    .description('set a value: JSON, or else a text; - takes it from standard input')
    .argument('<namespace>')
    .argument('<key>')
    .argument('<value>')
    .option(...whole('--if-version <n>', 'only if it is at this version; 0: only if it is new'))
    .option(...seconds('--ttl <time>', 'seconds, or 5m, 2h: then it is gone'));
  handle<SetFlags>(set, async ({ args, flags, call, say }) => {
    const [ns = '', key = '', given = ''] = args;
    const { ifVersion: if_version, ttl } = flags;
    const value = spokenValue(await textOf(given));
    const answer = await call('context.set', { ns, key, value, if_version, ttl });
    say(answer, `${ns} ${key} is at version ${answer.version}`);
  });
}

function registerGet(context: Command): void {
  const get = context
    .command('get')
    .description('print a value; leaves with 1 when there is none')
    .argument('<namespace>')
    .argument('<key>')
    .option(...whole('--at <snapshot>', 'as it was then'));
  handle<{ at?: number }>(get, async ({ args, flags, call, show, remark }) => {
    const [ns = '', key = ''] = args;
    const answer = await call('context.get', { ns, key, at: flags.at });
    show(answer, () => (answer.version === 0 ? [] : [jsonText(answer.value)]));
    if (answer.version > 0) return;
    remark(`there is no ${key} in ${ns}`);
    process.exitCode = 1;
  });
}

interface DeleteFlags {
  readonly prefix?: string;
  readonly ifVersion?: number;
}

function registerDelete(context: Command): void {
  const remove = context
    .command('delete')
    .description('delete a key, or all that begin with a prefix; a snapshot still shows them')
    .argument('<namespace>')
    .argument('[key]')
    .option('--prefix <text>', 'all that begin with it')
    .option(...whole('--if-version <n>', 'only if the key is at this version'));
  handle<DeleteFlags>(remove, async ({ args, flags, call, say }) => {
    const [ns = '', key] = args;
    const { prefix, ifVersion: if_version } = flags;
    let deleted = 0;
    for (;;) {
      const answer = await call('context.delete', { ns, key, prefix, if_version });
      deleted += answer.deleted;
      if (!answer.more) return say({ deleted }, `${deleted} deleted`);
    }
  });
}

interface ListFlags extends PageFlags {
  readonly prefix?: string;
  readonly at?: number;
}

function registerList(context: Command): void {
  const list = addPageFlags(
    context
      .command('list', { isDefault: true })
      .description('the keys of a namespace; without one the namespaces')
      .argument('[namespace]')
      .option('--prefix <text>', 'those that begin with it')
      .option(...whole('--at <snapshot>', 'as it was then')),
  );
  handle<ListFlags>(list, async ({ args, flags, call, table }) => {
    const [ns] = args;
    const { prefix, at, limit, after } = flags;
    const answer = await call('context.list', { ns, prefix, at, limit, after });
    const rows =
      ns === undefined
        ? answer.namespaces.map((one) => [one.ns, `${one.keys} keys`, `${one.bytes} bytes`])
        : answer.entries.map(entryRow);
    table(answer, rows, ns === undefined ? 'there is no context yet' : `there is nothing in ${ns}`);
  });
}

function entryRow(entry: CallOutput<'context.list'>['entries'][number]): string[] {
  const { key, version, by, set_at: setAt, expires_at: expiresAt, bytes } = entry;
  const until = expiresAt === null ? '' : `, until ${clockTime(expiresAt)}`;
  return [key, `version ${version}`, `${bytes} bytes`, `by ${by} at ${clockTime(setAt)}${until}`];
}

function registerSnapshot(context: Command): void {
  const snapshot = context
    .command('snapshot')
    .description('the number under which the context of now can be read for ever');
  handle(snapshot, async ({ call, say }) => {
    const answer = await call('context.snapshot', {});
    say(answer, String(answer.snapshot));
  });
}

interface DiffFlags extends PageFlags {
  readonly prefix?: string;
}

function registerDiff(context: Command): void {
  const diff = addPageFlags(
    context
      .command('diff')
      .description('what changed in a namespace since a snapshot, or up to another')
      .argument('<namespace>')
      .argument('<from>', 'a snapshot')
      .argument('[to]', 'another; left out: now')
      .option('--prefix <text>', 'keys that begin with it'),
  );
  handle<DiffFlags>(diff, async ({ args, flags, call, show, remark }) => {
    const [ns = '', from = '', to] = args;
    const { prefix, limit, after } = flags;
    const asked = { ns, prefix, limit, after, values: true };
    const answer = await call('context.diff', {
      ...{ ...asked, from: Number(from) },
      ...(to !== undefined && { to: Number(to) }),
    });
    show(answer, () => answer.changes.map(changeLine));
    if (answer.changes.length === 0) remark('nothing changed');
    if (answer.next !== null) remark(`there is more: --after ${answer.next}`);
  });
}

interface WatchFlags {
  readonly since?: number;
  readonly prefix?: string;
  readonly for?: number;
  readonly once?: boolean;
}

function registerWatch(context: Command): void {
  const watch = context
    .command('watch')
    .description('say what changes in a namespace, as it does')
    .argument('<namespace>')
    .option(...whole('--since <snapshot>', 'from there on; left out: from now'))
    .option('--prefix <text>', 'keys that begin with it')
    .option('--once', 'leave with the first change')
    .option(...duration('--for <time>', 'leave after so long'));
  handle<WatchFlags>(watch, watchContext);
}

async function watchContext({ args, flags, call, show }: Context<WatchFlags>): Promise<void> {
  const [ns = ''] = args;
  const { prefix, once: isOnce = false } = flags;
  const until = performance.now() + (flags.for ?? Number.POSITIVE_INFINITY);
  let since = flags.since ?? (await call('context.snapshot', { ns })).snapshot;
  for (;;) {
    const leftMs = Math.max(0, Math.ceil(until - performance.now()));
    const wait_ms = Math.min(WAIT_MS, leftMs);
    const answer = await call('context.watch', { ns, since, prefix, values: true, wait_ms });
    const { changes, next, snapshot } = answer;
    for (const change of changes) show(change, () => [changeLine(change)]);
    for (let after = next; after !== null; ) {
      const asked = { ns, prefix, values: true, from: since, to: snapshot, after };
      const page = await call('context.diff', asked);
      for (const change of page.changes) show(change, () => [changeLine(change)]);
      after = page.next;
    }
    since = snapshot;
    if (leftMs === 0 || (isOnce && changes.length > 0)) return;
  }
}

function changeLine({ key, change, by, value, before_value: before }: Change): string {
  const then = before === undefined ? '' : `${jsonText(before)} -> `;
  const said = change === 'removed' ? '' : `: ${then}${jsonText(value)}`;
  return `${change} ${key} by ${by}${said}`;
}

function spokenValue(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}
