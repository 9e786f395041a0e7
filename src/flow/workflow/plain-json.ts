/**
 * What a journal can keep: plain JSON, and not too much of it. Anything else would come back from the journal
 * as something different from what it was in the first run, so it is refused in the first run [FW3].
 */

import { readJson } from '../../core/law/json.ts';
import { RESULT_BYTES_MAX } from '../../core/workflows/workflow-limits.ts';
import { DefinitionError } from './errors.ts';

const DEPTH_MAX = 100;

/** The value as the journal will give it back; throws where and why it cannot be kept. */
export function toJson(value: unknown, what: string): unknown {
  if (value === undefined) return null;
  const flaw = findFlaw(value, '', [], { hasGaps: false });
  if (flaw.problem !== null) {
    throw new DefinitionError('json.impossible', `${what}${flaw.problem}; give plain JSON`);
  }
  const text = JSON.stringify(value);
  const isLong = text.length * 3 > RESULT_BYTES_MAX;
  if (isLong && Buffer.byteLength(text) > RESULT_BYTES_MAX) {
    throw new DefinitionError(
      'workflow.result-too-large',
      `${what} is ${Buffer.byteLength(text)} bytes of JSON and may be ${RESULT_BYTES_MAX}; keep it elsewhere and give a reference to it`,
    );
  }
  return flaw.hasGaps ? readJson(text) : value;
}

interface Flaw {
  readonly problem: string | null;
  readonly hasGaps: boolean;
}

function findFlaw(
  value: unknown,
  path: string,
  above: readonly object[],
  found: { hasGaps: boolean },
): Flaw {
  const at = path === '' ? '' : ` at ${path}`;
  const problem = (text: string): Flaw => ({ problem: `${at} is ${text}`, hasGaps: found.hasGaps });
  switch (typeof value) {
    case 'string':
    case 'boolean':
      break;
    case 'number':
      if (!Number.isFinite(value)) return problem(String(value));
      break;
    case 'object':
      if (value === null) break;
      if (above.includes(value)) return problem('a part of itself');
      if (above.length >= DEPTH_MAX) return problem(`deeper than ${DEPTH_MAX} levels`);
      return findFlawIn(value, path, [...above, value], found);
    default:
      return problem(`a ${typeof value}`);
  }
  return { problem: null, hasGaps: found.hasGaps };
}

function findFlawIn(
  value: object,
  path: string,
  above: readonly object[],
  found: { hasGaps: boolean },
): Flaw {
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const flaw = findFlaw(item, `${path}[${i}]`, above, found);
      if (flaw.problem !== null) return flaw;
    }
    return { problem: null, hasGaps: found.hasGaps };
  }
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: string } } | null;
  if (prototype !== null && prototype !== Object.prototype) {
    const kind = prototype.constructor?.name ?? 'thing';
    const at = path === '' ? '' : ` at ${path}`;
    return { problem: `${at} is of the class ${kind}`, hasGaps: found.hasGaps };
  }
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) {
      found.hasGaps = true;
      continue;
    }
    const flaw = findFlaw(item, `${path}.${name}`, above, found);
    if (flaw.problem !== null) return flaw;
  }
  return { problem: null, hasGaps: found.hasGaps };
}
