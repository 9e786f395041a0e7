/**
 * Outputs that were made as text: a page of messages is spliced together out of what is stored, and
 * not parsed only to be written again. Doors that write JSON take the text; whoever looks at a field
 * gets it parsed, then and not before.
 */
import { readJson } from '../../core/law/json.ts';

const MADE: unique symbol = Symbol('made');

interface Made {
  readonly text: string;
  parsed: Record<string, unknown> | null;
}

interface Output {
  readonly [MADE]?: Made;
}

/**
 * One getter a field, for all outputs. One of its own would be part of the output's hidden class, which
 * the runtime keeps until the next full collection, and with it the text of every page that was answered.
 */
const getters = new Map<string, PropertyDescriptor>();

function getterOf(field: string): PropertyDescriptor {
  const known = getters.get(field);
  if (known !== undefined) return known;
  const getter: PropertyDescriptor = {
    enumerable: true,
    get(this: Required<Output>): unknown {
      this[MADE].parsed ??= readJson(this[MADE].text) as Record<string, unknown>;
      return this[MADE].parsed[field];
    },
  };
  getters.set(field, getter);
  return getter;
}

/** `fields` names all that is in the text; they are the program's own, so there are only so many. */
export function outputFromText<T extends object>(
  text: string,
  fields: readonly (keyof T & string)[],
): T {
  const output = {};
  // Not enumerable: a copy may be changed, and has to be written anew.
  Object.defineProperty(output, MADE, { value: { text, parsed: null } satisfies Made });
  for (const field of fields) Object.defineProperty(output, field, getterOf(field));
  return output as T;
}

/** An output that knows its own text, which is that of its fields. */
export abstract class WritesItself {
  abstract toText(): string;
}

export function outputText(output: object): string {
  if (output instanceof WritesItself) return output.toText();
  return (output as Output)[MADE]?.text ?? JSON.stringify(output);
}
