/**
 * `synod docket …`: the one list of what waits for a person, and what to do about it. At a terminal it
 * stays and takes lines; in a pipe, or with a verb, it does the one thing.
 */
import type { Command } from 'commander';
import { openPerson } from './ask-person.ts';
import { type Context, handle } from './context.ts';
import { type Acts, answer, close, type Done, decide, heldLines, take } from './docket-acts.ts';
import { runSession } from './docket-session.ts';
import { docketLines, type Item, itemDetail } from './docket-text.ts';
import { addPageFlags, type PageFlags, parseDurationMs } from './parse-value.ts';
import { createProver } from './prove.ts';

interface ListFlags extends PageFlags {
  readonly state?: string;
  readonly kind?: string;
}

interface PersonFlags {
  readonly person?: string;
}

export function registerDocket(program: Command): void {
  const docket = program
    .command('docket')
    .description('what waits for a person; at a terminal it takes what to do, line by line')
    .option('--person <name>', 'who you are, where several are known');
  handle<ListFlags & PersonFlags>(docket, openDocket);
  const list = addPageFlags(
    docket
      .command('list')
      .description('the list alone')
      .option('--state <state>', 'open, taken or closed (open and taken)')
      .option('--kind <kind>', 'gate, question, blocked, held, parked, dead or alert'),
  );
  handle<ListFlags>(list, async (context) => void (await listItems(context)));
  const show = docket.command('show').description('all of one item').argument('<item>');
  handle(show, async ({ args, call, show: print, remark }) => {
    const [item_id = ''] = args;
    const found = await call('docket.get', { item_id });
    const said = await heldLines(call, found.item);
    print(found, () => [...itemDetail(found.item), ...said]);
    if (found.next !== null) remark('there is more of it: synod call docket.get');
  });
  registerDecisions(docket);
  registerRest(docket);
}

function registerDecisions(docket: Command): void {
  for (const decision of ['approve', 'deny'] as const) {
    const command = docket
      .command(decision)
      .description(
        decision === 'approve'
          ? 'say yes to a gate, or release a held message'
          : 'say no, and why; a held message is refused',
      )
      .argument('<id>', 'an item, a gate or a message')
      .argument('[reason...]')
      .option('--person <name>', 'who you are, where several are known');
    handle<PersonFlags>(command, (context) => {
      const [id = '', ...words] = context.args;
      const reason = words.length === 0 ? undefined : words.join(' ');
      return act(context, (acts) => decide(acts, id, decision, reason));
    });
  }
  const reply = docket
    .command('answer')
    .description('answer a question; who asked is told')
    .argument('<item>')
    .argument('<text...>')
    .option('--about <question>', 'which, where an item asks several');
  handle<PersonFlags & { about?: string }>(reply, (context) => {
    const [item = '', ...words] = context.args;
    return act(context, (acts) => answer(acts, item, words.join(' '), context.flags.about));
  });
}

function registerRest(docket: Command): void {
  const takes = docket
    .command('take')
    .description('say that you see to it; another who tries is told')
    .argument('<item>')
    .option('--force', 'also from another who has it');
  handle<PersonFlags & { force?: boolean }>(takes, (context) =>
    act(context, (acts) => take(acts, context.args[0] ?? '', context.flags.force === true)),
  );
  const closes = docket
    .command('close')
    .description('put it away; gates and held messages are decided instead')
    .argument('<item>')
    .argument('[note...]')
    .option('--dismiss', 'nothing was done about it');
  handle<PersonFlags & { dismiss?: boolean }>(closes, (context) => {
    const [item = '', ...words] = context.args;
    const outcome = context.flags.dismiss === true ? 'dismissed' : 'done';
    const note = words.length === 0 ? undefined : words.join(' ');
    return act(context, (acts) => close(acts, item, outcome, note));
  });
  const ask = docket
    .command('ask')
    .description('ask people something, as the agent you are; the answer comes to your inbox')
    .argument('<text...>')
    .option('--to <person>', 'who is asked')
    .option('--thread <id>', 'what it belongs to')
    .option('--for <time>', 'then it is no longer asked: 30m, 12h, 2d');
  handle<AskFlags>(ask, async ({ args, flags, call, say }) => {
    const until =
      flags.for === undefined
        ? undefined
        : (Date.now() + parseDurationMs(flags.for, '--for')) / 1000;
    const { to, thread } = flags;
    const answer = await call('docket.raise', { text: args.join(' '), to, thread, until });
    say(
      answer,
      `${answer.item.item_id} asks it (${answer.question}); the answer comes to your inbox`,
    );
  });
}

interface AskFlags {
  readonly to?: string;
  readonly thread?: string;
  readonly for?: string;
}

/** The list; and, where somebody sits at a terminal, what to do about it. */
async function openDocket(context: Context<ListFlags & PersonFlags>): Promise<void> {
  const person = context.isJson || !process.stdout.isTTY ? null : openPerson();
  if (person === null) return void (await listItems(context));
  const { call, flags, print } = context;
  try {
    const prover = createProver({ call, person, name: flags.person ?? null });
    const list = (): Promise<readonly Item[]> => listItems(context);
    await runSession({ acts: { call, person, prover }, call, list, print });
  } finally {
    person.close();
  }
}

async function listItems(context: Context<ListFlags>): Promise<readonly Item[]> {
  const { call, flags, show, remark, colours } = context;
  const { state, kind, after, limit } = flags;
  const page = await call('docket.list', { state, kind, after, limit });
  const { agent } = context.target();
  const width = process.stdout.isTTY ? process.stdout.columns : 0;
  show(page, () => docketLines(page.items, agent ?? 'owner', { colours, width, now: Date.now() }));
  if (page.items.length === 0)
    remark(state === 'closed' ? 'nothing was closed' : 'nothing waits for a person');
  if (page.next !== null) remark(`there is more: synod docket list --after ${page.next}`);
  return page.items;
}

async function act<F extends PersonFlags>(
  { call, flags, say }: Context<F>,
  run: (acts: Acts) => Promise<Done>,
): Promise<void> {
  const person = openPerson();
  try {
    const prover = person && createProver({ call, person, name: flags.person ?? null });
    const { answer: document, line } = await run({ call, person, prover });
    say(document, line);
  } finally {
    person?.close();
  }
}
