/**
 * From a brief to a release: intake, personas and architecture side by side, product plan, backlog, build,
 * review until there is no objection, two kinds of tests side by side, a person's word, release, brief and
 * feedback. Every turn is a step of the run: kill it anywhere and start it again, and it goes on there.
 */
import { TerminalError } from '../../src/flow/index.ts';
import { workFor } from './roles.ts';

export interface Brief {
  readonly brief: string;
  /** What its tasks are called on the plan. */
  readonly project: string;
}

export interface Shipped {
  readonly tag: string;
  readonly tests: number;
  /** How often the review looked. */
  readonly rounds: number;
}

/** What is needed of a workflow's context. */
export interface Hands {
  turn(
    agent: string,
    body: Readonly<Record<string, unknown>>,
    options: { readonly key: string },
  ): Promise<{ readonly body: Readonly<Record<string, unknown>> }>;
  gate(
    name: string,
    asked: { readonly subject: string; readonly deadline: 'never' },
  ): Promise<{ readonly state: string }>;
}

const ROUNDS_MAX = 3;

type Said = Readonly<Record<string, unknown>>;

export async function ship(hands: Hands, { brief, project }: Brief): Promise<Shipped> {
  /** One turn of a role; an answer that says no is no answer to go on with. */
  async function ask(role: string, task: string, words: string, facts: Said = {}): Promise<Said> {
    const { body } = await hands.turn(role, workFor(role, task, words, facts), { key: task });
    return body;
  }
  async function must(role: string, task: string, words: string, facts: Said = {}): Promise<Said> {
    const said = await ask(role, task, words, facts);
    if (isNo(said)) throw new TerminalError(`${role}, ${task}: ${String(said.text)}`);
    return said;
  }

  await must('analyst', 'intake', 'Read this brief and write docs/intake.md.', { brief });
  await Promise.all([
    must('designer', 'personas', 'Write docs/personas.md: who uses it.'),
    must('architect', 'architecture', 'Write docs/architecture.md: the modules.'),
  ]);
  await must('pm', 'product-plan', 'Write docs/product-plan.md: what must be in 1.0.');
  await must('planner', 'backlog', 'Put the tasks on the plan of the hub.', { project });
  await must('engineer', 'build', 'Build every ready task of the plan.', { project });

  const found: string[] = [];
  let rounds = 1;
  for (let remarks = await look(rounds); remarks.length > 0; remarks = await look(++rounds)) {
    if (rounds >= ROUNDS_MAX) throw new TerminalError(`review: ${remarks.join('; ')}`);
    found.push(...remarks);
    const facts = { remarks, project };
    const words = 'Mend what the review found.';
    const { body } = await hands.turn('engineer', workFor('engineer', 'fix', words, facts), {
      key: `fix-${rounds}`,
    });
    if (isNo(body)) throw new TerminalError(`engineer, fix: ${String(body.text)}`);
  }

  async function look(round: number): Promise<string[]> {
    const words = 'Review what was built: run it with what nobody meant.';
    const key = `review-${round}`;
    const { body } = await hands.turn('architect', workFor('architect', 'review', words), { key });
    if (!isNo(body)) return [];
    return Array.isArray(body.remarks) ? body.remarks.map(String) : [String(body.text)];
  }

  const [unit] = await Promise.all([
    must('qa', 'unit-tests', 'Run the tests.'),
    must('qa', 'command-tests', 'Run the command as a customer would.'),
  ]);
  const verdict = await hands.gate('publish', { subject: `${project} 1.0.0`, deadline: 'never' });
  if (verdict.state !== 'approved') throw new TerminalError(`publish: ${verdict.state}`);

  const tests = Number(unit?.tests ?? 0);
  const { tag } = await must('devops', 'release', 'Commit, tag v1.0.0, and archive it in dist/.');
  const facts = { tests, tag };
  await must('analyst', 'release-brief', 'Write docs/release-brief.md.', facts);
  await must('analyst', 'feedback', 'Write docs/feedback.md: what we learned.', {
    ...{ rounds, remarks: found },
  });
  return { tag: String(tag ?? ''), tests, rounds };
}

/** By rules it is a word; a model says it in its first words. */
function isNo({ ok, text }: Said): boolean {
  return ok === false || /^\W*not yet\b/i.test(String(text ?? ''));
}
