/**
 * Finding and compiling the input schemas of a folder.
 *
 * Everything is read and compiled at start-up, bounded, so that a call costs one function and a
 * broken schema is known before the first call.
 */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';

const PARENTS_MAX = 8;
const FILES_MAX = 256;
const SCHEMA_BYTES_MAX = 1_048_576;
const INPUT_SUFFIX = '.input.schema.json';
const SHIPPED = join(dirname(fileURLToPath(import.meta.url)), 'schemas');

/**
 * @param {{ schemasDir?: string | undefined, config?: Record<string, string>, cwd: string }} options
 * @returns {string | null} the folder of the schemas; null when the one that was named is none
 */
export function findSchemasDir({ schemasDir, config, cwd }) {
  const named = schemasDir ?? config?.schemas_dir;
  if (named !== undefined) {
    const folder = resolve(cwd, named);
    return isFolder(folder) ? folder : null;
  }
  let folder = resolve(cwd);
  for (let level = 0; level <= PARENTS_MAX; level += 1) {
    const candidate = join(folder, 'spec', 'operations');
    if (holdsSchemas(candidate)) return candidate;
    folder = dirname(folder);
  }
  return SHIPPED;
}

/** A project may keep something else under this name: nobody has said that it is for us. */
function holdsSchemas(folder) {
  return isFolder(folder) && readdirSync(folder).some((file) => file.endsWith(INPUT_SUFFIX));
}

/**
 * @param {string} folder
 * @returns {Map<string, import('ajv').ValidateFunction>} operation to the validator of its input
 */
export function compileSchemas(folder) {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.schema.json'))
    .sort();
  if (files.length > FILES_MAX) throw new Error(`${folder} holds more than ${FILES_MAX} schemas`);
  // Formats are annotations in 2020-12, and the schemas are not ours to lint.
  const ajv = new Ajv2020({
    allErrors: true,
    strict: false,
    validateFormats: false,
    logger: false,
  });
  const schemas = new Map(files.map((file) => [file, readSchema(join(folder, file))]));
  // All are known before any is compiled, because one may refer to another.
  for (const [file, schema] of schemas) usable(file, () => ajv.addSchema(schema, file));
  const validators = new Map();
  for (const file of files) {
    if (!file.endsWith(INPUT_SUFFIX)) continue;
    const operation = file.slice(0, -INPUT_SUFFIX.length);
    validators.set(
      operation,
      usable(file, () => ajv.getSchema(file)),
    );
  }
  return validators;
}

/**
 * @template Value
 * @param {string} file
 * @param {() => Value} work
 */
function usable(file, work) {
  try {
    return work();
  } catch (cause) {
    throw new Error(`${file} is not a usable schema: ${cause.message}`, { cause });
  }
}

/** @param {string} path */
function readSchema(path) {
  if (statSync(path).size > SCHEMA_BYTES_MAX) {
    throw new Error(`${path} is larger than ${SCHEMA_BYTES_MAX} bytes`);
  }
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error(`${path} is not JSON`, { cause });
  }
}

/** @param {string} path */
function isFolder(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
