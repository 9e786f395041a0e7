/**
 * How `synod agents manage` is told the runner: a program after `--`, a flag for each common kind, or
 * JSON, from a file or by the name it has in the configuration. Exactly one of them.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fail } from './failure.ts';
import { parseObject } from './parse-value.ts';

export interface RunnerFlags {
  readonly runner?: string;
  readonly rule?: readonly string[];
  readonly claude?: boolean;
  readonly codex?: boolean;
  readonly acp?: boolean;
  readonly outside?: boolean;
  readonly cwd?: string;
  readonly signIn?: string;
}

const CHOICES = ['runner', 'rule', 'claude', 'codex', 'acp', 'outside'] as const;

export function readRunner(
  flags: RunnerFlags,
  command: readonly string[],
): string | Record<string, unknown> {
  const given = CHOICES.filter((name) => flags[name] !== undefined);
  const isCommand = command.length > 0 && given.length === 0;
  if (given.length !== 1 && !isCommand) {
    const all = CHOICES.map((name) => `--${name}`).join(', ');
    throw fail('cli.usage', `say how it is run: a program after --, or one of ${all}`);
  }
  const spec = runnerOf(given[0] ?? 'command', flags, command);
  if (typeof spec === 'string') return spec;
  const cwd = flags.cwd === undefined ? {} : { cwd: resolve(flags.cwd) };
  const signIn = flags.signIn === undefined ? {} : { sign_in: flags.signIn };
  return { ...spec, ...cwd, ...signIn };
}

function runnerOf(
  choice: (typeof CHOICES)[number] | 'command',
  flags: RunnerFlags,
  command: readonly string[],
): string | Record<string, unknown> {
  switch (choice) {
    case 'runner':
      return namedOrJson(flags.runner ?? '');
    case 'rule':
      return { kind: 'rule', rules: (flags.rule ?? []).map(readRule) };
    default:
      return { kind: choice, ...(command.length > 0 && { command }) };
  }
}

/** A name of the configuration, JSON, or a file that holds it. */
function namedOrJson(text: string): string | Record<string, unknown> {
  if (text.trimStart().startsWith('{')) return parseObject(text, '--runner');
  if (!/[./\\]/.test(text)) return text;
  let read: string;
  try {
    read = readFileSync(text, 'utf8');
  } catch (cause) {
    throw fail('cli.usage', `--runner ${text} cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
  return parseObject(read, text);
}

/** `pattern => answer` */
function readRule(text: string): { pattern: string; answer: string } {
  const at = text.indexOf('=>');
  if (at < 0) throw fail('cli.usage', `--rule ${text}: write it as "pattern => answer"`);
  return { pattern: text.slice(0, at).trim(), answer: text.slice(at + 2).trim() };
}

/** `name=value`, repeated; a value `none` lifts the limit. */
export function readLimits(
  given: readonly string[] = [],
): Record<string, number | null> | undefined {
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map((text) => {
      const [, name, value] = /^([a-z0-9_]+)=(none|-?\d+(?:\.\d+)?)$/.exec(text) ?? [];
      if (name === undefined || value === undefined) {
        throw fail('cli.usage', `--limit ${text}: write it as name=number, or name=none`);
      }
      return [name, value === 'none' ? null : Number(value)];
    }),
  );
}
