/**
 * Typed channels: a body against the channel's JSON Schema (draft 2020-12), all
 * violations named [T1]. Compiled schemas are kept by their text, up to a bound.
 */
import { createRequire } from 'node:module';
import type * as Ajv from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { SchemaCheck } from '../desk/platform.ts';

const COMPILED_MAX = 1_000;
// Loaded with the first schema: most spaces have none, and a start should not pay for it.
const load = createRequire(import.meta.url);

export function createSchemaCheck(): SchemaCheck {
  const compiled = new Map<string, ValidateFunction>();

  function compile(text: string): ValidateFunction {
    const known = compiled.get(text);
    if (known !== undefined) return known;
    // A fresh instance each time: two schemas may carry the same $id.
    const { Ajv2020 } = load('ajv/dist/2020.js') as typeof Ajv;
    const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
    const validate = ajv.compile(JSON.parse(text) as object);
    const oldest = compiled.keys().next().value;
    if (compiled.size >= COMPILED_MAX && oldest !== undefined) compiled.delete(oldest);
    compiled.set(text, validate);
    return validate;
  }

  return {
    check(schema, body) {
      const validate = compile(schema);
      if (validate(body)) return [];
      return (validate.errors ?? []).map((error) => ({
        field: fieldOf(error.instancePath, error.params),
        issue: error.message ?? 'does not conform',
      }));
    },
    problem(schema) {
      try {
        compile(schema);
        return null;
      } catch (cause) {
        return cause instanceof Error ? cause.message : String(cause);
      }
    },
  };
}

function fieldOf(path: string, params: Record<string, unknown>): string {
  const parts = path.split('/').slice(1);
  const extra = params.additionalProperty ?? params.missingProperty;
  if (typeof extra === 'string') parts.push(extra);
  return ['body', ...parts].join('.');
}
