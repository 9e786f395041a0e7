/**
 * `synod sessions …`: histories that outlive a process. Without a verb it lists; `show` reads one. With
 * `--person` one is a person, who sees and does what any holder may.
 */
import type { Command } from 'commander';
import { callHub, type SpokenInput } from '../client/node/call.ts';
import type { CallId, CallOutput } from '../client/operations.ts';
import { textOf } from './body-input.ts';
import { type Context, handle } from './context.ts';
import { addPageFlags, duration, type PageFlags, parseWhole, whole } from './parse-value.ts';
import { PERSON_FLAG, type PersonFlags } from './person-flag.ts';
import { itemLines, sessionHead, sessionRow } from './session-text.ts';

export function registerSessions(program: Command): void {
  const sessions = program
    .command('sessions')
    .description('histories that outlive a process: list, show, append, hand on');
  registerList(sessions);
  registerShow(sessions);
  registerCreate(sessions);
  registerAppend(sessions);
  registerCuts(sessions);
  registerHandOff(sessions);
}

/** The hub as the person that `--person` says one is. */
function ask<Id extends CallId>(
  { target, flags }: Context<PersonFlags>,
  id: Id,
  input: SpokenInput<Id>,
): Promise<CallOutput<Id>> {
  return callHub({ ...target(), isPerson: flags.person === true }, id, input);
}

interface ListFlags extends PageFlags, PersonFlags {
  readonly agent?: string;
  readonly key?: string;
  readonly all?: boolean;
}

function registerList(sessions: Command): void {
  const command = sessions
    .command('list', { isDefault: true })
    .description('sessions you hold, created or share; people see all')
    .option('--agent <agent>', 'only those it holds or created')
    .option('--key <key>', 'only the one its creator calls so')
    .option('--all', 'also those that are over')
    .option(...PERSON_FLAG);
  addPageFlags(command);
  handle<ListFlags>(command, async (context) => {
    const { agent: agent_id, key, all, limit, after } = context.flags;
    const answer = await ask(context, 'sessions.list', { agent_id, key, all, limit, after });
    context.table(answer, answer.sessions.map(sessionRow), 'no sessions');
  });
}

interface ShowFlags extends PersonFlags {
  readonly from?: number;
  readonly last?: number;
  readonly limit?: number;
  readonly cut?: number;
}

function registerShow(sessions: Command): void {
  const command = sessions
    .command('show')
    .description('how it stands, and its items')
    .argument('<session>')
    .option(...whole('--from <index>', 'begin with this item'))
    .option(...whole('--last <n>', 'only the newest'))
    .option(...whole('--limit <n>', 'at most so many'))
    .option(...whole('--cut <n>', 'what this rewind, compaction or filter took away'))
    .option(...PERSON_FLAG);
  handle<ShowFlags>(command, async (context) => {
    const [session_id = ''] = context.args;
    const { from, last, limit, cut } = context.flags;
    const answer = await ask(context, 'sessions.get', { session_id, from, last, limit, cut });
    const { colours } = context;
    context.show(answer, () => [
      sessionHead(answer.session, colours),
      ...answer.items.flatMap((item) => itemLines(item, colours)),
    ]);
    if (answer.next !== null) context.remark(`there is more: --from ${answer.next}`);
  });
}

interface CreateFlags extends PersonFlags {
  readonly key?: string;
  readonly ttl?: number;
  readonly agent?: string;
}

function registerCreate(sessions: Command): void {
  const command = sessions
    .command('create')
    .description('begin one; under a key it is created once')
    .option('--key <key>', 'your own name for it')
    .option(...duration('--ttl <time>', 'over so long after its last change; 0: never'))
    .option('--agent <agent>', 'who holds it; with --person')
    .option(...PERSON_FLAG);
  handle<CreateFlags>(command, async (context) => {
    const { key, ttl: ttl_ms, agent: agent_id } = context.flags;
    const answer = await ask(context, 'sessions.create', { key, ttl_ms, agent_id });
    context.say(answer, `${answer.session_id} ${answer.created ? 'begun' : 'is there already'}`);
  });
}

interface AppendFlags extends PersonFlags {
  readonly kind?: string;
  readonly expect?: number;
}

function registerAppend(sessions: Command): void {
  const command = sessions
    .command('append')
    .description('say something in it; - reads standard input')
    .argument('<session>')
    .argument('<text>')
    .option('--kind <kind>', 'user, assistant or note', 'note')
    .option(...whole('--expect <length>', 'only if it has so many items'))
    .option(...PERSON_FLAG);
  handle<AppendFlags>(command, async (context) => {
    const [session_id = '', text = ''] = context.args;
    const { kind = 'note', expect: expected_length } = context.flags;
    const items = [{ kind, content: await textOf(text) }] as never;
    const answer = await ask(context, 'sessions.append', { session_id, items, expected_length });
    context.say(answer, `${session_id} has ${answer.session.length} items`);
  });
}

interface CutFlags extends PersonFlags {
  readonly keep?: number;
  readonly length?: number;
  readonly reason?: string;
  readonly key?: string;
}

/** Fork, rewind, compact and close. */
function registerCuts(sessions: Command): void {
  const fork = sessions
    .command('fork')
    .description('one of your own with its history, or the first part of it')
    .argument('<session>')
    .option(...whole('--length <n>', 'only so many items'))
    .option('--key <key>', 'your own name for it')
    .option(...PERSON_FLAG);
  handle<CutFlags>(fork, async (context) => {
    const [session_id = ''] = context.args;
    const { length, key } = context.flags;
    const answer = await ask(context, 'sessions.fork', { session_id, length, key });
    context.say(answer, `${answer.session_id} begins with ${answer.length} items of ${session_id}`);
  });
  const rewind = sessions
    .command('rewind')
    .description('go back to so many items; the rest can still be read')
    .argument('<session>')
    .argument('<length>')
    .option(...PERSON_FLAG);
  handle<CutFlags>(rewind, async (context) => {
    const [session_id = '', text = ''] = context.args;
    const length = parseWhole(text, 'the length');
    const answer = await ask(context, 'sessions.rewind', { session_id, length });
    context.say(answer, `${session_id} has ${answer.length} items`);
  });
  const compact = sessions
    .command('compact')
    .description('put a summary in the place of the oldest; - reads standard input')
    .argument('<session>')
    .argument('<summary>')
    .option(...whole('--keep <n>', 'so many of the newest stay'))
    .option(...PERSON_FLAG);
  handle<CutFlags>(compact, async (context) => {
    const [session_id = '', text = ''] = context.args;
    const summary = await textOf(text);
    const { keep } = context.flags;
    const answer = await ask(context, 'sessions.compact', { session_id, summary, keep });
    context.say(answer, `${session_id} has ${answer.length} items`);
  });
  const close = sessions
    .command('close')
    .description('nothing is appended any more')
    .argument('<session>')
    .option('--reason <text>', 'why')
    .option(...PERSON_FLAG);
  handle<CutFlags>(close, async (context) => {
    const [session_id = ''] = context.args;
    const { reason } = context.flags;
    const answer = await ask(context, 'sessions.close', { session_id, reason });
    context.say(answer, `${session_id} is closed`);
  });
}

interface HandOffFlags extends PersonFlags {
  readonly why?: string;
  readonly append?: boolean;
  readonly none?: boolean;
}

function registerHandOff(sessions: Command): void {
  const share = sessions
    .command('share')
    .description('let another agent read it')
    .argument('<session>')
    .argument('<agent>')
    .option('--append', 'and append to it')
    .option('--none', 'no longer')
    .option(...PERSON_FLAG);
  handle<HandOffFlags>(share, async (context) => {
    const [session_id = '', agent_id = ''] = context.args;
    const { append, none } = context.flags;
    const access = none === true ? 'none' : append === true ? 'append' : 'read';
    const answer = await ask(context, 'sessions.share', { session_id, agent_id, access });
    context.say(answer, `${agent_id} may ${SHARED[access]} ${session_id}`);
  });
  const handoff = sessions
    .command('handoff')
    .description('another agent holds it from now on, with your claims')
    .argument('<session>')
    .argument('<agent>')
    .requiredOption('--why <text>', 'why, for the one who gets it')
    .option(...PERSON_FLAG);
  handle<HandOffFlags>(handoff, async (context) => {
    const [session_id = '', to = ''] = context.args;
    const { why = '' } = context.flags;
    const answer = await ask(context, 'sessions.handoff', { session_id, to, why });
    const round = `${session_id} went round too often and waits for a person: synod docket`;
    context.say(answer, answer.parked ? round : `${to} holds ${session_id}`);
  });
}

const SHARED: Readonly<Record<string, string>> = {
  read: 'read',
  append: 'read and append to',
  none: 'no longer read',
};
