/** `synod task …`: put a task on the plan, change it, note progress, read the notes, take it off. */
import type { Command } from 'commander';
import type { CallOutput } from '../client/operations.ts';
import { textOf } from './body-input.ts';
import { handle } from './context.ts';
import { fail } from './failure.ts';
import { clockTime } from './message-text.ts';
import { addPageFlags, type PageFlags, parseWhole, whole } from './parse-value.ts';
import { neutralise } from './terminal.ts';

interface DeclareFlags {
  readonly needs?: readonly string[];
  readonly description?: string;
  readonly project?: string;
  readonly owner?: string;
  readonly parent?: string;
  readonly ifVersion?: number;
  readonly allowUnknown?: boolean;
}

const IF_VERSION = whole('--if-version <n>', 'only if it is still that version');

export function registerTask(program: Command): void {
  const task = program.command('task').description('tasks of the plan; the board shows them all');
  registerDeclare(task);
  registerUpdate(task);
  registerProgress(task);
  registerNotes(task);
  const remove = task
    .command('remove')
    .description('take a done or cancelled task off the plan')
    .argument('<task>');
  handle(remove, async ({ args, call, say }) => {
    const [task_id = ''] = args;
    say(await call('plan.remove', { task_id }), `removed ${task_id}`);
  });
}

function registerDeclare(task: Command): void {
  const declare = task
    .command('declare')
    .description('put a task on the plan, or change one that is there')
    .argument('<task>', 'its id')
    .argument('<title>')
    .option('--needs <task...>', 'what must be done before')
    .option('--description <text>', '- reads it from standard input')
    .option('--project <name>')
    .option('--owner <agent>', 'who might do it')
    .option('--parent <task>', 'what it came from')
    .option('--allow-unknown', 'what it needs may be declared later')
    .option(...IF_VERSION);
  handle<DeclareFlags>(declare, async ({ args, flags, call, say, remark }) => {
    const [task_id = '', title = ''] = args;
    const { description, project } = flags;
    const answer = await call('plan.declare', {
      task_id,
      title,
      description: description === undefined ? undefined : await textOf(description),
      depends_on: flags.needs,
      project,
      suggested_owner: flags.owner,
      causal_parent: flags.parent,
      expected_version: flags.ifVersion,
      allow_unknown: flags.allowUnknown,
    });
    say(answer, taskLine('declared', answer));
    const { unknown } = answer;
    if (unknown.length > 0) remark(neutralise(`not on the plan yet: ${unknown.join(', ')}`));
  });
}

function registerUpdate(task: Command): void {
  const update = task
    .command('update')
    .description('change its status or who might do it')
    .argument('<task>')
    .argument('[status]', 'open, in_progress, blocked, done or cancelled')
    .option('--owner <agent>', 'who might do it')
    .option(...IF_VERSION);
  handle<DeclareFlags>(update, async ({ args, flags, call, say }) => {
    const [task_id = '', status] = args;
    const { owner: suggested_owner, ifVersion: expected_version } = flags;
    if (status === undefined && suggested_owner === undefined) {
      throw fail('cli.usage', 'say what to change: a status, or --owner');
    }
    const input = { task_id, status, suggested_owner, expected_version };
    const answer = await call('plan.update', input);
    say(answer, taskLine('updated', answer));
  });
}

function registerProgress(task: Command): void {
  const progress = task
    .command('progress')
    .description('append a note to a task')
    .argument('<task>', '. notes it on the plan as a whole')
    .argument('<text>', '- reads it from standard input')
    .option('--kind <kind>', 'note, blocked or assessment', 'note');
  handle<{ kind: string }>(progress, async ({ args, flags, call, say }) => {
    const [id = '', text = ''] = args;
    const answer = await call('plan.progress', {
      task_id: id === '.' ? null : id,
      text: await textOf(text),
      kind: flags.kind,
    });
    say(answer, `noted #${answer.seq}`);
  });
}

function registerNotes(task: Command): void {
  const notes = addPageFlags(
    task
      .command('notes')
      .description('notes on a task, or on all of the plan, oldest first')
      .argument('[task]', '. for those on the plan as a whole'),
  );
  handle<PageFlags>(notes, async ({ args, flags, call, table }) => {
    const { limit, after } = flags;
    const answer = await call('plan.notes', {
      task_id: args[0] === '.' ? null : args[0],
      limit,
      after: after === undefined ? undefined : parseWhole(after, '--after'),
    });
    table(answer, answer.notes.map(noteRow), 'no notes');
  });
}

function noteRow(note: CallOutput<'plan.notes'>['notes'][number]): string[] {
  const { seq, task_id: id, kind, text, author, posted_at: at } = note;
  const what = kind === 'note' ? text : `${kind}: ${text}`;
  return [`#${seq}`, clockTime(at), id ?? '.', author, what];
}

function taskLine(
  deed: string,
  { task, unmet }: CallOutput<'plan.declare' | 'plan.update'>,
): string {
  const needs = unmet.length === 0 ? '' : `; needs ${unmet.join(', ')}`;
  return `${deed} ${task?.task_id}: ${task?.status}, version ${task?.version}${needs}`;
}
