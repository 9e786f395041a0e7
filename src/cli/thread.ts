/** `synod thread`: reads one, lists them, and marks them. Without a verb it reads. */
import type { Command } from 'commander';
import { callHub } from '../client/node/call.ts';
import { handle } from './context.ts';
import { addPageFlags, type PageFlags, whole } from './parse-value.ts';
import { PERSON_FLAG, type PersonFlags } from './person-flag.ts';
import { headlineText, MARKED, stateText, threadLines } from './thread-text.ts';

type Mark = keyof typeof MARKED;

export function registerThread(program: Command): void {
  const thread = program
    .command('thread')
    .description('read a thread; list them; pin, close or resolve one, and take that back');
  registerShow(thread);
  registerList(thread);
  for (const [mark, text] of Object.entries(SUMMARIES)) registerMark(thread, mark as Mark, text);
}

interface ShowFlags extends PageFlags {
  readonly marksBefore?: number;
}

function registerShow(thread: Command): void {
  const command = thread
    .command('show', { isDefault: true })
    .description('how it began, the replies in their order, and its marks')
    .argument('<message>', 'any message of the thread')
    .option(...whole('--marks-before <n>', 'older marks, as the page before said'));
  addPageFlags(command);
  handle<ShowFlags>(command, async ({ args, flags, call, show, remark, colours }) => {
    const [message_id = ''] = args;
    const { after, limit, marksBefore: marks_before } = flags;
    const answer = await call('threads.get', { message_id, after, limit, marks_before });
    const isFirst = after === undefined && marks_before === undefined;
    const parts = {
      hasRoot: isFirst,
      hasReplies: marks_before === undefined,
      hasMarks: after === undefined,
    };
    show(answer, () => threadLines(answer, colours, parts));
    if (parts.hasReplies && answer.next !== null) remark(`there is more: --after ${answer.next}`);
    if (parts.hasMarks && answer.marks_next !== null) {
      remark(`there are older marks: --marks-before ${answer.marks_next}`);
    }
  });
}

interface ListFlags extends PageFlags {
  readonly state?: string;
  readonly author?: string;
  readonly type?: string;
}

function registerList(thread: Command): void {
  const command = thread
    .command('list')
    .description('threads you may read, the newest first')
    .argument('[channel]', 'only those there')
    .option('--state <state>', 'only these: open, closed, resolved or pinned')
    .option('--author <agent>', 'only what it began')
    .option('--type <type>', 'only posts of this type');
  addPageFlags(command);
  handle<ListFlags>(command, async ({ args, flags, call, show, remark, colours }) => {
    const { state, author, type, limit, after } = flags;
    const answer = await call('threads.list', {
      ...{ channel: args[0], state, author, type, limit, after },
    });
    show(answer, () => answer.threads.map((row) => headlineText(row, colours)));
    if (answer.next !== null) remark(`there may be more: --after ${answer.next}`);
    else if (answer.threads.length === 0) {
      remark('no threads; one begins with a post or a reply: synod send CHANNEL TEXT --post');
    }
  });
}

const SUMMARIES: Readonly<Record<Mark, string>> = {
  pin: 'keep it on top',
  unpin: 'no longer keep it on top',
  close: 'it takes no more replies; needs --note, which is shown to who replies',
  reopen: 'it takes replies again',
  resolve: 'say that it is answered',
  unresolve: 'say that it is not answered after all',
};

interface MarkFlags extends PersonFlags {
  readonly note?: string;
}

function registerMark(thread: Command, mark: Mark, summary: string): void {
  const command = thread
    .command(mark)
    .description(summary)
    .argument('<message>', 'any message of the thread')
    .option('--note <text>', 'why; kept with the mark')
    .option(...PERSON_FLAG);
  handle<MarkFlags>(command, async ({ args, flags, target, say }) => {
    const [message_id = ''] = args;
    const hub = { ...target(), isPerson: flags.person === true };
    const answer = await callHub(hub, 'threads.mark', { message_id, mark, note: flags.note });
    const { thread, changed } = answer;
    const state = `${thread.thread_id} is ${stateText(thread)}`;
    say(answer, changed ? `${MARKED[mark]}; ${state}` : `nothing changed; ${state}`);
  });
}
