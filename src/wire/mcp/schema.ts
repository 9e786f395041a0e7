/**
 * A Zod schema as the smallest JSON Schema 2020-12 that still serves a model.
 * Every character here is paid for by each client on each start [MC2]. An input keeps
 * its fields, kinds and number bounds; the hub names whatever else is wrong with a
 * call. An output names what is always there and its kind, and stays open to more.
 */
import { z } from 'zod';
import { isFields } from '../fields.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

type Direction = 'input' | 'output';

const OUTPUT_DEPTH_MAX = 2;

const DROPPED: Readonly<Record<Direction, ReadonlySet<string>>> = {
  input: new Set([
    ...['$schema', '$id', 'title', 'minLength', 'maxLength', 'minItems', 'maxItems'],
    'propertyNames',
  ]),
  output: new Set([
    ...['$schema', '$id', 'title', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern'],
    ...['additionalProperties', 'default', 'description', 'enum', 'minimum', 'maximum'],
    'propertyNames',
  ]),
};

const OF_SEVERAL: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'prefixItems']);

export function compactSchema(schema: z.ZodType, io: Direction): JsonSchema {
  return compact(z.toJSONSchema(schema, { io, unrepresentable: 'any' }), io, 0);
}

function compact(node: JsonSchema, io: Direction, depth: number): JsonSchema {
  const small: Record<string, unknown> = {};
  const isInside = io === 'output' && depth > 0;
  for (const [keyword, value] of Object.entries(node)) {
    if (DROPPED[io].has(keyword)) continue;
    // Inside an output every field named is always there, and what lies deeper is seen when it comes.
    if (isInside && keyword === 'required') continue;
    if (isInside && depth >= OUTPUT_DEPTH_MAX && keyword === 'properties') continue;
    // Zod's `int` says how far a double counts exactly; nobody sends such numbers.
    if (Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER) continue;
    small[keyword] = compactValue(node, keyword, io, depth);
  }
  return mergeNull(small);
}

function compactValue(node: JsonSchema, keyword: string, io: Direction, depth: number): unknown {
  const value = node[keyword];
  if (keyword === 'properties' && isFields(value)) {
    const always = new Set(Array.isArray(node.required) ? node.required : []);
    const named = Object.entries(value).filter(([name]) => io === 'input' || always.has(name));
    return Object.fromEntries(
      named.map(([name, inner]) => [name, compact(inner as JsonSchema, io, depth + 1)]),
    );
  }
  // A list of things is no deeper than the thing.
  if ((keyword === 'items' || keyword === 'additionalProperties') && isFields(value)) {
    return compact(value, io, depth);
  }
  if (OF_SEVERAL.has(keyword) && Array.isArray(value)) {
    return value.map((inner) => compact(inner, io, depth));
  }
  return value;
}

/** `anyOf: [{type: T}, {type: null}]` says no more than `type: [T, null]`. */
function mergeNull(node: Record<string, unknown>): JsonSchema {
  const { anyOf, ...rest } = node;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return node;
  const [value, none] = anyOf as [JsonSchema, JsonSchema];
  if (none.type !== 'null' || typeof value.type !== 'string' || 'const' in value) return node;
  return {
    ...value,
    type: [value.type, 'null'],
    ...(Array.isArray(value.enum) && { enum: [...value.enum, null] }),
    ...rest,
  };
}
