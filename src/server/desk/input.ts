/** Input against an operation's schema; every violation is named by its field [O2]. */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import type { Operation } from '../../wire/operation.ts';

export function parseInput(operation: Operation, input: unknown): { value: unknown } | Refusal {
  const parsed = operation.input.safeParse(input ?? {});
  if (parsed.success) return { value: parsed.data };
  const violations = parsed.error.issues.flatMap((issue) => {
    const path = issue.path.map(String).join('.') || '<root>';
    if (issue.code !== 'unrecognized_keys') return [{ field: path, issue: wordsOf(issue.message) }];
    const prefix = issue.path.length > 0 ? `${path}.` : '';
    return issue.keys.map((key) => ({ field: `${prefix}${key}`, issue: 'is not a known field' }));
  });
  const first = violations[0];
  return refuse(
    'input.invalid',
    `${operation.name}: ${first?.field ?? 'input'} ${first?.issue ?? 'is invalid'}`,
    { violations },
  );
}

/** Zod's words, which follow the name of the field here. */
function wordsOf(message: string): string {
  return message
    .replace(/^Invalid (?:input|option): /, '')
    .replace(/^(expected .*), received undefined$/, 'is missing; $1');
}
