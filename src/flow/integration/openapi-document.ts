/**
 * An OpenAPI document (3.0 or 3.1) read into the operations that can be called: method, path, parameters
 * and the schemas of both ways. References stay within the document; what leads out of it, or is not
 * understood, makes its operation unusable with a sentence, and no other [IG7].
 */
import { parse as parseYaml } from 'yaml';
import { readJson } from '../../core/law/json.ts';
import type { JsonSchema } from './definition.ts';
import { IntegrationError } from './integration-error.ts';

const DOCUMENT_CHARS_MAX = 8 * 1024 * 1024;
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;
const REFERENCES_MAX = 32;

type Json = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
}

export interface ApiOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly hasBody: boolean;
  readonly input: JsonSchema;
  readonly output: JsonSchema;
}

export interface ApiDocument {
  readonly version: string;
  /** As the document has it; null when it names none that can be used. */
  readonly server: string | null;
  readonly operations: readonly ApiOperation[];
  readonly skipped: readonly { readonly operation: string; readonly why: string }[];
}

/** `document` is a value, or text in JSON or YAML. */
export function readDocument(document: unknown): ApiDocument {
  const root = typeof document === 'string' ? parseText(document) : document;
  if (!isObject(root) || !/^3\.[01]\./.test(`${String(root.openapi)}.`)) {
    wrong('it is no OpenAPI document of version 3.0 or 3.1');
  }
  const skipped: { operation: string; why: string }[] = [];
  const operations: ApiOperation[] = [];
  const paths = isObject(root.paths) ? root.paths : {};
  for (const [path, item] of Object.entries(paths)) {
    if (!isObject(item)) continue;
    for (const method of METHODS) {
      const operation = item[method];
      if (!isObject(operation)) continue;
      const name = String(operation.operationId ?? `${method} ${path}`).slice(0, 200);
      try {
        operations.push(readOperation(root, path, method, item, operation));
      } catch (error) {
        skipped.push({ operation: name, why: (error as Error).message });
      }
    }
  }
  const [server] = Array.isArray(root.servers) ? root.servers : [];
  const url = isObject(server) && typeof server.url === 'string' ? server.url : null;
  const { version } = isObject(root.info) ? root.info : {};
  return {
    version:
      String(version ?? '0')
        .replace(/\s+/g, '-')
        .slice(0, 64) || '0',
    server: url?.includes('{') === true ? null : url,
    ...{ operations, skipped },
  };
}

function parseText(text: string): unknown {
  if (text.length > DOCUMENT_CHARS_MAX) wrong(`it is longer than ${DOCUMENT_CHARS_MAX} characters`);
  try {
    // A document of a few lines can stand for gigabytes; aliases are what makes it so.
    return text.trimStart().startsWith('{')
      ? readJson(text)
      : parseYaml(text, { maxAliasCount: 100, schema: 'core' });
  } catch (cause) {
    throw new IntegrationError(`it is neither JSON nor YAML: ${(cause as Error).message}`, {
      code: 'integration.definition',
      cause,
    });
  }
}

function readOperation(
  root: Json,
  path: string,
  method: string,
  item: Json,
  operation: Json,
): ApiOperation {
  const { operationId: id } = operation;
  if (typeof id !== 'string') wrong('it has no operationId');
  if (!path.startsWith('/')) wrong('its path does not begin with a slash');
  const given = [...listOf(item.parameters), ...listOf(operation.parameters)].map((one) =>
    follow(root, one),
  );
  // What the operation says of a parameter goes before what its path says.
  const byName = new Map(given.map((one) => [`${String(one.in)} ${String(one.name)}`, one]));
  const parameters: Parameter[] = [];
  // Without inherited names: a parameter may be called `constructor`.
  const properties: Record<string, unknown> = Object.create(null);
  const required: string[] = [];
  for (const one of byName.values()) {
    const { name, in: place } = one;
    const isRequired = one.required === true || place === 'path';
    if (typeof name !== 'string') wrong('a parameter has no name');
    if (place !== 'path' && place !== 'query' && place !== 'header') {
      // A cookie, or something newer: it can be done without, or not at all.
      if (isRequired) wrong(`it needs a parameter in ${String(place)}`);
      continue;
    }
    // The specification has these set by others.
    if (place === 'header' && /^(accept|content-type|authorization)$/i.test(name)) continue;
    if (name in properties || name === 'body') wrong(`two parameters are called ${name}`);
    parameters.push({ name, in: place, required: isRequired });
    properties[name] = schemaOf(one);
    if (isRequired) required.push(name);
  }
  for (const [, name = ''] of path.matchAll(/\{([^}]*)\}/g)) {
    if (!parameters.some((one) => one.in === 'path' && one.name === name)) {
      wrong(`its path has {${name}}, and no parameter is called so`);
    }
  }
  const body = operation.requestBody === undefined ? null : follow(root, operation.requestBody);
  const bodySchema = body === null ? null : jsonOf(root, body);
  if (body !== null && bodySchema === null && body.required === true) {
    wrong('it takes no JSON');
  }
  if (bodySchema !== null) {
    properties.body = bodySchema;
    if (body?.required === true) required.push('body');
  }
  return {
    ...{ id, method: method.toUpperCase(), path, parameters, hasBody: bodySchema !== null },
    input: whole(root, { type: 'object', properties, required, additionalProperties: false }),
    output: outputOf(root, operation),
  };
}

function outputOf(root: Json, { responses }: Json): JsonSchema {
  if (!isObject(responses)) return true;
  const schemas = Object.entries(responses)
    .filter(([status]) => /^2(\d\d|XX)$/i.test(status))
    .map(([, response]) => jsonOf(root, follow(root, response)));
  if (schemas.length === 0 || schemas.includes(null)) return true;
  return whole(root, { anyOf: schemas });
}

/** The schema with what its references lead to, and nothing else of the document, under the same names. */
function whole(root: Json, schema: Json): JsonSchema {
  const isOld = String(root.openapi).startsWith('3.0');
  const components: Record<string, Record<string, unknown>> = Object.create(null);
  const open: unknown[] = [schema];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    for (const reference of referencesIn(one)) {
      const [, kind = '', name = ''] = /^#\/components\/([^/]+)\/([^/]+)/.exec(reference) ?? [];
      if (name === '') wrong(`it refers to ${reference.slice(0, 100)}`);
      const all = components[kind] ?? Object.create(null);
      components[kind] = all;
      const key = unescaped(name);
      if (key in all) continue;
      all[key] = follow(root, { $ref: `#/components/${kind}/${name}` });
      open.push(all[key]);
    }
  }
  const found: Json = { ...schema, components };
  return (isOld ? lift(found) : found) as Json;
}

function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    name === '$ref' && typeof one === 'string' ? [one] : referencesIn(one),
  );
}

const unescaped = (part: string): string =>
  decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');

/** 3.0 says `nullable` and `exclusiveMinimum: true`; JSON Schema says it otherwise. */
function lift(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lift);
  if (!isObject(value)) return value;
  const { nullable, exclusiveMinimum, exclusiveMaximum, ...rest } = value;
  const lifted: Record<string, unknown> = Object.fromEntries(
    Object.entries(rest).map(([name, one]) => [name, lift(one)]),
  );
  for (const [edge, bound] of [
    ['exclusiveMinimum', exclusiveMinimum],
    ['exclusiveMaximum', exclusiveMaximum],
  ] as const) {
    const plain = edge === 'exclusiveMinimum' ? 'minimum' : 'maximum';
    if (bound === true) {
      lifted[edge] = lifted[plain];
      delete lifted[plain];
    } else if (bound !== undefined && bound !== false) lifted[edge] = lift(bound);
  }
  if (nullable !== true)
    return nullable === undefined || nullable === false ? lifted : { ...lifted, nullable };
  return { anyOf: [lifted, { type: 'null' }] };
}

function jsonOf(_root: Json, holder: Json): unknown {
  if (!isObject(holder.content)) return null;
  const found = Object.entries(holder.content).find(([type]) =>
    /^application\/(json|[\w.+-]+\+json)\s*(;|$)/i.test(type),
  );
  return found === undefined || !isObject(found[1]) ? null : schemaOf(found[1]);
}

const schemaOf = (holder: Json): unknown => holder.schema ?? true;

function follow(root: Json, value: unknown): Json {
  let at = value;
  for (let hops = 0; isObject(at) && typeof at.$ref === 'string'; hops++) {
    const reference: string = at.$ref;
    if (!reference.startsWith('#/') || hops > REFERENCES_MAX) {
      wrong(`it refers to ${reference.slice(0, 100)}`);
    }
    const parts = reference.slice(2).split('/');
    at = parts.reduce<unknown>((inside, part) => {
      const key = unescaped(part);
      return isObject(inside) && Object.hasOwn(inside, key) ? inside[key] : undefined;
    }, root);
  }
  if (!isObject(at)) wrong('a part of it is missing');
  return at;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(message: string): never {
  throw new IntegrationError(message, { code: 'integration.definition', isTerminal: true });
}
