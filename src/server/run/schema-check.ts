/**
 * Typed channels: a body against the channel's JSON Schema (draft 2020-12), the violations named [T1].
 * A schema may be anybody's, and so may a body: what takes too long is called off, and who has too much
 * checked waits for itself [T5]. Compiled schemas are kept by their text, up to a bound.
 */
import { createRequire } from 'node:module';
import type * as Ajv from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import { readJson } from '../../core/law/json.ts';
import type { Checked, SchemaCheck } from '../desk/platform.ts';
import { createRateLimit } from '../desk/rate-limit.ts';
import { isTooLate, usedMs, within } from './call-off.ts';

const COMPILED_MAX = 1_000;
/** Of their texts; what is made of them is many times larger. */
const COMPILED_CHARS_MAX = 2_000_000;
const CHECK_MS_MAX = 100;
const COMPILE_MS_MAX = 1_000;
/** What one caller may have of the hub's time, and what it may have at once; less than this is not counted. */
const MS_PER_SECOND = 50;
const BURST_SECONDS = 20;
const COUNTED_MS_MIN = 5;
const VIOLATIONS_MAX = 100;
/** Whatever else an administrator writes takes a time that grows with the body and no faster. */
const MAY_BE_SLOW = /"(pattern|patternProperties|uniqueItems|\$ref|\$dynamicRef)"/;
const OPTIONS = { allErrors: true, strict: false, validateFormats: false } as const;
const DRAFT = 'https://json-schema.org/draft/2020-12/schema';
// Loaded with the first schema: most spaces have none, and a start should not pay for it.
const load = createRequire(import.meta.url);

/** What a schema is held against itself: compiled once, since that takes ten times as long as most schemas do. */
let shared: Ajv.Ajv2020 | null = null;

function draftOf(Ajv2020: typeof Ajv.Ajv2020): Ajv.Ajv2020 {
  if (shared !== null) return shared;
  const draft = new Ajv2020(OPTIONS);
  draft.getSchema(DRAFT);
  shared = draft;
  return draft;
}

/** Says of itself that it is of this draft, or nothing. */
function isDraft(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false;
  return ((schema as { readonly $schema?: unknown }).$schema ?? DRAFT) === DRAFT;
}

export function createSchemaCheck(now: () => number = Date.now): SchemaCheck {
  const compiled = new Map<string, ValidateFunction>();
  let chars = 0;
  const spent = createRateLimit(MS_PER_SECOND, now, {
    burstSeconds: BURST_SECONDS,
    what: 'ms of checking against schemas',
  });

  function compile(text: string): ValidateFunction {
    const known = compiled.get(text);
    if (known !== undefined) return known;
    const { Ajv2020 } = load('ajv/dist/2020.js') as typeof Ajv;
    // Before the clock runs: one that was called off while it compiles would be broken for everybody.
    const draft = draftOf(Ajv2020);
    const validate = within(COMPILE_MS_MAX, () => {
      const schema = readJson(text) as object;
      const isOfDraft = isDraft(schema);
      if (isOfDraft) void draft.validateSchema(schema, true);
      // A fresh instance each time, also of one schema begun again: two may carry the same $id.
      return new Ajv2020({ ...OPTIONS, validateSchema: !isOfDraft }).compile(schema);
    });
    compiled.set(text, validate);
    chars += text.length;
    for (const oldest of compiled.keys()) {
      if (compiled.size <= COMPILED_MAX && chars <= COMPILED_CHARS_MAX) break;
      compiled.delete(oldest);
      chars -= oldest.length;
    }
    return validate;
  }

  /** What it took is counted, however it ended. */
  function counted<T>(whose: string, run: () => T): T | Refusal {
    const limited = spent.check(whose, 0);
    if (limited !== null) return limited;
    const begun = process.threadCpuUsage();
    try {
      return run();
    } catch (cause) {
      if (!isTooLate(cause)) throw cause;
      const message =
        'to check this takes too long: a simpler schema (patterns, references), or a smaller body';
      return refuse('schema.slow', message);
    } finally {
      const ms = usedMs(begun);
      if (ms >= COUNTED_MS_MIN) spent.charge(whose, ms);
    }
  }

  return {
    check(schema, body, { whose, isTrusted }) {
      return counted(whose, (): Checked => {
        const validate = compile(schema);
        const isQuick = isTrusted && !MAY_BE_SLOW.test(schema);
        const isFit = isQuick ? validate(body) : within(CHECK_MS_MAX, () => validate(body));
        const errors = isFit ? [] : (validate.errors ?? []);
        validate.errors = null;
        return {
          violations: errors.slice(0, VIOLATIONS_MAX).map(toViolation),
          count: errors.length,
        };
      });
    },
    problem(schema, whose) {
      try {
        const outcome = counted(whose, () => compile(schema));
        return isRefusal(outcome) ? outcome : null;
      } catch (cause) {
        return cause instanceof Error ? cause.message : String(cause);
      }
    },
  };
}

function toViolation({ instancePath, params, message }: ErrorObject): {
  field: string;
  issue: string;
} {
  return { field: fieldOf(instancePath, params), issue: message ?? 'does not conform' };
}

function fieldOf(path: string, params: Record<string, unknown>): string {
  const parts = path.split('/').slice(1);
  const extra = params.additionalProperty ?? params.missingProperty;
  if (typeof extra === 'string') parts.push(extra);
  return ['body', ...parts].join('.');
}
