/**
 * `synod turns …`: the turns that the hub began, why, what each cost and whether it did anything; and a
 * person's hand on them: cancel, retry, pause, resume. Without a verb it lists.
 */
import type { Command } from 'commander';
import { type Context, handle } from './context.ts';
import { fail } from './failure.ts';
import { clockTime } from './message-text.ts';
import { addPageFlags, type PageFlags } from './parse-value.ts';
import { columns, neutralise } from './terminal.ts';
import { billText, reasonText, stateText, type Turn, turnRow } from './turn-text.ts';
import { registerFollow } from './turns-follow.ts';

export function registerTurns(program: Command): void {
  const turns = program.command('turns').description('turns of the agents that the hub runs');
  registerList(turns);
  const show = turns
    .command('show')
    .description('one turn: reason, runner, times, cost, outcome, transcript')
    .argument('<turn>');
  handle(show, async ({ args, call, show: print }) => {
    const [turn_id = ''] = args;
    const turn = await call('turns.get', { turn_id });
    print(turn, () => columns(factsOf(turn)));
  });
  registerFollow(turns);
  registerChanges(turns);
}

interface ListFlags extends PageFlags {
  readonly agent?: string;
  readonly state?: string;
}

function registerList(turns: Command): void {
  const list = addPageFlags(
    turns
      .command('list', { isDefault: true })
      .description('the newest first: why each began, what it cost, what came of it')
      .option('--agent <name>', 'only turns of this agent')
      .option('--state <state>', 'waking, busy, failed, done, nothing, gave_up, dead, cancelled'),
  );
  handle<ListFlags>(list, async ({ flags, call, table }) => {
    const { agent: agent_id, state, limit, after } = flags;
    const answer = await call('turns.list', { agent_id, state, limit, after });
    table(answer, answer.turns.map(turnRow), 'no turns yet');
  });
}

function factsOf(turn: Turn): string[][] {
  const time = (at: number | null): string => (at === null ? '-' : clockTime(at));
  const facts: [string, string | null][] = [
    ['turn', turn.turn_id],
    ['agent', turn.agent_id],
    ['state', stateText(turn)],
    ['reason', reasonText(turn)],
    ['messages', turn.reason.message_ids.join(' ')],
    ['runner', turn.runner],
    ['attempt', `${turn.attempt}${turn.after_restart ? ', after a restart of the hub' : ''}`],
    ['due', time(turn.due_at)],
    ['taken', turn.taken_at === null ? null : `${time(turn.taken_at)} by ${turn.taken_by}`],
    ['lease until', turn.lease_until === null ? null : time(turn.lease_until)],
    ['ended', turn.ended_at === null ? null : time(turn.ended_at)],
    ['process', turn.pid === null ? null : String(turn.pid)],
    ['sends', String(turn.sends)],
    ['cost', billText(turn.cost)],
    ['transcript', turn.transcript],
    ['note', turn.note],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
}

interface WhomFlags {
  readonly all?: boolean;
  readonly reason?: string;
}

function registerChanges(turns: Command): void {
  const cancel = turns
    .command('cancel')
    .description('end a turn; its messages stay in the inbox and begin no other turn')
    .argument('<turn>')
    .option('--reason <text>', 'why, for the record');
  handle<WhomFlags>(cancel, async ({ args, flags, call, say }) => {
    const [turn_id = ''] = args;
    const turn = await call('turns.cancel', { turn_id, reason: flags.reason });
    say(turn, `${turn_id} of ${turn.agent_id} is cancelled`);
  });
  const retry = turns
    .command('retry')
    .description('try a turn again that failed, gave up, is dead or was cancelled')
    .argument('<turn>');
  handle(retry, async ({ args, call, say }) => {
    const [turn_id = ''] = args;
    const turn = await call('turns.retry', { turn_id });
    say(turn, `${turn.agent_id} gets another turn for it`);
  });
  const pause = turns
    .command('pause')
    .description('begin no turns of an agent, or of all; one that runs begins again afterwards')
    .argument('[agent]')
    .option('--all', 'every agent that the hub runs')
    .option('--reason <text>', 'why, for the record');
  handle<WhomFlags>(pause, async (context) => {
    const answer = await context.call('turns.pause', {
      ...whomOf(context),
      reason: context.flags.reason,
    });
    tell(context, answer, 'paused', answer.paused);
  });
  const resume = turns
    .command('resume')
    .description('go on with an agent that is paused or parked, or with all')
    .argument('[agent]')
    .option('--all', 'every agent that the hub runs');
  handle<WhomFlags>(resume, async (context) => {
    const answer = await context.call('turns.resume', whomOf(context));
    tell(context, answer, 'resumed', answer.resumed);
  });
}

function whomOf({ args, flags }: Context<WhomFlags>): { agent_id?: string; all?: boolean } {
  const [agent_id] = args;
  if ((agent_id === undefined) === (flags.all !== true)) {
    throw fail('cli.usage', 'name one agent, or say --all');
  }
  return agent_id === undefined ? { all: true } : { agent_id };
}

function tell(
  { show }: Context<WhomFlags>,
  answer: object,
  done: string,
  agents: readonly string[],
): void {
  const names = agents.map(neutralise).join(', ');
  show(answer, () => [names === '' ? `nobody had to be ${done}` : `${done}: ${names}`]);
}
