/** `synod task …`: put a task on the plan, change it, note progress, read the notes, take it off. */
import type { Command } from 'commander';
import { textOf } from './body-input.ts';
import { given, handle } from './context.ts';
import { fail } from './failure.ts';
import { clockTime } from './message-text.ts';
import { addPageFlags, type PageFlags, pageOf, remarkMore } from './paging.ts';
import { parseWhole } from './parse-value.ts';
import { columns, neutralise } from './terminal.ts';

interface DeclareFlags {
  readonly needs?: readonly string[];
  readonly description?: string;
  readonly project?: string;
  readonly owner?: string;
  readonly parent?: string;
  readonly ifVersion?: string;
  readonly allowUnknown?: boolean;
}

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
  handle(remove, async ({ args, call, show }) => {
    const answer = await call('plan_remove', { task_id: args[0] });
    show(answer, () => [`removed ${neutralise(args[0] ?? '')}`]);
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
    .option('--if-version <n>', 'only if it is still that version');
  handle<DeclareFlags>(declare, async ({ args, flags, call, show, remark }) => {
    const [id = '', title] = args;
    const { description, needs, project, owner, parent } = flags;
    const answer = await call(
      'plan_declare',
      given({
        task_id: id,
        title,
        description: description === undefined ? undefined : await textOf(description),
        depends_on: needs,
        project,
        suggested_owner: owner,
        causal_parent: parent,
        expected_version: versionOf(flags.ifVersion),
        allow_unknown: flags.allowUnknown,
      }),
    );
    show(answer, () => [taskLine('declared', answer)]);
    const unknown = answer.unknown as string[];
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
    .option('--if-version <n>', 'only if it is still that version');
  handle<DeclareFlags>(update, async ({ args, flags, call, show }) => {
    const [id, status] = args;
    const { owner, ifVersion } = flags;
    if (status === undefined && owner === undefined) {
      throw fail('cli.usage', 'say what to change: a status, or --owner');
    }
    const answer = await call(
      'plan_update',
      given({
        task_id: id,
        status,
        suggested_owner: owner,
        expected_version: versionOf(ifVersion),
      }),
    );
    show(answer, () => [taskLine('updated', answer)]);
  });
}

function registerProgress(task: Command): void {
  const progress = task
    .command('progress')
    .description('append a note to a task')
    .argument('<task>', '. notes it on the plan as a whole')
    .argument('<text>', '- reads it from standard input')
    .option('--kind <kind>', 'note, blocked or assessment', 'note');
  handle<{ kind: string }>(progress, async ({ args, flags, call, show }) => {
    const [id = '', text = ''] = args;
    const answer = await call('plan_progress', {
      task_id: id === '.' ? null : id,
      text: await textOf(text),
      kind: flags.kind,
    });
    show(answer, () => [`noted #${answer.seq}`]);
  });
}

interface Note {
  readonly seq: number;
  readonly task_id: string | null;
  readonly kind: string;
  readonly text: string;
  readonly author: string;
  readonly posted_at: number;
}

function registerNotes(task: Command): void {
  const notes = addPageFlags(
    task
      .command('notes')
      .description('notes on a task, or on all of the plan, oldest first')
      .argument('[task]', '. for those on the plan as a whole'),
  );
  handle<PageFlags>(notes, async ({ args, flags, call, show, remark }) => {
    const { limit, after } = pageOf(flags);
    const input = given({
      task_id: args[0] === '.' ? null : args[0],
      limit,
      after: after === undefined ? undefined : parseWhole(after, '--after'),
    });
    const answer = await call('plan_notes', input);
    const found = answer.notes as Note[];
    show(answer, () => columns(found.map(noteRow)));
    if (found.length === 0) remark('no notes');
    remarkMore(answer.next, remark);
  });
}

function noteRow({ seq, task_id: id, kind, text, author, posted_at: at }: Note): string[] {
  const what = kind === 'note' ? text : `${kind}: ${text}`;
  return [`#${seq}`, clockTime(at), id ?? '.', author, what];
}

function versionOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseWhole(text, '--if-version');
}

function taskLine(deed: string, answer: Record<string, unknown>): string {
  const { task_id: id, status, version } = answer.task as Record<string, unknown>;
  const unmet = answer.unmet as string[];
  const needs = unmet.length === 0 ? '' : `; needs ${unmet.join(', ')}`;
  return neutralise(`${deed} ${id}: ${status}, version ${version}${needs}`);
}
