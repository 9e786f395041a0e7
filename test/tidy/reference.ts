/**
 * The reference, made from what the program itself goes by: the table of operations, the table
 * of errors, the commands and the settings. `npm run docs` writes it; a test holds it fresh.
 */
import type { Command } from 'commander';
import { z } from 'zod';
import { COMMAND_GROUPS } from '../../src/cli/commands.ts';
import { createProgram } from '../../src/cli/full-program.ts';
import * as context from '../../src/core/context/context-limits.ts';
import * as gates from '../../src/core/gates/gate-limits.ts';
import * as law from '../../src/core/law/limits.ts';
import { SHARES, type Share } from '../../src/core/law/shares.ts';
import { type SharedBound, WAYS_OUT } from '../../src/core/law/ways-out.ts';
import * as processes from '../../src/core/processes/process-limits.ts';
import * as sessions from '../../src/core/sessions/session-limits.ts';
import * as threads from '../../src/core/threads/thread-limits.ts';
import * as turns from '../../src/core/turns/turn-limits.ts';
import * as claims from '../../src/core/work/claim/claim-limits.ts';
import * as work from '../../src/core/work/work-limits.ts';
import * as workflows from '../../src/core/workflows/workflow-limits.ts';
import { KNOWN_NAMES } from '../../src/server/run/config-file.ts';
import { ENV_NAMES } from '../../src/server/run/config-sources.ts';
import { REFUSALS } from '../../src/wire/errors.ts';
import { type Operation, toolName } from '../../src/wire/operation.ts';
import { operationList } from '../../src/wire/operations/table.ts';
import { SETTINGS } from './settings-table.ts';

const MADE = '<!-- Made by `npm run docs`. Change what it is made from, not this page. -->';
const HELP_COLUMNS = 80;

/** Every page by its path. */
export async function makeReference(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/reference/operations.md', operationsPage()],
    ['docs/reference/errors.md', errorsPage()],
    ['docs/reference/cli.md', await cliPage()],
    ['docs/reference/configuration.md', configurationPage()],
    ['docs/reference/limits.md', limitsPage()],
  ]);
}

function operationsPage(): string {
  const rows = operationList.map(
    ({ id, access, toolset, title }) =>
      `| [\`${id}\`](#${anchor(id)}) | ${title} | ${access} | ${toolset} |`,
  );
  return page(
    'Operations',
    `One table, every door. An operation is a JSON-RPC method on \`/ws\` by its id, an HTTP route, an MCP tool, and
\`synod call ID\`. \`access\` says who may ask: \`reader\` is everybody who is authenticated, \`writer\` everybody but
observers, \`person\` a human or an administrator. \`toolset\` says which MCP clients are shown it.`,
    ['| operation | what | access | toolset |', '|---|---|---|---|', ...rows].join('\n'),
    ...operationList.map(operationSection),
  );
}

function operationSection(operation: Operation): string {
  const { id, name, doc, access, toolset, isStreaming, aliases } = operation;
  const doors = isStreaming
    ? 'WebSocket only'
    : `\`POST /v1/ops/${name}\` · tool \`${[toolName(operation), ...aliases].join('`, `')}\``;
  return [
    `## ${id}`,
    prose(doc),
    `${doors} · access \`${access}\` · toolset \`${toolset}\``,
    fieldTable('input', operation.input, 'input'),
    fieldTable('output', operation.output, 'output'),
  ].join('\n\n');
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

function fieldTable(what: string, schema: z.ZodType, io: 'input' | 'output'): string {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
  }) as Schema;
  const names = Object.keys(properties);
  if (names.length === 0) return `No ${what}.`;
  const rows = names.map((name) => {
    const field = properties[name] as Schema;
    const isNeeded = required.includes(name);
    const notes = [
      field.description,
      field.default === undefined ? undefined : `default ${JSON.stringify(field.default)}`,
    ].filter((note) => note !== undefined);
    return `| \`${name}\` | ${isNeeded ? 'yes' : 'no'} | ${typeText(field)} | ${prose(notes.join('; '))} |`;
  });
  const always = io === 'input' ? 'required' : 'always';
  return [`| ${what} | ${always} | type | notes |`, '|---|---|---|---|', ...rows].join('\n');
}

function typeText(schema: Schema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((one) => `\`${String(one)}\``).join(', ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(' or ');
  const type = [schema.type ?? 'any'].flat().join(' or ');
  if (type === 'array') return `list of ${typeText(schema.items ?? {})}`;
  if (type === 'object' && schema.properties !== undefined) {
    return `{ ${Object.keys(schema.properties).join(', ')} }`;
  }
  return `${type}${boundsText(schema)}`;
}

function boundsText(schema: Schema): string {
  const low = schema.minimum ?? schema.minLength;
  const high = schema.maximum ?? schema.maxLength;
  const isOpen = high === undefined || high === Number.MAX_SAFE_INTEGER;
  const from = low === undefined || low === -Number.MAX_SAFE_INTEGER ? undefined : low;
  const unit = schema.type === 'string' ? ' characters' : '';
  if (isOpen) return from === undefined ? '' : `, at least ${from}${unit}`;
  return from === undefined ? `, at most ${high}${unit}` : `, ${from} to ${high}${unit}`;
}

function errorsPage(): string {
  const rows = Object.entries(REFUSALS).map(
    ([code, { sox, http, rpc, exit }]) =>
      `| \`${code}\` | \`${sox}\` | ${http} | ${rpc} | ${exit} |`,
  );
  return page(
    'How a refusal sounds at each door',
    'What each code means, and what to do, is in [ERRORS](../ERRORS.md).',
    ['| code | SOX `error_code` | HTTP | JSON-RPC | exit |', '|---|---|---|---|---|', ...rows].join(
      '\n',
    ),
  );
}

async function cliPage(): Promise<string> {
  const sections: string[] = [];
  for (const { heading, commands } of COMMAND_GROUPS) {
    sections.push(`## ${heading}`);
    for (const entry of commands) {
      const program = createProgram(() => '');
      program.configureHelp({ showGlobalOptions: false, helpWidth: HELP_COLUMNS });
      (await entry.load())(program);
      const command = program.commands.find((one) => one.name() === entry.name);
      if (command === undefined) throw new Error(`${entry.name} did not register itself`);
      sections.push(`### synod ${entry.name}`, ...helpTexts(command, program));
    }
  }
  return page(
    'The command line',
    'Global options count before and after a command. `--json` works everywhere; exit codes are in [errors](errors.md).',
    fence(createProgram(() => '').helpInformation()),
    ...sections,
  );
}

function helpTexts(command: Command, program: Command): string[] {
  command.configureHelp({ ...program.configureHelp() });
  const inner = command.commands.flatMap((one) => helpTexts(one, program));
  return [fence(command.helpInformation()), ...inner];
}

function configurationPage(): string {
  const rows = KNOWN_NAMES.map((name) => {
    const { flag, value, fallback, what } = SETTINGS[name] ?? UNDESCRIBED;
    const variable = ENV_NAMES[name];
    return `| \`${name}\` | ${code(flag)} | ${code(variable ?? null)} | ${value} | ${fallback} | ${what} |`;
  });
  return page(
    'Configuration',
    `Flags win over the environment, the environment over the file (\`--config FILE\`, JSON), the file over the defaults.
Names that SOX puts under \`server_config\` are taken there and at the top. A problem names the field, where it was
said and what is allowed.`,
    [
      '| setting | flag | variable | value | default | what it does |',
      '|---|---|---|---|---|---|',
      ...rows,
    ].join('\n'),
  );
}

function limitsPage(): string {
  const values: Readonly<Record<string, unknown>> = {
    ...law,
    ...work,
    ...claims,
    ...context,
    ...gates,
    ...processes,
    ...sessions,
    ...workflows,
    ...threads,
    ...turns,
  };
  const rows = Object.entries(WAYS_OUT).map(([name, wayOut]) => {
    const value = values[name];
    if (value === undefined)
      throw new Error(`${name} is in no file of limits that this page reads`);
    return `| \`${name}\` | ${value} | ${shareText(SHARES[name as SharedBound])} | ${wayOut} |`;
  });
  return page(
    'Limits',
    `Every bound of a space, and how it empties. A bound that is reached is a refusal with the code \`limit.reached\` (or a
more telling one) that ends with the sentence given here. What can be set is set with \`spaces.configure\` and
\`channels.configure\`. How to keep a hub small is in the [guide](../guide/keep-it-small.md).`,
    `Of a bound that all agents fill together each agent has a share, an untrusted one a smaller share, and a tenth of
the whole is kept for the owner.`,
    [
      '| bound | value | share of an agent / untrusted | what makes room |',
      '|---|---|---|---|',
      ...rows,
    ].join('\n'),
  );
}

function shareText(share: Share | undefined): string {
  return share === undefined ? '' : `${share.each} / ${share.untrusted}`;
}

const UNDESCRIBED = { flag: null, value: '', fallback: '', what: '**not described**' };

/** Angle brackets are no tags here. */
function prose(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('|', '\\|');
}

function code(text: string | null): string {
  return text === null ? '' : `\`${text}\``;
}

function page(title: string, ...parts: readonly string[]): string {
  return `${[`# ${title}`, MADE, ...parts].join('\n\n')}\n`;
}

function fence(text: string): string {
  return `\`\`\`text\n${text.trimEnd()}\n\`\`\``;
}

/** As GitHub makes one of a heading. */
function anchor(heading: string): string {
  return heading.toLowerCase().replaceAll('.', '');
}
