/**
 * The schema of an operation, narrowed to the fields that an input names. Looking at a field that is absent
 * costs as much as at one that is there, and most inputs name few of what an operation takes.
 *
 * A narrow schema is strict: what it takes has just these fields, and the whole schema would have
 * answered the same. What it does not take is for the whole one to judge, so a refusal is always that one's.
 */
import { z } from 'zod';

interface Narrow {
  /** As they follow each other in the input: clients write theirs in one order. */
  readonly names: readonly string[];
  readonly schema: z.ZodObject;
}

interface Known {
  readonly whole: z.ZodObject;
  calls: number;
  readonly narrow: Narrow[];
}

/** Making one takes as long as hundreds of calls. */
const CALLS_BEFORE = 200;
/** Of one operation; who writes fields in ever other orders is answered by the whole schema. */
const NARROW_MAX = 8;

const known = new WeakMap<z.ZodType, Known | null>();

/** Null when there is none for such an input. */
export function narrowSchema(schema: z.ZodType, input: unknown): z.ZodType | null {
  let found = known.get(schema);
  if (found === undefined) {
    found = isNarrowable(schema) ? { whole: schema, calls: 0, narrow: [] } : null;
    known.set(schema, found);
  }
  if (found === null || ++found.calls <= CALLS_BEFORE) return null;
  if (typeof input !== 'object' || input === null) return null;
  for (const one of found.narrow) if (hasJust(input, one.names)) return one.schema;
  return found.narrow.length < NARROW_MAX ? learn(found, Object.keys(input)) : null;
}

/** Whatever looks at several fields together must see all of them. */
function isNarrowable(schema: z.ZodType): schema is z.ZodObject {
  if (!(schema instanceof z.ZodObject)) return false;
  const { catchall, checks } = schema._zod.def;
  return catchall instanceof z.ZodNever && (checks ?? []).length === 0;
}

function hasJust(input: object, names: readonly string[]): boolean {
  let at = 0;
  for (const name in input) if (name !== names[at++]) return false;
  return at === names.length;
}

function learn({ whole, narrow }: Known, names: readonly string[]): z.ZodType | null {
  const { shape } = whole;
  if (names.some((name) => !Object.hasOwn(shape, name))) return null;
  const fields = Object.entries(shape).filter(
    ([name, field]) => names.includes(name) || !canBeAbsent(field),
  );
  if (fields.length === Object.keys(shape).length) return null;
  const schema = z.strictObject(Object.fromEntries(fields));
  narrow.push({ names, schema });
  return schema;
}

/** And then leaves nothing in its place, as a default would. */
function canBeAbsent({ _zod }: z.core.$ZodType): boolean {
  return _zod.optin === 'optional' && _zod.optout === 'optional';
}
