/** `synod workflow …`: runs are listed, shown as a tree, started, signalled, cancelled, retried and forked [WF19]. */
import type { Command } from 'commander';
import { readJson } from '../core/law/json.ts';
import { textOf } from './body-input.ts';
import { type Context, collect, handle } from './context.ts';
import { fail } from './failure.ts';
import { addPageFlags, duration, type PageFlags, whole } from './parse-value.ts';
import { type RunTree, runRow, stateText, treeLines } from './workflow-text.ts';

export function registerWorkflow(program: Command): void {
  const workflow = program
    .command('workflow')
    .description(
      'runs of workflows: how they stand, what they did and cost, and what to do about it',
    );
  registerList(workflow);
  registerShow(workflow);
  registerStart(workflow);
  registerSignal(workflow);
  registerCancel(workflow);
  registerRetry(workflow);
  registerFork(workflow);
  registerAnswer(workflow);
}

interface ListFlags extends PageFlags {
  readonly state?: string;
  readonly name?: string;
}

function registerList(workflow: Command): void {
  const list = addPageFlags(
    workflow
      .command('list', { isDefault: true })
      .description(
        'runs that you may see, the newest first; without --state those that are not over',
      )
      .option('--state <state>', 'queued, running, completed, failed, stuck, …, or all')
      .option('--name <workflow>', 'only runs of this workflow'),
  );
  handle<ListFlags>(list, async ({ flags, call, table }) => {
    const { state, name, limit, after } = flags;
    const answer = await call('workflows.list', { state, name, limit, after });
    table(answer, answer.runs.map(runRow), 'no runs; --state all shows those that are over');
  });
}

/** How deep runs of runs are followed, and how many steps of each are shown. */
const DEPTH_MAX = 4;
const STEPS_SHOWN = 500;
const CHILDREN_SHOWN = 50;

function registerShow(workflow: Command): void {
  const show = workflow
    .command('show')
    .description(
      'one run as a tree: its steps with times, attempts and cost, and the runs it started',
    )
    .argument('<run>');
  handle(show, async ({ args, call, show: print, colours }) => {
    const [id = ''] = args;
    const tree = await readTree(call, id, DEPTH_MAX);
    print(tree, () => treeLines(tree, colours));
  });
}

async function readTree(
  call: Context<object>['call'],
  id: string,
  depth: number,
): Promise<RunTree> {
  const run = await call('workflows.get', { id });
  // A page has as many as fit; of large results those are few.
  const first = await call('workflows.steps', { id, limit: STEPS_SHOWN });
  const steps = [...first.steps];
  let { next } = first;
  while (next !== null && steps.length < STEPS_SHOWN) {
    const more = { id, after: next, limit: STEPS_SHOWN - steps.length };
    const page = await call('workflows.steps', more);
    steps.push(...page.steps);
    next = page.next;
  }
  const children: RunTree[] = [];
  if (depth > 0) {
    const list = { parent: id, state: 'all', limit: CHILDREN_SHOWN } as const;
    const { runs } = await call('workflows.list', list);
    for (const one of runs.toReversed()) children.push(await readTree(call, one.id, depth - 1));
  }
  return { run, steps, hasMore: next !== null, children };
}

interface StartFlags {
  readonly id?: string;
  readonly queue?: string;
  readonly key?: string;
  readonly priority?: number;
  readonly delay?: number;
  readonly dedup?: string;
  readonly pin?: string;
  readonly wait?: number;
}

function registerStart(workflow: Command): void {
  const start = workflow
    .command('start')
    .description('start a run; an executor of that workflow takes it')
    .argument('<workflow>')
    .argument('[input]', 'JSON, or else a text; - takes it from standard input')
    .option('--id <id>', 'its id: the same again is the same run')
    .option('--queue <queue>', 'the queue it waits in')
    .option('--key <key>', 'what the queue counts it by')
    .option(...whole('--priority <n>', 'from -100 to 100'))
    .option(...duration('--delay <time>', 'not before this has passed: 5m, 2h'))
    .option('--dedup <word>', 'while a run with this word is not over, that one is meant')
    .option('--pin <version>', 'only executors that offer this version of the code take it')
    .option(...duration('--wait <time>', 'wait so long for its end'));
  handle<StartFlags>(start, async ({ args, flags, call, say }) => {
    const [name = '', given] = args;
    const { id, queue, key, priority, delay: delay_ms, dedup, pin: version, wait } = flags;
    const input = given === undefined ? undefined : spoken(await textOf(given));
    const more = { id, queue, key, priority, delay_ms, dedup, version };
    const made = await call('workflows.start', { name, input, ...more });
    const run =
      wait === undefined
        ? made
        : await call('workflows.wait', { id: made.id, timeout_ms: Math.min(wait, WAIT_MS) });
    say(run, `${run.id} is ${stateText(run)}${made.existing ? ' (it was there before)' : ''}`);
  });
}

/** The hub waits no longer than this at once. */
const WAIT_MS = 600_000;

function registerSignal(workflow: Command): void {
  const signal = workflow
    .command('signal')
    .description('tell a run something by name; kept until it waits for it')
    .argument('<run>')
    .argument('<name>')
    .argument('[value]', 'JSON, or else a text; - takes it from standard input');
  handle(signal, async ({ args, call, say }) => {
    const [id = '', name = '', given] = args;
    const value = given === undefined ? undefined : spoken(await textOf(given));
    const answer = await call('workflows.signal', { id, name, value });
    say(answer, answer.kept ? `kept: ${id} does not wait for ${name} yet` : `${id} has it`);
  });
}

function registerCancel(workflow: Command): void {
  const cancel = workflow
    .command('cancel')
    .description('cancel a run and those it started; what it did is undone by its executor first')
    .argument('<run>')
    .option('--reason <text>', 'why')
    .option('--force', 'it is over at once, whoever holds it; nothing is undone');
  handle<{ reason?: string; force?: true }>(cancel, async ({ args, flags, call, say }) => {
    const [id = ''] = args;
    const run = await call('workflows.cancel', { id, reason: flags.reason, force: flags.force });
    say(run, `${id} is ${stateText(run)}`);
  });
}

interface RetryFlags {
  readonly from?: string;
  readonly key?: string;
  readonly map?: readonly string[];
}

function registerRetry(workflow: Command): void {
  const retry = workflow
    .command('retry')
    .description('go on with a run that failed, is stuck or was cancelled')
    .argument('<run>')
    .option('--from <step>', 'do this step and what completed after it again')
    .option('--key <key>', 'the key of that step')
    .option('--map <old=new>', 'a step is called otherwise now; may be repeated', collect);
  handle<RetryFlags>(retry, async ({ args, flags, call, say }) => {
    const [id = ''] = args;
    const { from, key } = flags;
    const from_step = from === undefined ? undefined : { step: from, key };
    const run = await call('workflows.retry', { id, from_step, map: mapOf(flags.map ?? []) });
    say(run, `${id} is ${stateText(run)}`);
  });
}

function mapOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, before, after] = /^([^=]+)=([^=]+)$/.exec(pair) ?? [];
      if (before !== undefined && after !== undefined) return [before, after];
      throw fail('cli.usage', `--map must be the old and the new name, as old=new; found ${pair}`);
    }),
  );
}

interface ForkFlags {
  readonly at: string;
  readonly key?: string;
  readonly id?: string;
  readonly input?: string;
  readonly pin?: string;
}

function registerFork(workflow: Command): void {
  const fork = workflow
    .command('fork')
    .description('another run from a step on: what completed before it is not done again')
    .argument('<run>')
    .requiredOption('--at <step>', 'the first step that is done anew')
    .option('--key <key>', 'the key of that step')
    .option('--id <id>', 'the id of the new run')
    .option('--input <json>', 'another input: JSON, or else a text')
    .option('--pin <version>', 'only executors that offer this version of the code take it');
  handle<ForkFlags>(fork, async ({ args, flags, call, say }) => {
    const [id = ''] = args;
    const { at: step, key, id: new_id, pin: version } = flags;
    const input = flags.input === undefined ? undefined : spoken(flags.input);
    const run = await call('workflows.fork', {
      id,
      at_step: { step, key },
      new_id,
      version,
      input,
    });
    say(run, `${run.id} is ${stateText(run)}, from ${step} of ${id} on`);
  });
}

function registerAnswer(workflow: Command): void {
  const answer = workflow
    .command('answer')
    .description('for a step that may have run and asks: try it again, or let it fail')
    .argument('<run>')
    .argument('<step>')
    .argument('<answer>', 'retry or fail')
    .option('--key <key>', 'the key of that step');
  handle<{ key?: string }>(answer, async ({ args, flags, call, say }) => {
    const [id = '', step = '', word = ''] = args;
    if (word !== 'retry' && word !== 'fail') {
      throw fail('cli.usage', `the answer must be retry or fail; found ${word}`);
    }
    const run = await call('workflows.answer', { id, step, key: flags.key, answer: word });
    say(run, `${id} is ${stateText(run)}`);
  });
}

/** JSON if it can be read as such, and else a text. */
function spoken(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}
