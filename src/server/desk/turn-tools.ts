/** The operations that turns of an agent are limited to, as somebody names them; told by their ids [TN17]. */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { findOperation } from '../../wire/operations/table.ts';

export function readTools(names: readonly string[]): string[] | Refusal {
  const found = names.map((name) => findOperation(name));
  const violations = found.flatMap((operation, i) => {
    const field = `tools.${i}`;
    if (operation === undefined) return [{ field, issue: 'names no operation' }];
    const isForAgents = operation.access === 'reader' || operation.access === 'writer';
    return isForAgents ? [] : [{ field, issue: `${operation.id} is not for agents` }];
  });
  const [first] = violations;
  if (first !== undefined) {
    const message = `${first.field} ${first.issue}; docs/reference/operations.md lists them`;
    return refuse('input.invalid', message, { violations });
  }
  return [...new Set(found.flatMap((operation) => operation?.id ?? []))].sort();
}
