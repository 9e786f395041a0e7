/**
 * schema-strict: the input of every operation fits its schema, or nothing happens.
 *
 * A transformer that changes nothing and refuses with a ValidationError listing every violation.
 * Schemas come with it; a folder that was named and holds none stops the start, unless `missing=warn`
 * asks for less. Plain JavaScript, because Node runs no TypeScript from node_modules.
 */

import { compileSchemas, findSchemasDir } from './schemas.js';

const VIOLATIONS_MAX = 100;
const OPERATIONS = [
  'send',
  'recv',
  'subscribe',
  'unsubscribe',
  'list_channels',
  'list_agents',
  'channels_ack',
  'channels_heartbeat',
  'replay',
  'channels_collect',
  'group_create',
  'group_invite',
  'group_join',
  'group_leave',
  'group_list_members',
];

/**
 * The factory, as the plugin contract wants it: the default export.
 *
 * @param {{
 *   schemasDir?: string,
 *   config?: Record<string, string>,
 *   cwd: string,
 *   log?: (level: 'warn', line: string) => void,
 * }} options
 */
export default function createSchemaStrict(options) {
  const folder = findSchemasDir(options);
  const validators = folder === null ? new Map() : compileSchemas(folder);
  if (validators.size === 0) refuseToGuess(options, folder);
  else warnOfGaps(options, validators);

  /** @param {{ operation: string, input: unknown }} context */
  return async function validate(context) {
    const validator = validators.get(context.operation);
    if (validator !== undefined && !validator(context.input)) {
      throw refusal(context.operation, validator.errors);
    }
    return context;
  };
}

function refuseToGuess({ config, log }, folder) {
  const what =
    folder === null
      ? 'the schemas folder that was named is not there'
      : `${folder} holds no <operation>.input.schema.json`;
  if (config?.missing !== 'warn') {
    throw new Error(
      `${what}; correct SOX_PLUGIN_IO_SOX_SCHEMA_STRICT_SCHEMAS_DIR or leave it out for the schemas ` +
        'of SOX 1.0, or set SOX_PLUGIN_IO_SOX_SCHEMA_STRICT_MISSING=warn to run without validation',
    );
  }
  log?.('warn', `io.sox.schema-strict: ${what}; every input passes`);
}

function warnOfGaps({ log }, validators) {
  const gaps = OPERATIONS.filter((operation) => !validators.has(operation));
  if (gaps.length > 0) {
    log?.('warn', `io.sox.schema-strict: no input schema for ${gaps.join(', ')}; these pass`);
  }
}

/** Known to the host by its name. */
function refusal(operation, errors) {
  const violations = errors
    .map((error) => ({ field: fieldOf(error), issue: issueOf(error) }))
    .sort((a, b) => compare(a.field, b.field) || compare(a.issue, b.issue))
    .slice(0, VIOLATIONS_MAX);
  const error = new Error(`the input does not match ${operation}.input.schema.json`);
  return Object.assign(error, { name: 'ValidationError', violations });
}

function fieldOf({ instancePath }) {
  const keys = instancePath.split('/').slice(1);
  if (keys.length === 0) return '<root>';
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}

function issueOf({ keyword, message, params }) {
  if (keyword === 'additionalProperties') return `${message}: '${params.additionalProperty}'`;
  if (keyword === 'enum') return `${message}: ${params.allowedValues.join(', ')}`;
  return message ?? keyword;
}

function compare(a, b) {
  return a < b ? -1 : Number(a > b);
}
