/** Input against an operation's schema; every violation is named by its field [O2]. */
import type { z } from 'zod';
import { type Refusal, refuse } from '../../core/law/decider.ts';
import type { Operation } from '../../wire/operation.ts';
import { narrowSchema } from './narrow-schema.ts';

export function parseInput(operation: Operation, input: unknown): { value: unknown } | Refusal {
  const narrow = narrowSchema(operation.input, input)?.safeParse(input);
  if (narrow?.success) return { value: narrow.data };
  return parseFields(operation.name, operation.input, input);
}

/** The same for a part of the input that has a schema of its own. */
export function parseFields<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  input: unknown,
): { value: z.output<Schema> } | Refusal {
  const parsed = schema.safeParse(input ?? {});
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
    `${name}: ${first?.field ?? 'input'} ${first?.issue ?? 'is invalid'}`,
    { violations },
  );
}

/** Zod's words, which follow the name of the field here. */
function wordsOf(message: string): string {
  return message
    .replace(/^Invalid (?:input|option): /, '')
    .replace(/^(expected .*), received undefined$/, 'is missing; $1');
}
