/**
 * The eight roles of the studio, and who plays them: rules by default, or any vendor's agent by one word. A
 * vendor's agent gets the same message as the rule worker, with its role and the task in words.
 */
import { fileURLToPath } from 'node:url';

export const ROLES: Readonly<Record<string, string>> = {
  analyst: 'You read what customers want, find out what is missing, and say it in numbers.',
  designer: 'You know who will use it, and what they do just before and after.',
  architect:
    'You cut the product into modules that know little of each other, and review what is built.',
  pm: 'You say what must be in the release and what is not.',
  planner:
    'You turn the plan into tasks with what each needs, on the plan of the hub (plan_declare).',
  engineer:
    'You take ready tasks under a claim (claims_take), write the files, and release it when done.',
  qa: 'You believe nothing that you have not seen run.',
  devops: 'You release what was approved: a commit, a tag, an archive.',
};

export const VENDORS = ['rules', 'claude', 'codex', 'gemini', 'opencode'] as const;
export type Vendor = (typeof VENDORS)[number];

const WORKER = fileURLToPath(new URL('rule-worker.ts', import.meta.url));

/** How the turns of a role are run. */
export function runnerFor(vendor: Vendor, cwd: string): Record<string, unknown> {
  switch (vendor) {
    case 'rules':
      return { kind: 'command', command: [process.execPath, WORKER], cwd };
    case 'gemini':
      return { kind: 'acp', command: ['gemini', '--acp'], cwd };
    case 'opencode':
      return { kind: 'acp', command: ['opencode', 'acp'], cwd };
    default:
      return { kind: vendor, cwd };
  }
}

/** A message that both understand: rules read `do`, a model reads the text. */
export function workFor(
  role: string,
  task: string,
  words: string,
  facts: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const told = Object.entries(facts).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const how =
    'Work in the current directory. Answer this message with one sentence that says what you did; ' +
    'begin it with "not yet:" if it cannot be gone on with.';
  const text = [ROLES[role], words, ...told, how].join('\n');
  return { do: task, text, ...facts };
}
