/**
 * Outputs that were made as text: a page of messages is spliced together out of what is stored, and
 * not parsed only to be written again. Doors that write JSON take the text; whoever looks at a field
 * gets it parsed, then and not before.
 */

const TEXT: unique symbol = Symbol('text');

/** `fields` names all that is in the text. */
export function outputFromText<T extends object>(
  text: string,
  fields: readonly (keyof T & string)[],
): T {
  let parsed: T | null = null;
  const output = {};
  for (const field of fields) {
    const get = (): unknown => {
      parsed ??= JSON.parse(text) as T;
      return parsed[field];
    };
    Object.defineProperty(output, field, { enumerable: true, get });
  }
  // Not enumerable: a copy may be changed, and has to be written anew.
  Object.defineProperty(output, TEXT, { value: text });
  return output as T;
}

export function outputText(output: object): string {
  return (output as { readonly [TEXT]?: string })[TEXT] ?? JSON.stringify(output);
}
