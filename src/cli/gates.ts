/** `synod gates …`: what only a person may allow, asked, watched, decided and used. */
import type { Command } from 'commander';
import type { CallOutput } from '../client/operations.ts';
import { type Context, collect, handle } from './context.ts';
import { decideGate } from './decide-gate.ts';
import { fail, TROUBLE_EXIT } from './failure.ts';
import { gateLines, gateRow, isDelivered, outcomeLine } from './gate-text.ts';
import {
  addPageFlags,
  duration,
  type PageFlags,
  parseDurationMs,
  parseObject,
} from './parse-value.ts';
import { createProver, withPerson } from './prove.ts';
import { neutralise } from './terminal.ts';

type Gate = CallOutput<'gates.get'>;

/** The hub waits so long at once; a command that waits longer asks again. */
const WAIT_STEP_MS = 60_000;
const PENDING_EXIT = 75;

interface AskFlags {
  readonly grave?: boolean;
  readonly by?: readonly string[];
  readonly count?: string;
  readonly deadline?: string;
  readonly thread?: string;
  readonly payload?: string;
  readonly policy?: string;
  readonly key?: string;
  readonly wait?: boolean;
}

interface DecideFlags {
  readonly reason?: string;
  readonly person?: string;
}

export function registerGates(program: Command): void {
  const gates = program
    .command('gates')
    .description('what only a person may allow; without a verb: what waits for a decision');
  handle(gates, listGates);
  registerList(gates);
  registerShow(gates);
  registerAsk(gates);
  for (const decision of ['approve', 'deny'] as const) registerDecide(gates, decision);
  registerAskers(gates);
  registerProof(gates);
}

function registerList(gates: Command): void {
  const list = addPageFlags(
    gates
      .command('list')
      .description('those in one state, oldest first')
      .option('--state <state>', 'pending (the default), approved, denied, expired, … or all')
      .option('--mine', 'those that the agent you are asked for'),
  );
  handle<ListFlags>(list, listGates);
}

interface ListFlags extends PageFlags {
  readonly state?: string;
  readonly mine?: boolean;
}

async function listGates({ call, table, flags }: Context<ListFlags>): Promise<void> {
  const { state, mine, after, limit } = flags;
  const answer = await call('gates.list', { state, mine, after, limit });
  const none = state === undefined ? 'nothing waits for a decision' : 'none';
  table(answer, answer.gates.map(gateRow), none);
}

function registerShow(gates: Command): void {
  const show = gates.command('show').description('all of one gate').argument('<gate-id>');
  handle(show, async ({ args, call, show: print }) => {
    const [gate_id = ''] = args;
    const gate = await call('gates.get', { gate_id });
    print(gate, () => gateLines(gate));
  });
}

function registerAsk(gates: Command): void {
  const ask = gates
    .command('ask')
    .description('ask people to allow one action')
    .argument('<action>')
    .argument('<subject>', 'what it is about, in words')
    .option('--grave', 'tier 2: nobody decides it without a proof')
    .option('--by <name>', 'a person who may decide; may be repeated', collect)
    .option('--count <n>', 'so many different people, 1 to 5')
    .option('--deadline <time>', 'seconds, 30m, 12h, 2d or never; then it expires (1d)')
    .option('--thread <id>', 'the message it belongs to')
    .option('--payload <json>', 'what would be done; consuming it wants the same')
    .option('--policy <text>', 'the rule that demands it')
    .option('--key <key>', 'asked again under it, it is the same gate')
    .option('--wait', 'wait for the decision; leaves with 0 when approved');
  handle<AskFlags>(ask, async (context) => {
    const [action = '', subject = ''] = context.args;
    const { flags } = context;
    const gate = await context.call('gates.ask', {
      action,
      subject,
      tier: flags.grave === true ? 2 : 1,
      by: {
        ...(flags.by !== undefined && { names: flags.by }),
        ...(flags.count !== undefined && { count: Number(flags.count) }),
      },
      ...(flags.deadline !== undefined && { deadline: deadlineOf(flags.deadline) }),
      ...(flags.thread !== undefined && { thread: flags.thread }),
      ...(flags.payload !== undefined && { payload: parseObject(flags.payload, '--payload') }),
      ...(flags.policy !== undefined && { policy: flags.policy }),
      ...(flags.key !== undefined && { idempotency_key: flags.key }),
    });
    if (flags.wait === true) return waitFor(context, gate, null);
    context.say(
      gate,
      `${gate.gate_id} waits for a person; wait with: synod gates wait ${gate.gate_id}`,
    );
  });
}

function registerDecide(gates: Command, decision: 'approve' | 'deny'): void {
  const isDenial = decision === 'deny';
  const decide = gates
    .command(decision)
    .description(
      isDenial ? 'say no, and why; one no ends it' : 'say yes to this one action, for 15 minutes',
    )
    .argument('<gate-id>')
    .option('--reason <text>', isDenial ? 'needed' : 'if you like')
    .option('--person <name>', 'who you are, where several are known');
  handle<DecideFlags>(decide, (context) => {
    const [gate_id = ''] = context.args;
    const { reason, person: name = null } = context.flags;
    if (isDenial && !reason?.trim()) {
      const hint = `synod gates deny ${neutralise(gate_id)} --reason TEXT`;
      throw fail('cli.usage', 'a denial says why: whoever asked goes on by it', { hint });
    }
    return withPerson(async (person) => {
      const prover = createProver({ call: context.call, person, name });
      const gate = await decideGate(context.call, person, prover, { gate_id, decision, reason });
      context.say(gate, outcomeLine(gate));
    });
  });
}

function registerAskers(gates: Command): void {
  const withdraw = gates
    .command('withdraw')
    .description('stop asking; for who asked')
    .argument('<gate-id>')
    .option('--reason <text>');
  handle<DecideFlags>(withdraw, async ({ args, flags, call, say }) => {
    const [gate_id = ''] = args;
    const gate = await call('gates.withdraw', { gate_id, reason: flags.reason });
    say(gate, outcomeLine(gate));
  });
  const consume = gates
    .command('consume')
    .description('use an approval, once, right before you act; for who asked')
    .argument('<gate-id>')
    .option('--payload <json>', 'what is done now; must be what was asked for')
    .option('--policy <text>', 'the rule that demands it now');
  handle<AskFlags>(consume, async ({ args, flags, call, say }) => {
    const [gate_id = ''] = args;
    const gate = await call('gates.consume', {
      gate_id,
      ...(flags.payload !== undefined && { payload: parseObject(flags.payload, '--payload') }),
      ...(flags.policy !== undefined && { policy: flags.policy }),
    });
    say(gate, outcomeLine(gate));
  });
  const wait = gates
    .command('wait')
    .description(
      'wait for the decision; leaves with 0 when approved, 1 when not, 75 when undecided',
    )
    .argument('<gate-id>')
    .option(...duration('--for <time>', 'so long at most; without it until it is decided'));
  handle<{ for?: number }>(wait, async (context) => {
    const [gate_id = ''] = context.args;
    const gate = await context.call('gates.get', { gate_id });
    await waitFor(context, gate, context.flags.for ?? null);
  });
}

function registerProof(gates: Command): void {
  const proof = gates
    .command('proof')
    .description(
      'what deciding takes here: person (a passphrase), or none for tier 1; a person says so',
    )
    .argument('[need]', 'person or none; left out, it is only shown')
    .option('--person <name>', 'who you are, where several are known');
  handle<DecideFlags>(proof, async (context) => {
    const [need] = context.args;
    const { call, flags, say } = context;
    const answer =
      need === undefined
        ? await call('spaces.configure', {})
        : await withPerson(async (person) => {
            const prover = createProver({ call, person, name: flags.person ?? null });
            return call('spaces.configure', { gates_proof: need, proof: await prover.prove() });
          });
    const { gates_proof, gates_proof_ms } = answer;
    const text =
      gates_proof === 'none'
        ? 'the owner’s credential decides tier 1, and the record says so; tier 2 takes a passphrase'
        : 'a person decides, with a passphrase';
    say({ gates_proof, gates_proof_ms }, text);
  });
}

async function waitFor(context: Context<object>, asked: Gate, forMs: number | null): Promise<void> {
  const until = forMs === null ? Number.POSITIVE_INFINITY : Date.now() + forMs;
  const { gate_id } = asked;
  let gate = asked;
  while (gate.state === 'pending' && Date.now() < until) {
    const wait_ms = Math.min(WAIT_STEP_MS, Math.max(1, until - Date.now()));
    gate = await context.call('gates.get', { gate_id, wait_ms });
  }
  context.say(gate, outcomeLine(gate));
  if (gate.state === 'pending') process.exitCode = PENDING_EXIT;
  else if (gate.state !== 'approved' && !isDelivered(gate)) process.exitCode = TROUBLE_EXIT;
}

function deadlineOf(text: string): number | 'never' {
  return text === 'never' ? text : parseDurationMs(text, '--deadline') / 1000;
}
