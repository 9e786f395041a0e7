/**
 * What a person does about an item: approve, deny, answer, take, close. The same for a command and for
 * the lines typed at `synod docket`; a proof that was typed once stays with this process [GT12].
 */
import type { Person } from '../bus/programs/registry-setup.ts';
import type { CallOutput } from '../client/operations.ts';
import { plainText } from '../wire/body-text.ts';
import type { Call } from './context.ts';
import { decideGate } from './decide-gate.ts';
import { fail } from './failure.ts';
import { outcomeLine } from './gate-text.ts';
import type { Prover } from './prove.ts';
import { jsonText, neutralise } from './terminal.ts';

type Item = CallOutput<'docket.get'>['item'];

export interface Acts {
  readonly call: Call;
  /** Where somebody sits at a terminal. */
  readonly person: Person | null;
  readonly prover: Prover | null;
}

export interface Done {
  readonly answer: object;
  readonly line: string;
}

/** An item, a gate or a held message: whichever of them the person named. */
export async function decide(
  { call, person, prover }: Acts,
  named: string,
  decision: 'approve' | 'deny',
  reason: string | undefined,
): Promise<Done> {
  const { kind, subject } = await findDecidable(call, named);
  if (kind === 'held') {
    const answer = await call('held.review', {
      ...{ message_id: subject, decision: decision === 'approve' ? 'release' : 'refuse', reason },
    });
    const done = answer.decision === 'release' ? 'is released to its readers' : 'is refused';
    return { answer, line: `${subject} ${done}` };
  }
  if (decision === 'deny' && !reason?.trim()) {
    throw fail('cli.usage', 'a denial says why: whoever asked goes on by it', {
      hint: `synod docket deny ${named} REASON`,
    });
  }
  if (person === null || prover === null) {
    throw fail(
      'cli.no-terminal',
      'a gate is decided by a person, and nobody sits at a terminal here',
      {
        hint: 'run it in a terminal, without a pipe',
      },
    );
  }
  const gate = await decideGate(call, person, prover, { gate_id: subject, decision, reason });
  return { answer: gate, line: outcomeLine(gate) };
}

export async function answer(
  { call }: Acts,
  item_id: string,
  note: string,
  about: string | undefined,
): Promise<Done> {
  const subject = about ?? (await onlyQuestion(call, item_id));
  const closed = await call('docket.close', { item_id, subject, outcome: 'answered', note });
  return { answer: closed, line: `${closed.item.agent_id} is told` };
}

export async function take({ call }: Acts, item_id: string, force: boolean): Promise<Done> {
  const taken = await call('docket.take', { item_id, force });
  return { answer: taken, line: `${item_id} is yours to see to` };
}

export async function close(
  { call }: Acts,
  item_id: string,
  outcome: 'done' | 'dismissed',
  note: string | undefined,
): Promise<Done> {
  const closed = await call('docket.close', { item_id, outcome, note });
  return { answer: closed, line: `${item_id} is closed: ${outcome}` };
}

/** What the held messages of an item say: whoever decides reads them first. */
export async function heldLines(call: Call, { subjects }: Item): Promise<string[]> {
  const wanted = new Set(subjects.flatMap((one) => (one.kind === 'held' ? [one.subject] : [])));
  const lines: string[] = [];
  // One by one: what else is held may be much, and is not asked for.
  for (const message_id of wanted) {
    const { held } = await call('held.list', { message_id });
    for (const { message } of held) {
      const text = plainText(message.body) ?? jsonText(message.body);
      const quoted = text.split(/\r?\n/).map((line) => `  │ ${neutralise(line)}`);
      lines.push('', `${message.message_id} says:`, ...quoted);
    }
  }
  return lines;
}

async function findDecidable(
  call: Call,
  named: string,
): Promise<{ readonly kind: string; readonly subject: string }> {
  if (!isItem(named)) return { kind: /^m\d+$/.test(named) ? 'held' : 'gate', subject: named };
  const { item } = await call('docket.get', { item_id: named });
  const some = item.subjects.filter(({ kind }) => kind === 'gate' || kind === 'held');
  const [only, another] = some;
  if (only === undefined) throw nothingToDecide(item);
  if (another !== undefined) {
    throw fail('cli.usage', `${named} is about several: say which`, {
      hint: some.map(({ subject }) => subject).join(', '),
    });
  }
  return only;
}

async function onlyQuestion(call: Call, item_id: string): Promise<string | undefined> {
  const { item } = await call('docket.get', { item_id });
  const questions = item.subjects.filter(({ kind }) => kind === 'question');
  const [only, another] = questions;
  if (only === undefined) throw nothingToDecide(item);
  if (another === undefined) return only.subject;
  throw fail('cli.usage', `${item_id} asks several things: say which with --about`, {
    hint: questions.map(({ subject }) => subject).join(', '),
  });
}

function nothingToDecide({ item_id, closed, kinds }: Item): Error {
  if (closed !== null) return fail('cli.usage', `${item_id} is closed: ${closed.outcome}`);
  return fail('cli.usage', `${item_id} is ${kinds.join(', ')}, and that is not decided so`, {
    hint: `synod docket show ${item_id} says what to do`,
  });
}

export function isItem(text: string): boolean {
  return /^d[1-9]\d*$/.test(text);
}
