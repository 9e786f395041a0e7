/**
 * `synod log at MOMENT WHAT`: the board, claims, agents, docket or channels as they were, or what any
 * reading operation answered then. It reads the log itself, so it needs no hub, and none is disturbed.
 */
import type { Command } from 'commander';
import { SynodError } from '../client/error.ts';
import type { CallOutput } from '../client/operations.ts';
import { readJson } from '../core/law/json.ts';
import { toEnvelope } from '../wire/errors.ts';
import { scopeText } from './claim-text.ts';
import { handle } from './context.ts';
import { docketLines } from './docket-text.ts';
import { fail } from './failure.ts';
import { placeOf, STORE_FLAG, type StoreFlags } from './log-place.ts';
import { clockTime } from './message-text.ts';
import { parseDurationMs, parseObject } from './parse-value.ts';
import { type Colours, columns, jsonText, neutralise } from './terminal.ts';
import { threadLines } from './thread-text.ts';

interface AtFlags extends StoreFlags {
  readonly input?: string;
}

interface View {
  readonly operation: string;
  /** What an id behind the name means to the operation. */
  readonly idField?: string;
  /** Lines for a person; `at` is what the clock showed, in seconds. */
  lines(answer: never, at: number, colours: Colours): readonly string[];
}

const VIEWS: Readonly<Record<string, View>> = {
  board: {
    operation: 'plan.board',
    lines: ({ tasks }: CallOutput<'plan.board'>) =>
      columns(
        tasks.map(({ task_id, escalated, ready, status, claim, title }) => [
          task_id,
          escalated ? 'needs a person' : ready ? 'ready' : status,
          claim?.owner ?? '-',
          title,
        ]),
      ),
  },
  claims: {
    operation: 'claims.list',
    lines: ({ claims }: CallOutput<'claims.list'>) =>
      columns(
        claims.map((claim) => [
          claim.task_id,
          claim.owner,
          claim.status,
          `until ${clockTime(claim.lease_expires_at)}`,
          scopeText(claim),
        ]),
      ),
  },
  agents: {
    operation: 'presence.list',
    lines: ({ agents }: CallOutput<'presence.list'>) =>
      columns(
        agents.map(({ agent_id, state, claims, owed }) => [
          agent_id,
          state,
          `${claims} claims`,
          `${owed} unread`,
        ]),
      ),
  },
  docket: {
    operation: 'docket.list',
    lines: ({ items }: CallOutput<'docket.list'>, at, colours) =>
      docketLines(items, 'owner', { colours, width: process.stdout.columns || 100, now: at }),
  },
  thread: {
    operation: 'threads.get',
    idField: 'message_id',
    lines: (answer: CallOutput<'threads.get'>, _at, colours) => threadLines(answer, colours),
  },
  channels: {
    operation: 'channels.list_channels',
    lines: ({ channels }: CallOutput<'channels.list_channels'>) =>
      columns(channels.map((one) => [one.name, `${one.subscriber_count} subscribers`])),
  },
};

export function registerLogAt(log: Command): void {
  const command = log
    .command('at')
    .description('what was so at an earlier moment; reads the log alone and changes nothing')
    .argument(
      '<moment>',
      'a position (so many entries), a time (2026-11-16T09:30), or 2h: so long ago',
    )
    .argument('<what>', `${Object.keys(VIEWS).join(', ')}, or an operation that reads`)
    .argument('[id]', 'of a thread: any message of it')
    .option(...STORE_FLAG)
    .option('--input <json>', 'what the operation takes');
  handle<AtFlags>(command, async ({ args, flags, colours, show, remark }) => {
    const [text = '', what = '', id] = args;
    const moment = parseMoment(text, Date.now());
    const view = Object.hasOwn(VIEWS, what) ? VIEWS[what] : undefined;
    if ((id === undefined) !== (view?.idField === undefined)) {
      throw fail('cli.usage', id === undefined ? `say which ${what}` : `${what} takes no id`);
    }
    const input = {
      ...(flags.input !== undefined && parseObject(flags.input, '--input')),
      ...(view?.idField !== undefined && { [view.idField]: id }),
    };
    const operation = view?.operation ?? what;
    const place = await placeOf(flags);
    const { askPastOfStore } = await import('../server/run/past-of-store.ts');
    const space = place.space ?? 'default';
    const then = await askPastOfStore(place.url, space, moment, { operation, input });
    if ('refused' in then) {
      const { error_code: soxCode, message, detail } = toEnvelope(then);
      throw new SynodError(then.refused, message, { soxCode, detail: detail ?? {} });
    }
    const answer: unknown = readJson(then.text);
    const at = then.at === 0 ? null : then.at / 1000;
    remark(`position ${then.position}${at === null ? '' : `, ${clockTime(at)}`}`);
    show({ position: then.position, at, operation, answer }, () => {
      if (view === undefined) return jsonText(answer, 2).split('\n').map(neutralise);
      const lines = view.lines(answer as never, at ?? 0, colours);
      return lines.length === 0 ? ['nothing'] : lines;
    });
  });
}

/** A whole number is a position; what reads as a length of time is so long ago. */
function parseMoment(
  text: string,
  now: number,
): { readonly position: number | null; readonly time: number | null } {
  if (/^\d+$/.test(text)) return { position: Number(text), time: null };
  if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) {
    return { position: null, time: Math.max(0, now - parseDurationMs(text, 'the moment')) };
  }
  const time = /^\d{4}-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) {
    throw fail(
      'cli.usage',
      `${neutralise(text)} is no moment: a position like 120, a time like 2026-11-16T09:30, or 2h for two hours ago`,
    );
  }
  return { position: null, time: Math.max(0, time) };
}
